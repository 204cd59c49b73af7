package gpuyard.rules.cost.increase_test

import data.gpuyard.rules.cost.increase

stack(base, head) := {
	"urn": "stack",
	"environment": "production",
	"limits": {"thresholds": {"cost/increase": {"percent": 50, "month_usd": 1000}}},
	"comparison": {"cost": {"min": {"base": 0, "head": 90000}, "max": {"base": base, "head": head}}},
}

denied(base, head) := found if {
	found := {finding.path | some finding in increase.deny} with input as stack(base, head)
}

test_a_rise_by_more_than_both_thresholds_is_denied if {
	denied(10000, 15001) == {"/cost/total/max"}
	denied(0, 1001) == {"/cost/total/max"}
}

test_what_rises_by_less_than_either_or_falls_is_allowed if {
	denied(10000, 15000) == set()
	denied(1000, 2000) == set()
	denied(90000, 10) == set()
}

test_a_review_without_a_base_is_not_judged if {
	increase.deny == set() with input as {"urn": "stack", "comparison": {}}
	increase.deny == set() with input as {"urn": "stack"}
}

test_a_cost_that_is_no_number_is_not_judged if {
	denied("1", 9000000) == set()
	denied(1, "9000000") == set()
}

test_the_message_says_both_costs if {
	some finding in increase.deny with input as stack(10000, 20000)
	contains(finding.message, "20,000 USD at the most, 10,000 USD more than the 10,000 USD of the base")
}
