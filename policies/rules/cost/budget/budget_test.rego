package gpuyard.rules.cost.budget_test

import data.gpuyard.rules.cost.budget

stack(cost) := {
	"urn": "stack",
	"environment": "production",
	"limits": {"budget": {"month_usd": 1000, "unknown_price": "advisory"}},
	"cost": cost,
}

denied(cost) := found if {
	found := {[finding.urn, finding.path] | some finding in budget.deny} with input as stack(cost)
}

test_a_stack_at_its_budget_is_allowed if denied({"total": {"max": 1000}, "lines": [], "unknown": []}) == set()

test_what_the_scalers_may_reach_is_what_counts if {
	denied({"total": {"min": 0, "initial": 10, "max": 1000.5}}) == {["stack", "/cost/total/max"]}
}

test_a_tenant_within_its_budget_is_allowed if {
	denied({"tenants": {"fraud": {"quota": 400, "worst": 500, "budget": 500}}}) == set()
}

test_a_tenant_without_a_budget_or_a_price_is_allowed if {
	denied({"tenants": {"fraud": {"worst": 500}, "other": {"budget": 1}}}) == set()
}

test_what_a_tenant_may_borrow_counts if {
	denied({"tenants": {"fraud": {"quota": 400, "worst": 501, "budget": 500}}}) == {["stack", "/cost/tenants/fraud/worst"]}
}

test_a_group_whose_cost_is_known_is_allowed if {
	denied({"lines": [{"urn": "a", "group": "l4", "month": {"min": 0, "initial": 0, "max": 0}}]}) == set()
}

test_a_cost_that_is_not_known_is_a_finding_of_the_level_that_the_limits_say if {
	cost := {"lines": [
		{"urn": "a", "group": "l4", "unknown": "its region is not known"},
		{"urn": "b", "group": "h100", "month": {"max": 1}},
	]}
	denied(cost) == {["a", ""]}
	some finding in budget.deny with input as stack(cost)
	finding.level == "advisory"
	finding.message == "what group l4 may cost cannot be judged: its region is not known"
}

test_messages_write_whole_dollars if {
	some finding in budget.deny with input as stack({"total": {"max": 35320.32}})
	finding.message == "the stack may cost 35,320 USD a month, and its budget in production is 1,000 USD"
}
