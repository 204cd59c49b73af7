package gpuyard.rules.capacity.spot_test

import data.gpuyard.rules.capacity.spot

model(more) := object.union(
	{
		"urn": "model",
		"path": "/spec/template/spec",
		"kind": "Deployment",
		"name": "model",
		"batch": false,
		"labels": {},
		"accelerators": {"nvidia.com/gpu": 1},
		"spec": {},
	},
	more,
)

stack(workload, more) := object.union(
	{
		"limits": {"thresholds": {"capacity/spot": {"serving": false, "interruptible_label": "interruptible"}}},
		"workloads": [workload],
		"by_type": {},
		"objects": {},
	},
	more,
)

messages(given) := found if {
	found := {finding.message | some finding in spot.deny} with input as given
}

marked := {"spec": {"nodeSelector": {"cloud.google.com/gke-spot": "true"}}}

eks(name, kind) := {
	"name": name,
	"inputs": {"capacityType": kind, "labels": {"pool": "gpu"}},
}

selected := {"spec": {"nodeSelector": {"pool": "gpu"}}}

test_a_model_without_a_selector_is_allowed if messages(stack(model({}), {})) == set()

test_a_job_on_spot_is_allowed if messages(stack(model(object.union(marked, {"batch": true})), {})) == set()

test_a_workload_that_may_be_interrupted_is_allowed if {
	messages(stack(model(object.union(marked, {"labels": {"interruptible": "true"}})), {})) == set()
}

test_serving_on_spot_is_allowed_where_limits_say_so if {
	limits := {"limits": {"thresholds": {"capacity/spot": {"serving": true, "interruptible_label": "interruptible"}}}}
	messages(stack(model(marked), limits)) == set()
}

test_a_selector_that_on_demand_nodes_fit_too_is_allowed if {
	groups := [eks("a", "SPOT"), eks("b", "ON_DEMAND")]
	messages(stack(model(selected), {"by_type": {"aws:eks/nodeGroup:NodeGroup": groups}})) == set()
}

test_a_node_pool_that_falls_back_is_allowed if {
	requirement := {"key": "karpenter.sh/capacity-type", "operator": "In", "values": ["spot", "on-demand"]}
	template := {"metadata": {"labels": {"pool": "gpu"}}, "spec": {"requirements": [requirement]}}
	pools := [{"name": "gpu", "body": {"spec": {"template": template}}}]
	messages(stack(model(selected), {"objects": {"NodePool.karpenter.sh": pools}})) == set()
}

test_a_selector_of_spot_nodes_is_denied if {
	messages(stack(model(marked), {})) == {concat("", [
		"Deployment model serves on accelerators, and its pods can only go to spot machines: ",
		"its nodeSelector says cloud.google.com/gke-spot",
	])}
}

test_a_selector_of_a_spot_group_is_denied if {
	some message in messages(stack(model(selected), {"by_type": {"aws:eks/nodeGroup:NodeGroup": [eks("a", "SPOT")]}}))
	endswith(message, "its nodeSelector is that of node group a")
}

test_a_selector_of_a_spot_pool_is_denied if {
	pools := [{"name": "l4", "inputs": {"nodeConfig": {"spot": true, "labels": {"pool": "gpu"}}}}]
	count(messages(stack(model(selected), {"by_type": {"gcp:container/nodePool:NodePool": pools}}))) == 1
}

test_an_affinity_to_spot_nodes_is_denied if {
	expression := {"key": "karpenter.sh/capacity-type", "operator": "In", "values": ["spot"]}
	required := {"nodeSelectorTerms": [{"matchExpressions": [expression]}]}
	affinity := {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": required}}
	some message in messages(stack(model({"spec": {"affinity": affinity}}), {}))
	endswith(message, "its node affinity asks for them")
}
