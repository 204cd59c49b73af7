package gpuyard.rules.supply_chain.floors_age_test

import data.gpuyard.rules.supply_chain.floors_age

messages(age) := found if {
	limits := {"thresholds": {"supply_chain/floors_age": {"max_age_days": 90}}}
	floors := {"checked": "2026-11-30", "age_days": age}
	stack := {"urn": "s", "environment": "production", "limits": limits, "floors": floors}
	found := {finding.message | some finding in floors_age.deny} with input as stack
}

test_a_table_of_this_quarter_is_allowed if {
	messages(0) == set()
	messages(90) == set()
}

test_a_table_of_the_future_is_allowed if messages(-3) == set()

test_an_old_table_is_a_finding if {
	messages(91) == {"the table of known holes was checked on 2026-11-30, 91 days before the review: production allows 90"}
}

test_a_table_of_unknown_age_is_not_judged if {
	stack := {"urn": "s", "limits": {"thresholds": {"supply_chain/floors_age": {"max_age_days": 90}}}, "floors": {"checked": "2026-11-30"}}
	count(floors_age.deny) == 0 with input as stack
}
