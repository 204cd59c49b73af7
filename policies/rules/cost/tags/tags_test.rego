package gpuyard.rules.cost.tags_test

import data.gpuyard.rules.cost.tags

denied(by_type) := found if {
	found := {finding.path | some finding in tags.deny} with input as {
		"limits": {"tags": ["owner", "cost-center"]},
		"by_type": by_type,
	}
}

# What a message says before what it always says.
messages(by_type) := found if {
	found := {trim_suffix(finding.message, ", so nobody knows whom to charge") | some finding in tags.deny} with input as {
		"limits": {"tags": ["owner", "cost-center"]},
		"by_type": by_type,
	}
}

resource(inputs) := {"urn": "u", "inputs": inputs, "unknown": [], "default_tags": {}, "references": {}}

both := {"owner": "ml", "cost-center": "4711"}

test_what_carries_both_tags_is_allowed if {
	denied({"aws:eks/nodeGroup:NodeGroup": [resource({"tags": both})]}) == set()
	denied({"gcp:storage/bucket:Bucket": [resource({"labels": both})]}) == set()
	denied({"gcp:container/cluster:Cluster": [resource({"resourceLabels": both})]}) == set()
	denied({"gcp:container/nodePool:NodePool": [resource({"nodeConfig": {"resourceLabels": both}})]}) == set()
}

test_a_missing_tag_is_denied if {
	messages({"aws:eks/cluster:Cluster": [resource({"tags": {"owner": "ml"}})]}) == {"the tag cost-center is missing"}
	denied({"aws:eks/cluster:Cluster": [resource({"tags": {"owner": "ml"}})]}) == {"/tags"}
}

test_all_that_a_resource_lacks_is_one_finding if {
	denied({"gcp:container/nodePool:NodePool": [resource({})]}) == {"/nodeConfig/resourceLabels"}
	messages({"gcp:container/nodePool:NodePool": [resource({})]}) == {"the labels owner and cost-center are missing"}
}

test_an_empty_tag_is_missing if {
	messages({"aws:eks/cluster:Cluster": [resource({"tags": {"owner": "", "cost-center": "4711", "Name": "a"}})]}) == {"the tag owner is missing"}
}

test_a_tag_of_another_spelling_is_denied_and_named if {
	given := object.union(resource({"tags": {"Owner": "ml"}}), {"default_tags": {"cost_center": "1", "costcenter": "2"}})
	messages({"aws:s3/bucket:Bucket": [given]}) == {"the tags owner and cost-center are missing (given: Owner, cost_center, costcenter)"}
}

test_a_tag_whose_value_is_not_known_yet_is_allowed if {
	given := object.union(resource({"tags": {"owner": "ml"}}), {"unknown": ["/tags/cost-center", "/tags/Name"]})
	denied({"aws:s3/bucket:Bucket": [given]}) == set()
}

test_a_finding_rests_on_what_is_missing if {
	found := [finding.rests_on | some finding in tags.deny] with input as {
		"limits": {"tags": ["a/b", "owner"]},
		"by_type": {"aws:s3/bucket:Bucket": [resource({"tags": {"owner": "ml"}})]},
	}
	found == [["/defaultTags", "/tags/a~1b"]]
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
	count(denied({"gcp:container/cluster:Cluster": [cluster], "gcp:container/nodePool:NodePool": [stray]})) == 1
}

test_what_costs_nothing_needs_no_tags if denied({"aws:iam/role:Role": [resource({})]}) == set()
