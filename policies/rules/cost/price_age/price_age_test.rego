package gpuyard.rules.cost.price_age_test

import data.gpuyard.rules.cost.price_age

found(lines) := messages if {
	messages := {finding.message: finding.level | some finding in price_age.deny} with input as {
		"urn": "stack",
		"environment": "production",
		"limits": {"price_age": {"warn_days": 180, "deny_days": 365}},
		"cost": {"lines": lines},
	}
}

line := {"urn": "u", "group": "h100", "date": "2026-07-20", "age_days": 180}

test_a_price_of_these_days_is_allowed if found([line]) == {}

test_a_price_without_a_day_is_allowed if found([object.remove(line, ["age_days"])]) == {}

test_an_old_price_warns_and_an_older_one_is_denied if {
	found([object.union(line, {"age_days": 181})]) == {
		"the price that group h100 is counted with is of 2026-07-20, 181 days before the review: production allows 180": "advisory",
	}
	found([object.union(line, {"age_days": 366})]) == {
		"the price that group h100 is counted with is of 2026-07-20, 366 days before the review: production allows 365": "mandatory",
	}
}
