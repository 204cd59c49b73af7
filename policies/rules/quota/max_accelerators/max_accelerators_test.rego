package gpuyard.rules.quota.max_accelerators_test

import data.gpuyard.rules.quota.max_accelerators

limits := {"accelerators": {"max": 64, "models": {"h100-*": 32}}}

stack(capacity) := {"urn": "stack", "environment": "production", "limits": limits, "capacity": capacity}

paths(capacity) := found if {
	found := {finding.path | some finding in max_accelerators.deny} with input as stack(capacity)
}

test_a_stack_at_its_limits_is_allowed if paths({"total": 64, "accelerators": {"h100-80": 32, "l40s": 32}}) == set()

test_a_stack_without_accelerators_is_allowed if paths({"total": 0, "accelerators": {}}) == set()

test_one_accelerator_too_many_is_denied if {
	paths({"total": 65, "accelerators": {"l4": 65}}) == {"/capacity/total"}
}

test_too_many_of_one_model_is_denied if {
	paths({"total": 40, "accelerators": {"h100-80": 40}}) == {"/capacity/accelerators/h100-80"}
}

test_the_message_says_value_limit_and_environment if {
	some finding in max_accelerators.deny with input as stack({"total": 65, "accelerators": {}})
	finding.message == "the node groups may grow to 65 accelerators, and production allows 64 a stack"
}

test_a_total_that_is_no_number_does_not_count if paths({"total": "65", "accelerators": []}) == set()
