# METADATA
# title: Node groups stay under the limit of accelerators
# description: >-
#   An autoscaler grows to its maximum without asking anybody, so the maximum is what counts, not today's nodes. A limit
#   for all accelerators of a stack, and one for each model, keep a typing error or a runaway job from taking a whole
#   quota.
# custom:
#   id: Q4
#   severity: high
#   level: mandatory
#   on_unknown: deny
#   waivable: true
#   reads:
#     - {type: "aws:eks/nodeGroup:NodeGroup", path: /instanceTypes}
#     - {type: "aws:eks/nodeGroup:NodeGroup", path: /scalingConfig/maxSize}
#     - {type: "gcp:container/nodePool:NodePool", path: /autoscaling/maxNodeCount}
#     - {type: "gcp:container/nodePool:NodePool", path: /autoscaling/totalMaxNodeCount}
#     - {type: "gcp:container/nodePool:NodePool", path: /nodeConfig/guestAccelerators/*/count}
#     - {type: "gcp:container/nodePool:NodePool", path: /nodeConfig/machineType}
#     - {type: "gcp:container/nodePool:NodePool", path: /nodeCount}
#     - {type: "gpuyard:index:NodeInventory", path: /count}
#     - {type: "gpuyard:index:NodeInventory", path: /machine}
#   frameworks:
#     - "OWASP Top 10 for LLM Applications 2025: LLM10 Unbounded Consumption"
#   remediation: Lower the maximum of the node groups, or have the platform's owner raise `accelerators` in the limits.
package gpuyard.rules.quota.max_accelerators

deny contains {"urn": input.urn, "path": "/capacity/total", "message": message} if {
	total := input.capacity.total
	is_number(total)
	limit := input.limits.accelerators.max
	total > limit
	message := sprintf("the node groups may grow to %v accelerators, and %v allows %v a stack", [total, input.environment, limit])
}

deny contains {"urn": input.urn, "path": sprintf("/capacity/accelerators/%v", [model]), "message": message} if {
	is_object(input.capacity.accelerators)
	some model, total in input.capacity.accelerators
	is_number(total)
	some pattern, limit in input.limits.accelerators.models
	glob.match(pattern, ["/"], model)
	total > limit
	message := sprintf("the node groups may grow to %v of %v, and %v allows %v a stack", [total, model, input.environment, limit])
}
