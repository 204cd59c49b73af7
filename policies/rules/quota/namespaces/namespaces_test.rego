package gpuyard.rules.quota.namespaces_test

import data.gpuyard.rules.quota.namespaces

namespace(more) := object.union(
	{
		"urn": "fraud",
		"path": "",
		"name": "fraud",
		"limit_range": true,
		"allowed": {},
		"asked": [],
		"quotas": [],
		"queues": [],
		"unclear": [],
	},
	more,
)

stack(more) := {
	"limits": {"namespaces": {"system": ["kube-*", "gpu-operator"]}},
	"capacity": {"groups": []},
	"objects": {},
	"namespaces": [namespace(more)],
}

paths(given) := found if {
	found := {[finding.path, object.get(finding, "level", "mandatory")] |
		some finding in namespaces.deny with input as given
	}
}

l4 := {"groups": [{"resource": "nvidia.com/gpu", "accelerators": {"max": 4}}]}

test_a_namespace_with_a_quota_is_allowed if {
	paths(stack({"asked": ["nvidia.com/gpu"], "allowed": {"nvidia.com/gpu": 8}})) == set()
}

test_a_namespace_of_a_cluster_of_which_nothing_is_known_is_not_judged if {
	paths(stack({"limit_range": false})) == set()
}

test_a_namespace_that_somebody_else_makes_is_not_judged if {
	given := stack({"asked": ["nvidia.com/gpu"]})
	elsewhere := object.union(given, {"namespaces": [object.remove(given.namespaces[0], ["urn"])]})
	paths(elsewhere) == set()
}

test_a_namespace_of_an_operator_is_allowed if {
	paths(stack({"name": "gpu-operator", "asked": ["nvidia.com/gpu"]})) == set()
}

test_a_namespace_that_another_controller_limits_is_allowed if {
	given := stack({"asked": ["nvidia.com/gpu"], "limit_range": false})
	paths(object.union(given, {"objects": {"Tenant.capsule.clastix.io": [{}]}})) == set()
	generates := {"urn": "policy", "body": {"spec": {"rules": [{"generate": {"kind": "ResourceQuota"}}]}}}
	paths(object.union(given, {"objects": {"ClusterPolicy.kyverno.io": [generates]}})) == set()
}

test_a_namespace_without_a_quota_is_denied if {
	given := stack({"asked": ["nvidia.com/gpu"]})
	paths(given) == {["/metadata/name", "mandatory"]}
	some finding in namespaces.deny with input as given
	finding.message == concat("", [
		"pods of namespace fraud may take any number of nvidia.com/gpu: ",
		"add a ResourceQuota with requests.nvidia.com/gpu",
	])
}

test_a_namespace_without_workloads_is_denied_where_nodes_have_accelerators if {
	paths(object.union(stack({}), {"capacity": l4})) == {["/metadata/name", "mandatory"]}
}

test_a_quota_of_another_accelerator_is_denied if {
	given := stack({"asked": ["nvidia.com/gpu"], "allowed": {"amd.com/gpu": 8}})
	paths(given) == {["/metadata/name", "mandatory"]}
}

test_slices_are_wanted_and_not_the_whole_accelerators_that_are_cut if {
	cut := {"groups": [{"resource": "nvidia.com/gpu", "parts": {"a": {"resource": "nvidia.com/mig-1g.10gb"}}}]}
	given := object.union(stack({"allowed": {"nvidia.com/mig-1g.10gb": 1}}), {"capacity": cut})
	paths(given) == set()
	count(paths(object.union(stack({}), {"capacity": cut}))) == 1
}

test_a_quota_that_is_not_known_is_a_finding_that_rests_on_it if {
	place := {"urn": "quota", "path": "/spec/hard", "name": "gpus"}
	some finding in namespaces.deny with input as stack({"asked": ["nvidia.com/gpu"], "unclear": [place]})
	[finding.urn, finding.rests_on] == ["quota", ["/spec/hard"]]
}

test_a_namespace_without_a_limit_range_is_a_finding if {
	given := stack({"asked": ["nvidia.com/gpu"], "allowed": {"nvidia.com/gpu": 8}, "limit_range": false})
	paths(given) == {["/metadata", "advisory"]}
}

test_a_name_that_pulumi_chooses_is_denied if {
	some finding in namespaces.deny with input as stack({"name": "", "asked": ["nvidia.com/gpu"]})
	startswith(finding.message, "pods of namespace with a name that Pulumi chooses may take")
	finding.rests_on == ["/metadata/name"]
}
