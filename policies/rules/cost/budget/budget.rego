# METADATA
# title: Cost stays within the budget
# description: >-
#   What a stack may cost a month is compared at the most that its scalers may reach, because nobody is asked again when
#   they do; a tenant's worst case is its quota and all that it may borrow. A price that is not known is a finding of
#   its own, for it would count as nothing.
# custom:
#   id: Q11
#   severity: high
#   level: mandatory
#   on_unknown: deny
#   waivable: true
#   reads:
#     - {type: "aws:eks/nodeGroup:NodeGroup", path: /capacityType}
#     - {type: "aws:eks/nodeGroup:NodeGroup", path: /instanceTypes}
#     - {type: "aws:eks/nodeGroup:NodeGroup", path: /scalingConfig/maxSize}
#     - {type: "gcp:container/nodePool:NodePool", path: /autoscaling/maxNodeCount}
#     - {type: "gcp:container/nodePool:NodePool", path: /autoscaling/totalMaxNodeCount}
#     - {type: "gcp:container/nodePool:NodePool", path: /nodeConfig/machineType}
#     - {type: "gcp:container/nodePool:NodePool", path: /nodeConfig/spot}
#     - {type: "gcp:container/nodePool:NodePool", path: /nodeCount}
#     - {type: "gpuyard:index:NodeInventory", path: /count}
#     - {type: "gpuyard:index:NodeInventory", path: /machine}
#   frameworks:
#     - "OWASP Top 10 for LLM Applications 2025: LLM10 Unbounded Consumption"
#   remediation: >-
#     Lower the maximum of the node groups or the tenant's quota, choose a cheaper machine or market, or have the
#     platform's owner raise `budget` in the limits. Where a price is unknown, add it to the catalogue, or give
#     `usd_hour` on-prem.
package gpuyard.rules.cost.budget

deny contains {"urn": input.urn, "path": "/cost/total/max", "message": message} if {
	most := input.cost.total.max
	is_number(most)
	limit := input.limits.budget.month_usd
	most > limit
	message := sprintf("the stack may cost %v USD a month, and its budget in %v is %v USD", [most, input.environment, limit])
}

deny contains {"urn": input.urn, "path": sprintf("/cost/tenants/%v/worst", [name]), "message": message} if {
	is_object(input.cost.tenants)
	some name, tenant in input.cost.tenants
	is_object(tenant)
	is_number(tenant.worst)
	is_number(tenant.budget)
	tenant.worst > tenant.budget
	message := sprintf(
		"tenant %v may cost %v USD a month with all that it may borrow, and its budget is %v USD",
		[name, tenant.worst, tenant.budget],
	)
}

deny contains {"urn": line.urn, "path": "", "message": message, "level": input.limits.budget.unknown_price} if {
	is_array(input.cost.lines)
	some line in input.cost.lines
	is_object(line)
	unknown := object.get(input.cost, "unknown", [])
	is_array(unknown)
	line.urn in unknown
	machine := object.get(line, "machine", "a machine that is not known")
	market := object.get(line, "market", "no market")
	region := object.get(line, "region", "no region")
	message := sprintf("no price is known for %v (%v, %v): what the group may cost cannot be judged", [machine, market, region])
}
