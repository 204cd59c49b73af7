# METADATA
# title: Prices are of these days
# description: >-
#   A review counts with prices of one day, so that it can be repeated. Prices of machines are lowered and raised, and a
#   budget that is kept at an old one may be broken at today's. Of disks, gateways and control planes it is only said,
#   for their prices come with gpuyard; and of a price of one's own that is dated after the review, since it never gets
#   old.
# custom:
#   id: Q16
#   severity: low
#   level: mandatory
#   on_unknown: skip
#   scope: sum
#   waivable: true
#   reads:
#     - {type: "aws:eks/nodeGroup:NodeGroup", path: /instanceTypes}
#     - {type: "gcp:container/cluster:Cluster", path: /nodeConfig/machineType}
#     - {type: "gcp:container/nodePool:NodePool", path: /nodeConfig/machineType}
#   remediation: >-
#     Take newer prices with `gpuyard prices import`, which writes policies/prices.csv, or install a newer gpuyard; how
#     old prices may be is `price_age` in policies/limits.
package gpuyard.rules.cost.price_age

deny contains {"urn": line.urn, "path": "", "message": message, "level": level} if {
	is_array(input.cost.lines)
	some line in input.cost.lines
	is_object(line)
	is_number(line.age_days)
	line.age_days > input.limits.price_age.warn_days
	[level, limit] := judged(line.age_days)
	message := sprintf("the price that group %v is counted with is of %v, %v days before the review: %v allows %v", [
		object.get(line, "group", "without a name"),
		object.get(line, "date", "an unknown day"),
		line.age_days,
		input.environment,
		limit,
	])
}

deny contains {"urn": line.urn, "path": "", "message": message, "level": "advisory"} if {
	is_array(input.cost.lines)
	some line in input.cost.lines
	is_object(line)
	is_object(input.cost.prices)
	is_number(line.age_days)
	line.age_days < 0
	message := sprintf("the price that group %v is counted with is of %v, which is after the review of %v", [
		object.get(line, "group", "without a name"),
		object.get(line, "date", "an unknown day"),
		input.date,
	])
}

deny contains {"urn": input.urn, "path": "/cost/charges", "message": message, "level": "advisory"} if {
	is_object(input.cost.charges_as_of)
	is_number(input.cost.charges_as_of.age_days)
	input.cost.charges_as_of.age_days > input.limits.price_age.warn_days
	message := sprintf("prices beside those of machines are of %v at the oldest, %v days before the review: %v allows %v", [
		input.cost.charges_as_of.date,
		input.cost.charges_as_of.age_days,
		input.environment,
		input.limits.price_age.warn_days,
	])
}

judged(days) := ["mandatory", input.limits.price_age.deny_days] if days > input.limits.price_age.deny_days

else := ["advisory", input.limits.price_age.warn_days]
