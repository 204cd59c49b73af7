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

test_an_unknown_price_is_a_finding_of_the_level_that_the_limits_say if {
	cost := {"lines": [{"urn": "a", "machine": "m", "market": "spot"}, {"urn": "b"}], "unknown": ["a"]}
	denied(cost) == {["a", ""]}
	{finding.level | some finding in budget.deny} == {"advisory"} with input as stack(cost)
}
