package gpuyard.rules.accelerators.requests_test

import data.gpuyard.rules.accelerators.requests

container(more, gpus) := {
	"path": "/spec/containers/0",
	"role": "containers",
	"container": object.union({"name": "server"}, more),
	"accelerators": {"nvidia.com/gpu": gpus},
}

workload(more, given) := object.union(
	{
		"urn": "model",
		"provider": "k8s",
		"namespace": "fraud",
		"kind": "Deployment",
		"key": "Deployment.apps",
		"name": "model",
		"whole": true,
		"accelerators": {"nvidia.com/gpu": 1},
		"wrong": [],
		"spec": {},
		"containers": [container(given, 1)],
	},
	more,
)

found(given, objects) := {[finding.path, object.get(finding, "level", "advisory")] |
	some finding in requests.deny with input as {"workloads": [given], "objects": objects}
}

small := {"resources": {"requests": {"cpu": "4", "memory": "16Gi"}, "limits": {"nvidia.com/gpu": 1}}}

bare := {"resources": {"limits": {"nvidia.com/gpu": 1}}}

large := {"resources": {"limits": {"cpu": "4", "memory": "16Gi", "nvidia.com/gpu": "4"}}}

many(more, given) := object.union(workload(more, given), {"containers": [container(given, 4)]})

test_a_container_that_says_what_it_takes_is_allowed if found(workload({}, small), {}) == set()

test_a_custom_resource_whose_operator_may_add_the_rest_is_allowed if {
	found(workload({"whole": false}, bare), {}) == set()
}

limits(namespace) := {"LimitRange": [{"provider": "k8s", "namespace": namespace, "body": {"spec": {"limits": [{
	"type": "Container",
	"defaultRequest": {"cpu": "100m"},
	"default": {"memory": "1Gi"},
}]}}}]}

test_a_container_with_requests_of_a_limit_range_is_allowed if {
	found(workload({}, bare), limits("fraud")) == set()
}

test_shared_memory_of_ones_own_is_allowed if {
	mounts := {"volumeMounts": [{"name": "shm", "mountPath": "/dev/shm"}]}
	found(many({}, object.union(large, mounts)), {}) == set()
	found(many({"spec": {"hostIPC": true}}, large), {}) == set()
	found(many({"key": "RayCluster.ray.io"}, large), {}) == set()
}

test_what_an_api_server_refuses_is_denied if {
	wrong := [{"path": "/spec/containers/0/resources", "resource": "nvidia.com/gpu", "why": "0.5 is no whole number"}]
	given := workload({"wrong": wrong}, small)
	found(given, {}) == {["/spec/containers/0/resources", "mandatory"]}
	some finding in requests.deny with input as {"workloads": [given], "objects": {}}
	finding.message == "Deployment model: of nvidia.com/gpu 0.5 is no whole number: an API server refuses its pods"
}

test_a_container_without_requests_is_a_finding if {
	found(workload({}, bare), {}) == {["/spec/containers/0/resources", "advisory"]}
	found(workload({}, bare), limits("other")) == {["/spec/containers/0/resources", "advisory"]}
}

test_several_gpus_without_shared_memory_are_a_finding if {
	found(many({}, large), {}) == {["/spec/containers/0/volumeMounts", "advisory"]}
}
