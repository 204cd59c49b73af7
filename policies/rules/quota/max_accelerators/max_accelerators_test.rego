package gpuyard.rules.quota.max_accelerators_test

import data.gpuyard.rules.quota.max_accelerators

limits := {"accelerators": {"max": 64, "models": {"h100-*": 32}}}

stack(capacity) := {"urn": "stack", "environment": "production", "limits": limits, "capacity": capacity}

paths(capacity) := found if {
	found := {finding.path | some finding in max_accelerators.deny} with input as stack(capacity)
}

test_a_stack_at_its_limits_is_allowed if paths({"total": 64, "accelerators": {"H100-80": 32, "L40S": 32}}) == set()

test_a_stack_without_accelerators_is_allowed if paths({"total": 0, "accelerators": {}}) == set()

test_one_accelerator_too_many_is_denied if {
	paths({"total": 65, "accelerators": {"L4": 65}}) == {"/capacity/total"}
}

test_too_many_of_one_model_is_denied if {
	paths({"total": 40, "accelerators": {"H100-80": 40}}) == {"/capacity/accelerators/H100-80"}
}

group(name, model, most) := {"urn": name, "name": name, "accelerator": model, "accelerators": {"max": most}}

test_the_message_says_value_limit_environment_and_the_groups_that_add_up if {
	groups := [group("small", "L4", 12), group("idle", "L4", 0), group("big", "H100-80", 53)]
	some finding in max_accelerators.deny with input as stack({"total": 65, "accelerators": {"L4": 12}, "groups": groups})
	finding.message == "the node groups may grow to 65 accelerators (small 12, big 53), and production allows 64 a stack"
}

test_the_message_on_a_model_names_its_groups_only if {
	groups := [group("small", "L4", 12), group("a", "H100-80", 16), group("b", "H100-80", 24)]
	capacity := {"total": 52, "accelerators": {"H100-80": 40}, "groups": groups}
	some finding in max_accelerators.deny with input as stack(capacity)
	finding.message == "the node groups may grow to 40 of H100-80 (a 16, b 24), and production allows 32 a stack"
}

test_a_total_that_is_no_number_does_not_count if paths({"total": "65", "accelerators": []}) == set()

uncounted(more) := {"total": 0, "accelerators": {}, "groups": [object.union(
	{"urn": "g", "name": "gpus", "machine_path": "/instanceTypes", "nodes": {"max": 2}, "accelerators": {}},
	more,
)]}

test_a_machine_that_the_catalogue_lacks_is_denied if {
	some finding in max_accelerators.deny with input as stack(uncounted({"machine": "p9.48xlarge"}))
	[finding.urn, finding.path] == ["g", "/instanceTypes"]
	finding.message == "machine p9.48xlarge is not in the catalogue, so the accelerators of group gpus cannot be counted"
}

test_a_machine_that_the_catalogue_lacks_is_denied_though_its_number_is_not_known if {
	paths(uncounted({"machine": "p9.48xlarge", "nodes": {}})) == {"/instanceTypes"}
}

test_a_group_that_has_no_nodes_is_allowed_whatever_its_machine if {
	paths(uncounted({"machine": "p9.48xlarge", "nodes": {"max": 0}})) == set()
}

test_a_machine_without_accelerators_is_allowed if {
	paths(uncounted({"machine": "m9.large", "accelerators_a_node": 0, "accelerators": {"max": 0}})) == set()
	paths(uncounted({"machine": "m9.large", "accelerators_a_node": 0, "nodes": {}})) == set()
}

test_shared_nodes_are_counted_by_what_is_taken_of_them if {
	paths(uncounted({"machine": "p9.48xlarge", "nodes": {}, "accelerators": {"max": 2}})) == set()
}

# Where it is only not known yet, the evaluator makes of it what could not be decided.
test_a_machine_that_is_not_known_is_denied if {
	some finding in max_accelerators.deny with input as stack(uncounted({}))
	finding.path == "/instanceTypes"
	finding.message == "the machine of group gpus is not known, so its accelerators cannot be counted"
	finding.rests_on == ["/instanceTypes"]
}

test_a_group_without_nodes_is_allowed_though_its_machine_is_not_known if {
	paths(uncounted({"nodes": {"max": 0}})) == set()
}

test_a_group_of_accelerators_without_a_known_size_is_denied if {
	group := {"machine": "p5.48xlarge", "accelerators_a_node": 8, "nodes": {}}
	some finding in max_accelerators.deny with input as stack(uncounted(group))
	finding.path == ""
	finding.message == "the number of nodes of group gpus is not known, so its accelerators cannot be counted"
	"/scalingConfig" in finding.rests_on
}
