package gpuyard.rules.cost.price_age_test

import data.gpuyard.rules.cost.price_age

found(lines) := in_cost({"lines": lines})

in_cost(cost) := messages if {
	messages := {finding.message: finding.level | some finding in price_age.deny} with input as {
		"urn": "stack",
		"environment": "production",
		"date": "2026-11-30",
		"limits": {"price_age": {"warn_days": 180, "deny_days": 365}},
		"cost": cost,
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

test_a_price_of_ones_own_that_is_dated_after_the_review_is_a_finding if {
	later := object.union(line, {"date": "2062-07-20", "age_days": -13016})
	in_cost({"lines": [later], "prices": {"file": "prices.csv"}}) == {
		"the price that group h100 is counted with is of 2062-07-20, which is after the review of 2026-11-30": "advisory",
	}
	in_cost({"lines": [later]}) == {}
}

test_prices_beside_those_of_machines_warn_and_never_deny if {
	in_cost({"charges_as_of": {"date": "2025-01-01", "age_days": 698}}) == {
		"prices beside those of machines are of 2025-01-01 at the oldest, 698 days before the review: production allows 180": "advisory",
	}
	in_cost({"charges_as_of": {"date": "2026-11-30", "age_days": 0}}) == {}
	in_cost({"charges_as_of": {"date": "2026-11-30"}}) == {}
}
