package gpuyard.rules.accelerators.taints_test

import data.gpuyard.rules.accelerators.taints

gpus := {"urn": "gpus", "name": "gpus", "accelerators_a_node": 8}

cpus := {"urn": "cpus", "name": "cpus", "accelerators_a_node": 0}

group(inputs) := {"urn": "gpus", "inputs": inputs, "references": {"/launchTemplate/id": "template"}}

nodes(inputs, template) := {
	"capacity": {"groups": [gpus, cpus]},
	"by_type": {
		"aws:eks/nodeGroup:NodeGroup": [group(inputs)],
		"aws:ec2/launchTemplate:LaunchTemplate": [object.union({"urn": "template", "inputs": {}, "unknown": []}, template)],
	},
	"objects": {},
	"pods": [],
}

paths(given) := found if {
	found := {finding.path | some finding in taints.deny} with input as given
}

taint := {"taints": [{"key": "nvidia.com/gpu", "effect": "NO_SCHEDULE"}]}

test_nodes_with_a_taint_are_allowed if paths(nodes(taint, {})) == set()

test_nodes_that_are_the_only_ones_are_allowed if {
	paths(object.union(nodes({}, {}), {"capacity": {"groups": [gpus]}})) == set()
}

test_nodes_whose_user_data_may_taint_them_are_allowed if {
	paths(nodes({}, {"inputs": {"userData": "TUlNRS1WZXJzaW9u"}})) == set()
	paths(nodes({}, {"unknown": ["/userData"]})) == set()
	elsewhere := {"aws:ec2/launchTemplate:LaunchTemplate": []}
	given := nodes({"launchTemplate": {"id": "lt-0123456789abcdef0"}}, {})
	paths(object.union(given, {"by_type": elsewhere})) == set()
}

test_nodes_without_a_taint_are_a_finding if {
	paths(nodes({}, {})) == {"/taints"}
	paths(nodes({"taints": [{"key": "nvidia.com/gpu", "effect": "PREFER_NO_SCHEDULE"}]}, {})) == {"/taints"}
}

pool(spec) := {
	"capacity": {"groups": [gpus]},
	"by_type": {},
	"objects": {"NodePool.karpenter.sh": [{
		"urn": "gpus",
		"path": "",
		"name": "gpus",
		"body": {"spec": {"template": {"spec": spec}}},
	}]},
	"pods": [],
}

test_a_node_pool_with_a_taint_is_allowed if {
	paths(pool({"taints": [{"key": "nvidia.com/gpu", "effect": "NoSchedule"}]})) == set()
}

test_a_node_pool_without_a_taint_is_a_finding if paths(pool({})) == {"/spec/template/spec/taints"}

pod(more, tolerations) := {
	"limits": {"namespaces": {"system": ["kube-*"]}},
	"capacity": {"groups": []},
	"by_type": {},
	"objects": {},
	"pods": [object.union(
		{
			"urn": "web",
			"path": "/spec",
			"kind": "Deployment",
			"name": "web",
			"namespace": "fraud",
			"whole": true,
			"accelerated": false,
			"containers": [],
			"spec": {"tolerations": tolerations},
		},
		more,
	)],
}

everything := [{"operator": "Exists"}]

test_a_pod_with_one_toleration_is_allowed if {
	paths(pod({}, [{"key": "dedicated", "operator": "Equal", "value": "web"}])) == set()
}

test_agents_and_operators_may_tolerate_everything_and_are_allowed if {
	paths(pod({"kind": "DaemonSet"}, everything)) == set()
	paths(pod({"namespace": "kube-system"}, everything)) == set()
}

test_a_pod_that_takes_a_device_is_allowed if {
	paths(pod({"containers": [{"container": {"resources": {"limits": {"example.com/npu": 1}}}}]}, everything)) == set()
	paths(pod({"accelerated": true}, everything)) == set()
}

test_a_pod_that_tolerates_every_taint_is_a_finding if paths(pod({}, everything)) == {"/spec/tolerations/0"}

test_a_pod_that_tolerates_the_taint_of_gpus_is_a_finding if {
	paths(pod({}, [{"key": "nvidia.com/gpu", "operator": "Exists"}])) == {"/spec/tolerations/0"}
}
