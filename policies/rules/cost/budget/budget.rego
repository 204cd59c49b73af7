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
#   scope: sum
#   waivable: true
#   reads:
#     - {type: "aws:eks/nodeGroup:NodeGroup", path: /capacityType}
#     - {type: "aws:eks/nodeGroup:NodeGroup", path: /instanceTypes}
#     - {type: "aws:eks/nodeGroup:NodeGroup", path: /region, fires: true}
#     - {type: "aws:eks/nodeGroup:NodeGroup", path: /scalingConfig/desiredSize, fires: true}
#     - {type: "aws:eks/nodeGroup:NodeGroup", path: /scalingConfig/maxSize}
#     - {type: "aws:eks/nodeGroup:NodeGroup", path: /scalingConfig/minSize, fires: true}
#     - {type: "gcp:container/cluster:Cluster", path: /initialNodeCount, fires: true}
#     - {type: "gcp:container/cluster:Cluster", path: /location, fires: true}
#     - {type: "gcp:container/cluster:Cluster", path: /nodeConfig/machineType}
#     - {type: "gcp:container/nodePool:NodePool", path: /autoscaling/maxNodeCount}
#     - {type: "gcp:container/nodePool:NodePool", path: /autoscaling/minNodeCount, fires: true}
#     - {type: "gcp:container/nodePool:NodePool", path: /autoscaling/totalMaxNodeCount}
#     - {type: "gcp:container/nodePool:NodePool", path: /autoscaling/totalMinNodeCount, fires: true}
#     - {type: "gcp:container/nodePool:NodePool", path: /initialNodeCount, fires: true}
#     - {type: "gcp:container/nodePool:NodePool", path: /location, fires: true}
#     - {type: "gcp:container/nodePool:NodePool", path: /nodeConfig/machineType}
#     - {type: "gcp:container/nodePool:NodePool", path: /nodeConfig/spot}
#     - {type: "gcp:container/nodePool:NodePool", path: /nodeCount}
#     - {type: "gpuyard:index:NodeInventory", path: /count}
#     - {type: "gpuyard:index:NodeInventory", path: /machine}
#     - {type: "gpuyard:index:NodeInventory", path: /usd_hour, fires: true}
#   frameworks:
#     - "OWASP Top 10 for LLM Applications 2025: LLM10 Unbounded Consumption"
#   remediation: >-
#     Lower the maximum of the node groups, or what the tenant may use and borrow, or choose a cheaper machine or market;
#     or have the budget raised: a tenant's is `monthly_budget` in the stack, the stack's is `budget` in policies/limits. Where
#     a cost is not known, name the region in the provider, give `usd_hour` for machines that somebody owns, or add the
#     price to the catalogue with its source.
package gpuyard.rules.cost.budget

import data.gpuyard.lib.money

deny contains {"urn": input.urn, "path": "/cost/total/max", "message": message} if {
	most := input.cost.total.max
	is_number(most)
	limit := input.limits.budget.month_usd
	most > limit
	message := sprintf("the stack may cost %v a month, and its budget in %v is %v", [
		money.usd(most),
		input.environment,
		money.usd(limit),
	])
}

deny contains {"urn": input.urn, "path": path, "message": message} if {
	is_object(input.cost.tenants)
	some name, tenant in input.cost.tenants
	is_object(tenant)
	is_number(tenant.worst)
	is_number(tenant.budget)
	tenant.worst > tenant.budget
	message := sprintf("tenant %v may cost %v a month with all that it may borrow, and its budget is %v", [
		name,
		money.usd(tenant.worst),
		money.usd(tenant.budget),
	])
	path := sprintf("/cost/tenants/%v/worst", [name])
}

deny contains finding if {
	is_array(input.cost.lines)
	some line in input.cost.lines
	is_object(line)
	month := object.get(line, "month", null)
	not is_object(month)
	finding := {
		"urn": line.urn,
		"path": "",
		"message": sprintf("what group %v may cost cannot be judged: %v", [
			object.get(line, "group", "without a name"),
			object.get(line, "unknown", "nobody says what it costs"),
		]),
		"level": input.limits.budget.unknown_price,
		"rests_on": priced_by,
	}
}

# What makes the price and the number of a group's machines.
priced_by := [
	"/autoscaling",
	"/capacityType",
	"/count",
	"/initialNodeCount",
	"/instanceTypes",
	"/location",
	"/machine",
	"/nodeConfig/machineType",
	"/nodeConfig/spot",
	"/nodeCount",
	"/region",
	"/scalingConfig",
	"/usd_hour",
]
