# METADATA
# title: A container says what it takes beside its accelerators
# description: >-
#   An API server refuses a pod whose accelerators have no limit, another request than the limit, or a part of one. Without
#   requests of CPU and memory the scheduler puts a pod on a node whose CPUs others have taken, and the accelerator waits.
#   Processes that share several GPUs exchange data in /dev/shm, of which a container has 64 MiB unless a volume is there.
# custom:
#   id: Q12
#   severity: medium
#   level: advisory
#   on_unknown: skip
#   scope: stack
#   waivable: true
#   reads:
#     - {type: pod, path: /containers/*/resources}
#     - {type: pod, path: /containers/*/volumeMounts}
#     - {type: pod, path: /hostIPC}
#     - {type: pod, path: /volumes}
#   remediation: >-
#     Give accelerators as limits alone, in whole numbers; requests of CPU and memory; and an emptyDir of medium Memory,
#     with a sizeLimit, at /dev/shm.
package gpuyard.rules.accelerators.requests

deny contains {"urn": workload.urn, "path": wrong.path, "level": "mandatory", "message": message} if {
	some workload in input.workloads
	some wrong in workload.wrong
	message := sprintf("%v %v: of %v %v: an API server refuses its pods", [
		workload.kind,
		workload.name,
		wrong.resource,
		wrong.why,
	])
}

# What a custom resource leaves out, its operator may add.
deny contains {"urn": workload.urn, "path": path, "message": message} if {
	some workload in input.workloads
	count(workload.accelerators) > 0
	workload.whole == true
	not defaulted(workload)
	some one in workload.containers
	count(one.accelerators) > 0
	container := one.container
	missing := [resource | some resource in ["cpu", "memory"]; not asked(container, resource)]
	count(missing) > 0
	path := sprintf("%v/resources", [one.path])
	message := sprintf("container %v of %v %v takes accelerators and requests no %v", [
		object.get(one.container, "name", ""),
		workload.kind,
		workload.name,
		concat(" and no ", missing),
	])
}

asked(container, resource) if {
	some part in ["limits", "requests"]
	object.get(container, ["resources", part, resource], null) != null
}

# A LimitRange gives requests to who has none.
defaulted(workload) if {
	some limits in input.objects.LimitRange
	limits.provider == workload.provider
	object.get(limits, "namespace", "") == object.get(workload, "namespace", "")
	is_array(limits.body.spec.limits)
	some range in limits.body.spec.limits
	range.type == "Container"
	gives(range, "cpu")
	gives(range, "memory")
}

gives(range, resource) if {
	some part in ["default", "defaultRequest"]
	object.get(range, [part, resource], null) != null
}

# --- shared memory of several GPUs

deny contains {"urn": workload.urn, "path": path, "message": message} if {
	some workload in input.workloads
	workload.whole == true
	not brings_its_own(workload)
	object.get(workload.spec, "hostIPC", false) != true
	some one in workload.containers
	gpus := several(one)
	container := one.container
	not mounted(container)
	path := sprintf("%v/volumeMounts", [one.path])
	message := sprintf("container %v of %v %v has %v GPUs and 64 MiB of shared memory: mount an emptyDir at /dev/shm", [
		object.get(one.container, "name", ""),
		workload.kind,
		workload.name,
		gpus,
	])
}

# KubeRay mounts it by itself.
brings_its_own(workload) if endswith(workload.key, ".ray.io")

several(one) := gpus if {
	some name in ["nvidia.com/gpu", "amd.com/gpu"]
	gpus := one.accelerators[name]
	gpus > 1
}

mounted(container) if {
	is_array(container.volumeMounts)
	some mount in container.volumeMounts
	mount.mountPath in ["/dev/shm", "/dev/shm/"]
}
