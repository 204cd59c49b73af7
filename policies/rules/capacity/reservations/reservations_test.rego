package gpuyard.rules.capacity.reservations_test

import data.gpuyard.rules.capacity.reservations

id := "/capacityReservationSpecification/capacityReservationTarget/capacityReservationId"

reserved(criteria) := {"urn": "reservation", "inputs": {"instanceType": "p5.48xlarge", "instanceMatchCriteria": criteria}}

template(inputs, references) := {"urn": "template", "inputs": inputs, "references": references, "unknown": []}

group(inputs) := {
	"urn": "group",
	"inputs": inputs,
	"references": {"/launchTemplate/id": "template"},
	"unknown": [],
}

stack(types, groups) := {"by_type": types, "objects": {}, "capacity": {"groups": groups}}

h100(market) := {"name": "h100", "machine": "p5.48xlarge", "market": market, "nodes": {"max": 4}}

paths(given) := found if {
	found := {[finding.path, object.get(finding, "level", "advisory")] | some finding in reservations.deny} with input as given
}

ec2(criteria, templates) := {
	"aws:ec2/capacityReservation:CapacityReservation": [reserved(criteria)],
	"aws:ec2/launchTemplate:LaunchTemplate": templates,
}

test_a_reservation_that_a_template_names_is_allowed if {
	paths(stack(ec2("targeted", [template({}, {id: "reservation"})]), [h100("on_demand")])) == set()
}

test_an_open_reservation_is_allowed if paths(stack(ec2("open", []), [h100("on_demand")])) == set()

test_a_reservation_for_another_stack_is_not_judged if paths(stack(ec2("targeted", []), [])) == set()

test_a_reservation_that_a_node_class_may_select_is_not_judged if {
	class := {"urn": "class", "body": {"spec": {"capacityReservationSelectorTerms": [{"tags": {"team": "ml"}}]}}}
	given := object.union(
		stack(ec2("targeted", []), [h100("on_demand")]),
		{"objects": {"EC2NodeClass.karpenter.k8s.aws": [class]}},
	)
	paths(given) == set()
}

test_a_reservation_that_nothing_names_is_a_finding if {
	given := stack(ec2("targeted", [template({}, {})]), [h100("on_demand")])
	paths(given) == {["/instanceMatchCriteria", "advisory"]}
	some finding in reservations.deny with input as given
	finding.message == "no launch template names the reservation of p5.48xlarge, and group h100 takes p5.48xlarge without it"
}

gcp(references, unknown) := {
	"gcp:compute/reservation:Reservation": [{"urn": "reservation", "inputs": {
		"specificReservationRequired": true,
		"specificReservation": {"instanceProperties": {"machineType": "a3-highgpu-8g"}},
	}}],
	"gcp:container/nodePool:NodePool": [{"urn": "pool", "references": references, "unknown": unknown}],
}

a3 := {"name": "a3", "machine": "a3-highgpu-8g", "market": "on_demand"}

test_a_reservation_that_a_pool_names_is_allowed if {
	paths(stack(gcp({"/nodeConfig/reservationAffinity/values/0": "reservation"}, []), [a3])) == set()
	paths(stack(gcp({}, ["/nodeConfig/reservationAffinity/values/0"]), [a3])) == set()
}

test_a_reservation_that_no_pool_names_is_a_finding if {
	paths(stack(gcp({}, []), [a3])) == {["/specificReservationRequired", "advisory"]}
}

block := {
	"instanceMarketOptions": {"marketType": "capacity-block"},
	"capacityReservationSpecification": {"capacityReservationTarget": {"capacityReservationId": "cr-0123456789abcdef0"}},
}

eks(inputs, template_inputs) := {
	"aws:eks/nodeGroup:NodeGroup": [group(inputs)],
	"aws:ec2/launchTemplate:LaunchTemplate": [template(template_inputs, {})],
}

asked := {"capacityType": "CAPACITY_BLOCK", "launchTemplate": {}}

test_a_capacity_block_that_is_asked_for_as_one_is_allowed if paths(stack(eks(asked, block), [])) == set()

test_a_group_on_demand_is_allowed if paths(stack(eks({"launchTemplate": {}}, {}), [])) == set()

test_a_template_that_names_no_block_is_denied if {
	paths(stack(eks(asked, {"instanceMarketOptions": {"marketType": "capacity-block"}}), [])) == {
		["/capacityReservationSpecification", "mandatory"],
	}
}

test_a_group_that_does_not_say_that_it_has_a_block_is_denied if {
	paths(stack(eks({"launchTemplate": {}}, block), [])) == {["/capacityType", "mandatory"]}
}

test_a_group_whose_template_does_not_say_the_market_is_denied if {
	paths(stack(eks(asked, {}), [])) == {["/launchTemplate", "mandatory"]}
}

test_a_group_of_a_block_without_a_template_is_denied if {
	alone := object.union(group({"capacityType": "CAPACITY_BLOCK"}), {"references": {}})
	given := stack({"aws:eks/nodeGroup:NodeGroup": [object.remove(alone, ["references"])]}, [])
	paths(given) == {["/launchTemplate", "mandatory"]}
}
