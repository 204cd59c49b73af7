# METADATA
# title: Node groups stay under the limit of accelerators
# description: >-
#   An autoscaler grows to its maximum without asking anybody, so the maximum is what counts, not today's nodes. A limit
#   for all accelerators of a stack, and one for each model, keep a typing error or a runaway job from taking a whole
#   quota. What cannot be counted would count as nothing, so it is denied too.
# custom:
#   id: Q4
#   severity: high
#   level: mandatory
#   on_unknown: deny
#   scope: sum
#   waivable: true
#   reads:
#     - {type: "aws:eks/nodeGroup:NodeGroup", path: /instanceTypes}
#     - {type: "aws:eks/nodeGroup:NodeGroup", path: /scalingConfig/maxSize}
#     - {type: "gcp:container/cluster:Cluster", path: /clusterAutoscaling/resourceLimits}
#     - {type: "gcp:container/cluster:Cluster", path: /initialNodeCount, fires: true}
#     - {type: "gcp:container/cluster:Cluster", path: /nodeConfig/guestAccelerators}
#     - {type: "gcp:container/cluster:Cluster", path: /nodeConfig/machineType}
#     - {type: "gcp:container/cluster:Cluster", path: /nodePools}
#     - {type: "gcp:container/nodePool:NodePool", path: /autoscaling/maxNodeCount}
#     - {type: "gcp:container/nodePool:NodePool", path: /autoscaling/totalMaxNodeCount}
#     - {type: "gcp:container/nodePool:NodePool", path: /initialNodeCount, fires: true}
#     - {type: "gcp:container/nodePool:NodePool", path: /nodeConfig/guestAccelerators}
#     - {type: "gcp:container/nodePool:NodePool", path: /nodeConfig/machineType}
#     - {type: "gcp:container/nodePool:NodePool", path: /nodeCount}
#     - {type: "gpuyard:index:NodeInventory", path: /count}
#     - {type: "gpuyard:index:NodeInventory", path: /machine}
#     - {type: "kubernetes:karpenter.sh/*:NodePool", path: /spec/limits, fires: true}
#     - {type: "kubernetes:karpenter.sh/*:NodePool", path: /spec/template/spec/requirements, fires: true}
#   frameworks:
#     - "OWASP Top 10 for LLM Applications 2025: LLM10 Unbounded Consumption"
#   remediation: >-
#     Lower the maximum of the node groups, or have the platform's owner raise `accelerators` in policies/limits. Where a
#     group cannot be counted, use a machine that the catalogue has, or add it there with its source.
package gpuyard.rules.quota.max_accelerators

deny contains {"urn": input.urn, "path": "/capacity/total", "message": message} if {
	total := input.capacity.total
	is_number(total)
	limit := input.limits.accelerators.max
	total > limit
	message := sprintf("the node groups may grow to %v accelerators%v, and %v allows %v a stack", [
		total,
		listed([group | some group in counted]),
		input.environment,
		limit,
	])
}

deny contains {"urn": input.urn, "path": path, "message": message} if {
	is_object(input.capacity.accelerators)
	some model, total in input.capacity.accelerators
	is_number(total)
	some pattern, limit in input.limits.accelerators.models
	glob.match(lower(pattern), ["/"], lower(model))
	total > limit
	message := sprintf("the node groups may grow to %v of %v%v, and %v allows %v a stack", [
		total,
		model,
		listed([group | some group in counted; group.accelerator == model]),
		input.environment,
		limit,
	])
	path := sprintf("/capacity/accelerators/%v", [model])
}

# GKE makes node pools by itself, up to these: none of them is a node group of the program.
deny contains {"urn": cluster.urn, "path": "/clusterAutoscaling/resourceLimits", "message": message} if {
	some cluster in input.by_type["gcp:container/cluster:Cluster"]
	autoscaling := object.get(cluster.inputs, "clusterAutoscaling", {})
	object.get(autoscaling, "enabled", true) == true
	is_array(autoscaling.resourceLimits)
	most := sum([bound.maximum |
		some bound in autoscaling.resourceLimits
		is_number(bound.maximum)
		resource := bound.resourceType
		not resource in of_any_node
	])
	limit := input.limits.accelerators.max
	most > limit
	message := sprintf("node pools that GKE makes by itself may have %v accelerators, and %v allows %v a stack", [
		most,
		input.environment,
		limit,
	])
}

deny contains {"urn": group.urn, "path": group.machine_path, "message": message} if {
	some group in uncounted
	is_string(group.machine)
	object.get(group, "accelerators_a_node", null) == null
	object.get(group, ["nodes", "max"], 1) != 0
	message := sprintf("machine %v is not in the catalogue, so the accelerators of group %v cannot be counted", [
		group.machine,
		group.name,
	])
}

# A launch template that is not the program's, for example, does not say what it starts.
deny contains {"urn": group.urn, "path": group.machine_path, "message": message, "rests_on": [group.machine_path]} if {
	some group in uncounted
	machine := object.get(group, "machine", null)
	not is_string(machine)
	object.get(group, ["nodes", "max"], 1) != 0
	message := sprintf("the machine of group %v is not known, so its accelerators cannot be counted", [group.name])
}

deny contains {"urn": group.urn, "path": "", "message": message, "rests_on": counts} if {
	some group in uncounted
	group.accelerators_a_node > 0
	message := sprintf("the number of nodes of group %v is not known, so its accelerators cannot be counted", [group.name])
}

of_any_node := ["cpu", "memory"]

# Where the clouds say how many nodes there are.
counts := ["/autoscaling", "/count", "/initialNodeCount", "/nodeCount", "/scalingConfig", "/spec/limits"]

groups := [group |
	is_array(input.capacity.groups)
	some group in input.capacity.groups
	is_object(group)
]

counted := [group |
	some group in groups
	object.get(group, ["accelerators", "max"], 0) > 0
]

uncounted := [group |
	some group in groups
	object.get(group, ["accelerators", "max"], null) == null
]

# The groups that add up: ` (l4 12, h100 16)`.
listed(adding) := "" if count(adding) == 0

else := sprintf(" (%v)", [concat(", ", [sprintf("%v %v", [group.name, group.accelerators.max]) | some group in adding])])
