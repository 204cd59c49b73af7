package gpuyard.rules.quota.queues_test

import data.gpuyard.rules.quota.queues

queue(name, nominal) := {
	"urn": name,
	"provider": "k8s",
	"name": name,
	"resources": {"nvidia.com/gpu": {"nominal": nominal}},
	"unlimited": [],
}

group(most) := {"name": "l4", "resource": "nvidia.com/gpu", "nodes": {"max": most}, "accelerators": {"max": most}}

stack(cluster_queues, groups) := {"urn": "stack", "cluster_queues": cluster_queues, "capacity": {"groups": groups}}

messages(given) := found if {
	found := {finding.message | some finding in queues.deny} with input as given
}

test_queues_that_promise_what_the_nodes_have_are_allowed if {
	messages(stack([queue("a", 8), queue("b", 8)], [group(8), group(8)])) == set()
}

test_queues_of_a_cluster_whose_nodes_are_elsewhere_are_not_judged if {
	messages(stack([queue("a", 800)], [])) == set()
	messages(stack([queue("a", 800)], [object.union(group(8), {"resource": "amd.com/gpu"})])) == set()
}

test_queues_beside_a_group_that_nobody_can_count_are_not_judged if {
	messages(stack([queue("a", 800)], [group(8), {"name": "x", "nodes": {}, "accelerators": {}}])) == set()
	messages(stack([queue("a", 800)], [object.union(group(8), {"ways": [{}, {}]})])) == set()
}

test_queues_that_promise_more_than_the_nodes_have_are_denied if {
	messages(stack([queue("a", 8), queue("b", 9)], [group(8), group(8)])) == {
		"queues promise 17 nvidia.com/gpu (a 8, b 9), and the node groups may grow to 16",
	}
}

test_queues_of_slices_are_compared_with_slices if {
	slices := {"whole": {"resource": "nvidia.com/mig-1g.10gb", "a_node": 56}}
	cut := object.union(group(8), {"nodes": {"max": 1}, "parts": slices})
	given := {"urn": "a", "provider": "k8s", "name": "a", "unlimited": [], "resources": {"nvidia.com/mig-1g.10gb": {"nominal": 57}}}
	messages(stack([given], [cut])) == {
		"queues promise 57 nvidia.com/mig-1g.10gb (a 57), and the node groups may grow to 56",
	}
}

test_borrowing_without_a_limit_is_a_finding if {
	unlimited := [{"resource": "nvidia.com/gpu", "path": "/spec/resourceGroups/0/flavors/0/resources/0"}]
	given := object.union(queue("a", 8), {"cohort": "all", "unlimited": unlimited})
	some finding in queues.deny with input as stack([given], [])
	finding.path == "/spec/resourceGroups/0/flavors/0/resources/0"
	finding.message == "ClusterQueue a may borrow all nvidia.com/gpu that cohort all leaves idle: give it a borrowingLimit"
}
