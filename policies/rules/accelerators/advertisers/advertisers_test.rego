package gpuyard.rules.accelerators.advertisers_test

import data.gpuyard.rules.accelerators.advertisers

denied(releases, pods, by_type) := found if {
	found := {[finding.urn, finding.path] | some finding in advertisers.deny} with input as {
		"releases": releases,
		"pods": pods,
		"by_type": by_type,
	}
}

release(chart, values) := {"urn": chart, "provider": "k", "chart": chart, "repository": "", "values": values}

operator := release("gpu-operator", {"driver": {"enabled": false}})

plugin := release("nvidia-device-plugin", {})

driver := release("dra-driver-nvidia-gpu", {"gpuResourcesEnabledOverride": true})

daemon_set := {
	"urn": "ds",
	"provider": "k",
	"kind": "DaemonSet",
	"name": "nvidia-device-plugin-daemonset",
	"spec": {"tolerations": [{"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"}]},
	"containers": [{
		"path": "/spec/template/spec/containers/0",
		"role": "containers",
		"container": {"image": "nvcr.io/nvidia/k8s-device-plugin:v0.20.0"},
		"image": {"repository": "nvcr.io/nvidia/k8s-device-plugin"},
	}],
}

eks(image, labels) := {"aws:eks/nodeGroup:NodeGroup": [{
	"urn": "group",
	"name": "gpus",
	"inputs": {"amiType": image, "labels": labels},
}]}

gke(labels) := {"gcp:container/nodePool:NodePool": [{
	"urn": "pool",
	"name": "gpus",
	"inputs": {"nodeConfig": {"guestAccelerators": [{"type": "nvidia-l4", "count": 1}], "labels": labels}},
}]}

auto_mode := {"aws:eks/cluster:Cluster": [{"urn": "c", "name": "c", "inputs": {"computeConfig": {"enabled": true}}}]}

by_operator := {["gpu-operator", "/values/devicePlugin/enabled"]}

by_daemon_set := {["ds", "/spec/template/spec/containers/0/image"]}

test_one_agent_is_allowed if {
	denied([operator], [], eks("AL2023_x86_64_NVIDIA", {})) == set()
	denied([plugin], [], eks("AL2023_x86_64_NVIDIA", {})) == set()
	denied([driver], [], {}) == set()
	denied([], [daemon_set], {}) == set()
}

test_two_agents_are_denied if {
	denied([operator, plugin], [], {}) == by_operator
	denied([operator, plugin], [], eks("AL2023_x86_64_NVIDIA", {})) == by_operator
	denied([operator], [daemon_set], {}) == by_daemon_set
	denied([driver, plugin], [], {}) == {["dra-driver-nvidia-gpu", "/values/gpuResourcesEnabledOverride"]}
}

test_an_operator_without_its_plugin_is_no_advertiser if {
	denied([release("gpu-operator", {"devicePlugin": {"enabled": false}}), plugin], [], {}) == set()
}

test_a_driver_for_compute_domains_alone_is_none if {
	off := {"gpuResourcesEnabledOverride": true, "resources": {"gpus": {"enabled": false}}}
	denied([operator, release("dra-driver-nvidia-gpu", off)], [], {}) == set()
	denied([operator, release("dra-driver-nvidia-gpu", {})], [], {}) == set()
}

test_agents_of_different_nodes_are_allowed if {
	here := release("nvidia-device-plugin", {"nodeSelector": {"pool": "a"}})
	there := object.union(daemon_set, {"spec": object.union(daemon_set.spec, {"nodeSelector": {"pool": "b"}})})
	denied([here], [there], {}) == set()
}

test_agents_of_the_same_nodes_are_denied if {
	here := release("nvidia-device-plugin", {"nodeSelector": {"pool": "a"}})
	too := object.union(daemon_set, {"spec": object.union(daemon_set.spec, {"nodeSelector": {"pool": "a"}})})
	denied([here], [too], {}) == by_daemon_set
}

test_a_plugin_for_nodes_that_the_operator_keeps_off_is_allowed if {
	labels := {"pool": "a", "nvidia.com/gpu.deploy.operands": "false"}
	chosen := release("nvidia-device-plugin", {"nodeSelector": {"pool": "a"}})
	denied([operator, chosen], [], eks("AL2023_x86_64_NVIDIA", labels)) == set()
	denied([operator, chosen], [], eks("AL2023_x86_64_NVIDIA", {"pool": "a"})) == by_operator
}

test_agents_of_two_clusters_are_allowed if {
	denied([operator, object.union(plugin, {"provider": "other"})], [], {}) == set()
}

test_bottlerocket_has_a_plugin_of_its_own if {
	denied([operator], [], eks("BOTTLEROCKET_x86_64_NVIDIA", {})) == by_operator
	denied([], [daemon_set], eks("BOTTLEROCKET_x86_64_NVIDIA", {})) == by_daemon_set
}

test_bottlerocket_that_the_operator_keeps_off_is_allowed if {
	denied([operator], [], eks("BOTTLEROCKET_x86_64_NVIDIA", {"nvidia.com/gpu.deploy.operands": "false"})) == set()
}

test_a_chart_that_goes_by_labels_finds_no_node_without_any if {
	denied([plugin], [], eks("BOTTLEROCKET_x86_64_NVIDIA", {})) == set()
	discovering := release("nvidia-device-plugin", {"gfd": {"enabled": true}})
	denied([discovering], [], eks("BOTTLEROCKET_x86_64_NVIDIA", {})) == {["nvidia-device-plugin", "/chart"]}
}

test_gke_has_a_plugin_of_its_own_unless_the_pool_says_not if {
	denied([operator], [], gke({})) == by_operator
	denied([operator], [], gke({"gke-no-default-nvidia-gpu-device-plugin": "true"})) == set()
	denied([], [daemon_set], gke({})) == by_daemon_set
}

test_auto_mode_has_a_plugin_of_its_own if {
	denied([operator], [], auto_mode) == by_operator
	denied([operator], [], object.union(auto_mode, eks("AL2023_x86_64_NVIDIA", {}))) == set()
}

test_other_containers_of_the_image_are_no_plugin if {
	discovery := object.union(daemon_set.containers[0], {"container": {"command": ["/usr/bin/gpu-feature-discovery"]}})
	denied([operator], [object.union(daemon_set, {"containers": [discovery]})], {}) == set()
}

test_a_daemon_set_that_tolerates_no_taint_of_gpus_is_not_there if {
	denied([operator], [object.union(daemon_set, {"spec": {"tolerations": []}})], {}) == set()
}
