package gpuyard.lib.money_test

import data.gpuyard.lib.money

test_amounts_are_whole_dollars_in_thousands if {
	money.usd(0) == "0 USD"
	money.usd(999.4) == "999 USD"
	money.usd(999.5) == "1,000 USD"
	money.usd(35320.32) == "35,320 USD"
	money.usd(1000007) == "1,000,007 USD"
}
