# METADATA
# title: Accelerators of development go when nobody works
# description: >-
#   A minimum above zero keeps machines through nights and weekends, three quarters of a week. A scaler that may go to
#   zero starts the first machine when somebody comes.
# custom:
#   id: Q7
#   severity: medium
#   level: advisory
#   on_unknown: skip
#   scope: stack
#   waivable: true
#   thresholds:
#     scale_to_zero:
#       type: boolean
#       default: false
#       description: Whether node groups with accelerators, and what is served on them, must be able to go to zero.
#   reads:
#     - {type: "aws:eks/nodeGroup:NodeGroup", path: /scalingConfig/minSize}
#     - {type: "gcp:container/nodePool:NodePool", path: /autoscaling/minNodeCount}
#     - {type: "gcp:container/nodePool:NodePool", path: /autoscaling/totalMinNodeCount}
#     - {type: "gcp:container/nodePool:NodePool", path: /nodeCount}
#     - {type: "kubernetes:karpenter.sh/*:NodePool", path: /spec/replicas}
#     - {type: "kubernetes:keda.sh/*:ScaledObject", path: /spec/minReplicaCount}
#   remediation: >-
#     Set the minimum of the node group to 0, and let a scaler such as KEDA's, with hours, take what is served to 0.
package gpuyard.rules.cost.idle_minimum

required if input.limits.thresholds["cost/idle_minimum"].scale_to_zero == true

# What is owned, shared or reserved costs as much while it is idle.
deny contains {"urn": urn, "path": path, "message": message} if {
	required
	is_array(input.capacity.groups)
	some group in input.capacity.groups
	is_string(group.machine_path)
	urn := group.urn
	group.accelerators.min > 0
	group.market in ["on_demand", "spot", "flex_start"]
	path := place(group)
	message := sprintf("group %v keeps %v of its nodes when nobody works: %v accelerators in %v", [
		group.name,
		group.nodes.min,
		group.accelerators.min,
		input.environment,
	])
}

# Where a group says its least, by where it says its machine.
place(group) := "/scalingConfig/minSize" if group.machine_path == "/instanceTypes"

place(group) := "/autoscaling" if endswith(group.machine_path, "/nodeConfig/machineType")

place(group) := "/spec/replicas" if startswith(group.machine_path, "/spec/")

deny contains {"urn": scaler.urn, "path": path, "message": message} if {
	required
	some scaler in input.objects["ScaledObject.keda.sh"]
	least := scaler.body.spec.minReplicaCount
	least > 0
	object.get(scaler.body.spec, "idleReplicaCount", null) != 0
	some workload in input.workloads
	workload.replicas.urn == scaler.urn
	count(workload.accelerators) > 0
	path := sprintf("%v/spec/minReplicaCount", [scaler.path])
	message := sprintf("%v %v keeps %v replicas on accelerators when nobody works", [workload.kind, workload.name, least])
}
