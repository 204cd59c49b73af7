# METADATA
# title: Node groups stay under the quotas of the cloud's account
# description: >-
#   A cloud refuses machines beyond its account's quota, long after the deployment: when the autoscaler asks for them.
#   EC2 counts vCPUs by family and way of buying, Compute Engine GPUs by model, region and spot, and all regions once
#   more. What the node groups may grow to is compared with a snapshot of the quotas, which may be too old to tell, or of
#   a day that is still to come. A group whose nodes cannot be counted is said, for it would count as nothing.
# custom:
#   id: Q15
#   severity: high
#   level: mandatory
#   on_unknown: skip
#   scope: sum
#   waivable: true
#   reads:
#     - {type: "aws:eks/nodeGroup:NodeGroup", path: /capacityType}
#     - {type: "aws:eks/nodeGroup:NodeGroup", path: /instanceTypes}
#     - {type: "aws:eks/nodeGroup:NodeGroup", path: /scalingConfig/maxSize}
#     - {type: "gcp:container/cluster:Cluster", path: /initialNodeCount}
#     - {type: "gcp:container/cluster:Cluster", path: /nodeConfig/machineType}
#     - {type: "gcp:container/nodePool:NodePool", path: /autoscaling/maxNodeCount}
#     - {type: "gcp:container/nodePool:NodePool", path: /autoscaling/totalMaxNodeCount}
#     - {type: "gcp:container/nodePool:NodePool", path: /nodeConfig/machineType}
#     - {type: "gcp:container/nodePool:NodePool", path: /nodeConfig/spot}
#     - {type: "gcp:container/nodePool:NodePool", path: /nodeCount}
#   frameworks:
#     - "OWASP Top 10 for LLM Applications 2025: LLM10 Unbounded Consumption"
#   remediation: >-
#     Lower the maximum of the node groups, or ask the cloud for a higher quota, then write the snapshot again with
#     `gpuyard quotas fetch`.
package gpuyard.rules.quota.cloud_account

deny contains {"urn": input.urn, "path": path, "message": message} if {
	some quota in quotas
	is_number(quota.limit)
	is_number(quota.need)
	quota.limit >= 0
	quota.need > quota.limit
	message := sprintf("%v may need %v %v of %v (%v), and %v in %v may have %v, as of %v", [
		listed(quota.groups),
		quota.need,
		quota.unit,
		quota.name,
		quota.code,
		quota.account,
		quota.region,
		quota.limit,
		quota.fetched,
	])
	path := place(quota)
}

deny contains {"urn": input.urn, "path": path, "message": message, "level": "advisory"} if {
	some quota in quotas
	limit := input.limits.account_quota.max_age_days
	is_number(quota.age_days)
	quota.age_days > limit
	message := sprintf("the quotas of %v in %v are of %v, %v days ago, and %v allows %v", [
		quota.account,
		quota.region,
		quota.fetched,
		quota.age_days,
		input.environment,
		limit,
	])
	path := place(quota)
}

# A snapshot of a day that is still to come would never be old.
deny contains {"urn": input.urn, "path": path, "message": message, "level": "advisory"} if {
	some quota in quotas
	is_number(quota.age_days)
	quota.age_days < 0
	message := sprintf("the quotas of %v in %v are of %v, which is after the review of %v: how old they are is not known", [
		quota.account,
		quota.region,
		quota.fetched,
		input.date,
	])
	path := place(quota)
}

deny contains {"urn": input.urn, "path": path, "message": message, "level": uncounted_level} if {
	some quota in quotas
	is_number(quota.limit)
	quota.limit >= 0
	names := listed(quota.uncounted)
	names != ""
	message := sprintf("what %v may need of %v (%v) is not known, and %v in %v may have %v, as of %v", [
		names,
		quota.name,
		quota.code,
		quota.account,
		quota.region,
		quota.limit,
		quota.fetched,
	])
	path := place(quota)
}

uncounted_level := "mandatory" if input.limits.account_quota.unchecked == "mandatory"

else := "advisory"

deny contains {"urn": input.urn, "path": path, "message": message, "level": level} if {
	some quota in quotas
	level := input.limits.account_quota.unchecked
	is_string(quota.unchecked)
	message := sprintf("%v of %v in %v cannot be checked: %v", [
		quota.name,
		object.get(quota, "account", "an account that is not known"),
		object.get(quota, "region", "a region that is not known"),
		quota.unchecked,
	])
	path := place(quota)
}

listed(groups) := concat(", ", [group | is_array(groups); some group in groups; is_string(group)])

place(quota) := sprintf("/capacity/quotas/%v/%v", [object.get(quota, "region", ""), quota.name])

quotas := [quota |
	is_array(input.capacity.quotas)
	some quota in input.capacity.quotas
	is_object(quota)
]
