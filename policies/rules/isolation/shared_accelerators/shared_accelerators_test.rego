package gpuyard.rules.isolation.shared_accelerators_test

import data.gpuyard.rules.isolation.shared_accelerators

found(given) := findings if {
	limits := {"namespaces": {"system": ["kube-*"], "privileged": []}}
	findings := {[finding.path, object.get(finding, "level", "mandatory")] |
		some finding in shared_accelerators.deny with input as object.union({"limits": limits, "by_type": {}}, given)
	}
}

namespace(name) := {"urn": name, "path": "", "name": name, "patch": false, "body": {}}

two := {"Namespace": [namespace("fraud"), namespace("vision")]}

one := {"Namespace": [namespace("fraud"), namespace("kube-system")]}

ours(kind, tenants) := {"by_type": {
	"gpuyard:index:EksNodeGroup": [{"urn": "g", "name": "l4", "inputs": {"partition": {"kind": kind}}}],
	"gpuyard:index:Tenant": [{"urn": name, "name": name, "inputs": {"accelerators": shares}} | some name, shares in tenants],
}}

test_a_group_of_one_tenant_is_allowed if {
	found(ours("mps", {"a": {"l4": {"quota": 1}}, "b": {"h100": {"quota": 1}}})) == set()
}

test_slices_of_mig_are_allowed if {
	found(ours("mig", {"a": {"l4": {"quota": 1}}, "b": {"l4": {"quota": 1}}})) == set()
}

test_a_group_of_two_tenants_is_denied if {
	found(ours("time_slicing", {"a": {"l4": {"quota": 1}}, "b": {"l4": {"quota": 1}}})) == {["/partition/kind", "mandatory"]}
}

pool(strategy, taints) := {"gcp:container/nodePool:NodePool": [{"urn": "p", "name": "l4", "inputs": {"nodeConfig": {
	"taints": taints,
	"guestAccelerators": [{"type": "nvidia-l4", "gpuSharingConfig": {"gpuSharingStrategy": strategy, "maxSharedClientsPerGpu": 4}}],
}}}]}

test_a_pool_for_one_tenant_is_allowed if {
	found({"objects": one, "by_type": pool("TIME_SHARING", [])}) == set()
	found({"objects": two, "by_type": pool("TIME_SHARING", [{"key": "tenant", "value": "fraud", "effect": "NO_SCHEDULE"}])}) == set()
}

test_a_pool_of_whole_gpus_is_allowed if {
	whole := {"gcp:container/nodePool:NodePool": [{"urn": "p", "name": "l4", "inputs": {"nodeConfig": {"guestAccelerators": [{"type": "nvidia-l4"}]}}}]}
	found({"objects": two, "by_type": whole}) == set()
}

test_a_pool_for_everybody_is_denied if {
	path := "/nodeConfig/guestAccelerators/0/gpuSharingConfig"
	found({"objects": two, "by_type": pool("MPS", [])}) == {[path, "mandatory"]}
	found({"objects": two, "by_type": pool("TIME_SHARING", [{"key": "nvidia.com/gpu"}])}) == {[path, "mandatory"]}
}

map(text) := {"ConfigMap": [{"urn": "m", "path": "", "name": "plugin", "body": {"data": {"any": text}}}]}

slicing := "version: v1\nsharing:\n  timeSlicing:\n    resources:\n    - name: nvidia.com/gpu\n      replicas: 4\n"

test_a_configuration_that_shares_nothing_is_allowed if {
	found({"objects": object.union(two, map("version: v1\n"))}) == set()
	found({"objects": object.union(two, map("replicas: [4"))}) == set()
}

test_a_configuration_for_one_tenant_is_allowed if found({"objects": object.union(one, map(slicing))}) == set()

test_a_configuration_for_everybody_is_denied_as_advice if {
	found({"objects": object.union(two, map(slicing))}) == {["/data/any", "advisory"]}
}

test_values_of_the_device_plugin_are_denied_as_advice if {
	release := {"urn": "r", "chart": "nvidia-device-plugin", "values": {"config": {"map": {"default": slicing}}}}
	found({"objects": two, "releases": [release]}) == {["/values/config/map/default", "advisory"]}
}
