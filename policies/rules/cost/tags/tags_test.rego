package gpuyard.rules.cost.tags_test

import data.gpuyard.rules.cost.tags

denied(by_type) := found if {
	found := {finding.path | some finding in tags.deny} with input as {
		"limits": {"tags": ["owner", "cost-center"]},
		"by_type": by_type,
	}
}

resource(inputs) := {"urn": "u", "inputs": inputs, "default_tags": {}, "references": {}}

both := {"owner": "ml", "cost-center": "4711"}

test_what_carries_both_tags_is_allowed if {
	denied({"aws:eks/nodeGroup:NodeGroup": [resource({"tags": both})]}) == set()
	denied({"gcp:storage/bucket:Bucket": [resource({"labels": both})]}) == set()
	denied({"gcp:container/cluster:Cluster": [resource({"resourceLabels": both})]}) == set()
	denied({"gcp:container/nodePool:NodePool": [resource({"nodeConfig": {"resourceLabels": both}})]}) == set()
}

test_each_missing_tag_is_denied if {
	denied({"aws:eks/cluster:Cluster": [resource({"tags": {"owner": "ml"}})]}) == {"/tags/cost-center"}
	denied({"aws:s3/bucket:Bucket": [resource({})]}) == {"/tags/owner", "/tags/cost-center"}
}

test_an_empty_tag_is_missing if {
	denied({"aws:eks/cluster:Cluster": [resource({"tags": {"owner": "", "cost-center": "4711"}})]}) == {"/tags/owner"}
}

test_tags_of_the_provider_count if {
	tagged := object.union(resource({"tags": {"owner": "ml"}}), {"default_tags": {"cost-center": "4711"}})
	denied({"aws:ec2/instance:Instance": [tagged]}) == set()
}

test_labels_of_a_cluster_count_for_its_node_pools if {
	cluster := object.union(resource({"resourceLabels": both}), {"urn": "c"})
	pool := object.union(resource({}), {"references": {"/cluster": "c"}})
	stray := object.union(resource({}), {"references": {"/cluster": "other"}})
	denied({"gcp:container/cluster:Cluster": [cluster], "gcp:container/nodePool:NodePool": [pool]}) == set()
	count(denied({"gcp:container/cluster:Cluster": [cluster], "gcp:container/nodePool:NodePool": [stray]})) == 2
}

test_what_costs_nothing_needs_no_tags if denied({"aws:iam/role:Role": [resource({})]}) == set()
