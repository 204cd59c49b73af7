# METADATA
# title: Queues promise no more than the nodes have, and say how much they borrow
# description: >-
#   A nominal quota is a promise: once queues promise more accelerators than node groups can ever have, jobs are admitted
#   whose pods wait for nodes that do not come. A queue of a cohort without a borrowing limit takes everything that the
#   others leave idle.
# custom:
#   id: Q2
#   severity: medium
#   level: advisory
#   on_unknown: skip
#   scope: stack
#   waivable: true
#   reads:
#     - {type: "aws:eks/nodeGroup:NodeGroup", path: /scalingConfig/maxSize}
#     - {type: "gcp:container/nodePool:NodePool", path: /autoscaling}
#     - {type: "kubernetes:kueue.x-k8s.io/*:ClusterQueue", path: /spec/cohort}
#     - {type: "kubernetes:kueue.x-k8s.io/*:ClusterQueue", path: /spec/cohortName}
#     - {type: "kubernetes:kueue.x-k8s.io/*:ClusterQueue", path: /spec/resourceGroups}
#   remediation: >-
#     Lower the nominal quotas to what the node groups may have, or raise the groups' maxima. Give each queue of a cohort
#     a borrowingLimit.
package gpuyard.rules.quota.queues

deny contains {"urn": input.urn, "path": path, "message": message} if {
	some resource, most in offered
	some provider in providers
	quotas := [quota |
		some queue in input.cluster_queues
		queue.provider == provider
		own := queue.resources[resource]
		quota := {"name": queue.name, "nominal": own.nominal}
	]
	total := sum([quota.nominal | some quota in quotas])
	total > most
	message := sprintf("queues promise %v %v (%v), and the node groups may grow to %v", [
		total,
		resource,
		concat(", ", [sprintf("%v %v", [quota.name, quota.nominal]) | some quota in quotas]),
		most,
	])
	path := sprintf("/capacity/queues/%v", [replace(resource, "/", "~1")])
}

deny contains {"urn": queue.urn, "path": quota.path, "message": message} if {
	some queue in input.cluster_queues
	some quota in queue.unlimited
	message := sprintf("ClusterQueue %v may borrow all %v that cohort %v leaves idle: give it a borrowingLimit", [
		queue.name,
		quota.resource,
		queue.cohort,
	])
}

providers := {queue.provider | some queue in input.cluster_queues}

# Of resources that node groups of the program offer, if every group can be counted.
offered[resource] := most if {
	count(uncounted) == 0
	some resource in {one.resource | some one in supplies}
	most := sum([one.most | some one in supplies; one.resource == resource])
}

groups := [group |
	is_array(input.capacity.groups)
	some group in input.capacity.groups
	is_object(group)
]

# One that may be of several machines offers what the machine has that it gets.
uncounted := [group |
	some group in groups
	not countable(group)
]

countable(group) if {
	is_number(group.accelerators.max)
	object.get(group, "ways", null) == null
}

supplies := [one |
	some group in groups
	some one in of(group)
]

of(group) := parts if {
	is_object(group.parts)
	parts := [{"resource": part.resource, "most": part.a_node * group.nodes.max} |
		some _, part in group.parts
		is_number(part.a_node)
		is_number(group.nodes.max)
	]
}

else := [{"resource": group.resource, "most": group.accelerators.max}] if is_string(group.resource)

else := []
