# METADATA
# title: What serves does not run on spot machines alone
# description: >-
#   A cloud takes spot machines back within minutes, often many of a kind at once. A job that saves its state goes on
#   elsewhere; a model server whose pods can only go to spot machines is gone for as long as there are none.
# custom:
#   id: Q9
#   severity: medium
#   level: mandatory
#   on_unknown: warn
#   scope: stack
#   waivable: true
#   thresholds:
#     serving:
#       type: boolean
#       default: false
#       description: Whether what serves on accelerators may run on spot machines alone.
#     interruptible_label:
#       type: text
#       default: interruptible
#       description: Label of workloads that may be interrupted at any time, where its value is "true".
#   reads:
#     - {type: "aws:eks/nodeGroup:NodeGroup", path: /capacityType, fires: true}
#     - {type: "aws:eks/nodeGroup:NodeGroup", path: /labels, fires: true}
#     - {type: "gcp:container/nodePool:NodePool", path: /nodeConfig/labels, fires: true}
#     - {type: "gcp:container/nodePool:NodePool", path: /nodeConfig/preemptible, fires: true}
#     - {type: "gcp:container/nodePool:NodePool", path: /nodeConfig/spot, fires: true}
#     - {type: pod, path: /nodeSelector, fires: true}
#   remediation: >-
#     Let the pods go to on-demand or reserved machines too, or label the workload as one that may be interrupted.
package gpuyard.rules.capacity.spot

deny contains {"urn": workload.urn, "path": workload.path, "message": message} if {
	input.limits.thresholds["capacity/spot"].serving == false
	some workload in serving
	why := only_spot(workload)
	message := sprintf("%v %v serves on accelerators, and its pods can only go to spot machines: %v", [
		workload.kind,
		workload.name,
		why,
	])
}

serving := [workload |
	some workload in input.workloads
	workload.batch == false
	not of_no_service(workload)
	count(workload.accelerators) > 0
	not interruptible(workload)
]

# A notebook serves one person, and an agent comes with the node.
of_no_service(workload) if workload.kind in ["DaemonSet", "Notebook"]

interruptible(workload) if {
	label := input.limits.thresholds["capacity/spot"].interruptible_label
	workload.labels[label] == "true"
}

# How clouds and Karpenter call nodes that may be taken back.
marks := {
	"cloud.google.com/gke-preemptible": "true",
	"cloud.google.com/gke-provisioning": "spot",
	"cloud.google.com/gke-spot": "true",
	"eks.amazonaws.com/capacityType": "SPOT",
	"karpenter.sh/capacity-type": "spot",
}

only_spot(workload) := why if {
	marked := [key | some key, value in marks; workload.spec.nodeSelector[key] == value]
	count(marked) > 0
	why := sprintf("its nodeSelector says %v", [concat(" and ", marked)])
} else := why if {
	term := "requiredDuringSchedulingIgnoredDuringExecution"
	terms := object.get(workload.spec, ["affinity", "nodeAffinity", term, "nodeSelectorTerms"], [])
	is_array(terms)
	count(terms) > 0
	others := [one | some one in terms; not asks_for_spot(one)]
	count(others) == 0
	why := "its node affinity asks for them"
} else := why if {
	selector := object.get(workload.spec, "nodeSelector", {})
	is_object(selector)
	count(selector) > 0
	found := [group | some group in groups; fits(selector, group)]
	count(found) > 0
	others := [group | some group in found; group.spot == false]
	count(others) == 0
	why := sprintf("its nodeSelector is that of %v", [concat(" and ", [group.name | some group in found])])
}

asks_for_spot(term) if {
	is_array(term.matchExpressions)
	some expression in term.matchExpressions
	expression.operator == "In"
	expression.values == [marks[expression.key]]
}

fits(selector, group) if {
	missing := [key | some key, value in selector; object.get(group.labels, key, null) != value]
	count(missing) == 0
}

# Node groups of the program by their labels. One of Karpenter may fall back where it names more than spot.
groups contains group if {
	some found in input.by_type["aws:eks/nodeGroup:NodeGroup"]
	group := {
		"name": sprintf("node group %v", [found.name]),
		"labels": labels_of(found.inputs),
		"spot": object.get(found.inputs, "capacityType", "ON_DEMAND") == "SPOT",
	}
}

groups contains group if {
	some found in input.by_type["gcp:container/nodePool:NodePool"]
	config := object.get(found.inputs, "nodeConfig", {})
	is_object(config)
	group := {
		"name": sprintf("node pool %v", [found.name]),
		"labels": labels_of(config),
		"spot": true in [object.get(config, "spot", false), object.get(config, "preemptible", false)],
	}
}

groups contains group if {
	some pool in input.objects["NodePool.karpenter.sh"]
	template := pool.body.spec.template
	is_object(template)
	markets := [requirement.values |
		is_array(template.spec.requirements)
		some requirement in template.spec.requirements
		requirement.key == "karpenter.sh/capacity-type"
		requirement.operator == "In"
	]
	group := {
		"name": sprintf("NodePool %v", [pool.name]),
		"labels": labels_of(object.get(template, "metadata", {})),
		"spot": markets == [["spot"]],
	}
}

labels_of(holder) := holder.labels if {
	is_object(holder)
	is_object(holder.labels)
} else := {}
