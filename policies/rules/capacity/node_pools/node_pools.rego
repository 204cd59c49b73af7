# METADATA
# title: NodePools of accelerators are bounded, and give nodes back
# description: >-
#   Karpenter starts machines for whatever pods ask, and a NodePool without limits has no end: one wrong number of replicas
#   is a bill of a month. With consolidateAfter Never, or a budget that lets no node go, a GPU machine that has nothing to
#   do stays until it expires.
# custom:
#   id: Q5
#   severity: high
#   level: mandatory
#   on_unknown: warn
#   scope: stack
#   waivable: true
#   reads:
#     - {type: "kubernetes:karpenter.sh/*:NodePool", path: /spec/disruption/budgets}
#     - {type: "kubernetes:karpenter.sh/*:NodePool", path: /spec/disruption/consolidateAfter}
#     - {type: "kubernetes:karpenter.sh/*:NodePool", path: /spec/limits}
#   frameworks:
#     - "OWASP Top 10 for LLM Applications 2025: LLM10 Unbounded Consumption"
#   remediation: >-
#     Give the NodePool limits of its accelerators or of nodes, and let it give back idle nodes: consolidateAfter with a
#     time such as 10m, and no standing budget of 0. Machines that are reserved are paid for anyway, and may stay.
package gpuyard.rules.capacity.node_pools

deny contains {"urn": pool.urn, "path": path, "message": message} if {
	some pool in accelerated
	not bounded(pool)
	message := sprintf("NodePool %v has no limits: nothing bounds the accelerators that it may start", [pool.name])
	path := sprintf("%v/spec/limits", [pool.path])
}

deny contains {"urn": pool.urn, "path": path, "message": message} if {
	some pool in scaling
	pool.body.spec.disruption.consolidateAfter == "Never"
	message := sprintf("NodePool %v never gives back nodes that are idle: consolidateAfter is Never", [pool.name])
	path := sprintf("%v/spec/disruption/consolidateAfter", [pool.path])
}

deny contains {"urn": pool.urn, "path": path, "message": message} if {
	some pool in scaling
	is_array(pool.body.spec.disruption.budgets)
	some i, budget in pool.body.spec.disruption.budgets
	budget.nodes in ["0", "0%"]
	object.get(budget, "schedule", "") == ""
	about_empty(budget)
	path := sprintf("%v/spec/disruption/budgets/%v", [pool.path, i])
	message := sprintf("NodePool %v never gives back nodes that are idle: a budget of %v holds at all times", [
		pool.name,
		budget.nodes,
	])
}

# A budget that names no reasons is about all of them.
about_empty(budget) if object.get(budget, "reasons", []) == []

about_empty(budget) if {
	is_array(budget.reasons)
	"Empty" in budget.reasons
}

bounded(pool) if {
	is_object(pool.body.spec.limits)
	some resource, _ in pool.body.spec.limits
	counts_machines(resource)
}

# Of a fixed size.
bounded(pool) if is_number(pool.body.spec.replicas)

counts_machines(resource) if resource in ["cpu", "memory", "nodes"]

counts_machines(resource) if contains(resource, "/")

accelerated contains pool if {
	some pool in pools
	is_array(input.capacity.groups)
	some group in input.capacity.groups
	group.urn == pool.urn
	group.accelerators_a_node > 0
}

accelerated contains pool if {
	some pool in pools
	is_object(pool.body.spec.limits)
	some resource, _ in pool.body.spec.limits
	accelerator(resource)
}

accelerated contains pool if {
	some pool in pools
	is_array(pool.body.spec.template.spec.taints)
	some taint in pool.body.spec.template.spec.taints
	accelerator(taint.key)
}

accelerator(name) if {
	is_string(name)
	name in ["nvidia.com/gpu", "amd.com/gpu", "aws.amazon.com/neuron", "google.com/tpu", "habana.ai/gaudi"]
}

pools := [pool |
	some pool in input.objects["NodePool.karpenter.sh"]
	pool.patch == false
]

# Those whose machines are paid for by the hour, and come and go.
scaling contains pool if {
	some pool in accelerated
	object.get(pool.body, ["spec", "replicas"], null) == null
	not reserved(pool)
}

reserved(pool) if {
	is_array(pool.body.spec.template.spec.requirements)
	some requirement in pool.body.spec.template.spec.requirements
	requirement.key == "karpenter.sh/capacity-type"
	requirement.operator == "In"
	requirement.values == ["reserved"]
}
