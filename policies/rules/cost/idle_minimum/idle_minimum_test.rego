package gpuyard.rules.cost.idle_minimum_test

import data.gpuyard.rules.cost.idle_minimum

group(market, least) := {
	"urn": "group",
	"name": "l4",
	"machine_path": "/nodeConfig/machineType",
	"market": market,
	"nodes": {"min": least},
	"accelerators": {"min": least},
}

scaler(spec) := {"urn": "scaler", "path": "", "body": {"spec": spec}}

served := {
	"kind": "Deployment",
	"name": "model",
	"replicas": {"urn": "scaler"},
	"accelerators": {"nvidia.com/gpu": 1},
}

stack(required, more) := object.union(
	{
		"environment": "development",
		"limits": {"thresholds": {"cost/idle_minimum": {"scale_to_zero": required}}},
		"capacity": {"groups": []},
		"objects": {},
		"workloads": [served],
	},
	more,
)

messages(given) := found if {
	found := {finding.message | some finding in idle_minimum.deny} with input as given
}

kept := {"capacity": {"groups": [group("spot", 2)]}}

test_a_minimum_is_allowed_where_it_may_be if messages(stack(false, kept)) == set()

test_a_group_that_goes_to_zero_is_allowed if {
	messages(stack(true, {"capacity": {"groups": [group("spot", 0)]}})) == set()
}

test_machines_that_are_paid_for_anyway_are_allowed if {
	groups := [group("reservation", 2), group("owned", 2), group("shared", 2)]
	messages(stack(true, {"capacity": {"groups": groups}})) == set()
}

test_a_scaler_that_goes_to_zero_is_allowed if {
	messages(stack(true, {"objects": {"ScaledObject.keda.sh": [scaler({"minReplicaCount": 0})]}})) == set()
	idle := scaler({"minReplicaCount": 1, "idleReplicaCount": 0})
	messages(stack(true, {"objects": {"ScaledObject.keda.sh": [idle]}})) == set()
}

test_a_minimum_is_a_finding_where_it_may_not_be if {
	messages(stack(true, kept)) == {
		"group l4 keeps 2 of its nodes when nobody works: 2 accelerators in development",
	}
}

test_a_finding_is_where_the_group_says_its_least if {
	kinds := {
		"/instanceTypes": "/scalingConfig/minSize",
		"/nodeConfig/machineType": "/autoscaling",
		"/spec/template/spec/requirements/0/values": "/spec/replicas",
	}
	every machine_path, place in kinds {
		of_kind := object.union(group("spot", 2), {"machine_path": machine_path})
		some finding in idle_minimum.deny with input as stack(true, {"capacity": {"groups": [of_kind]}})
		finding.path == place
	}
}

test_a_scaler_that_keeps_replicas_is_a_finding if {
	messages(stack(true, {"objects": {"ScaledObject.keda.sh": [scaler({"minReplicaCount": 1})]}})) == {
		"Deployment model keeps 1 replicas on accelerators when nobody works",
	}
}
