# METADATA
# title: Reserved capacity is used, and a Capacity Block is asked for as one
# description: >-
#   A reservation is charged whether machines run in it or not. While nothing names one that must be named, groups of the
#   same machines pay on demand beside it. A Capacity Block starts machines only for a launch template that says its
#   market and its reservation, and for a node group that says it has one.
# custom:
#   id: Q10-B
#   severity: high
#   level: advisory
#   on_unknown: skip
#   scope: stack
#   waivable: true
#   reads:
#     - {type: "aws:ec2/capacityReservation:CapacityReservation", path: /instanceMatchCriteria}
#     - {type: "aws:ec2/capacityReservation:CapacityReservation", path: /instanceType}
#     - {type: "aws:ec2/launchTemplate:LaunchTemplate", path: /instanceMarketOptions/marketType}
#     - {type: "aws:eks/nodeGroup:NodeGroup", path: /capacityType}
#     - {type: "gcp:compute/reservation:Reservation", path: /specificReservationRequired}
#     - {type: "gcp:container/nodePool:NodePool", path: /nodeConfig/reservationAffinity, fires: true}
#   refers:
#     - {type: "aws:ec2/launchTemplate:LaunchTemplate", path: /capacityReservationSpecification/capacityReservationTarget/capacityReservationId, to: "aws:ec2/capacityReservation:CapacityReservation"}
#     - {type: "aws:eks/nodeGroup:NodeGroup", path: /launchTemplate/id, to: "aws:ec2/launchTemplate:LaunchTemplate"}
#     - {type: "aws:eks/nodeGroup:NodeGroup", path: /launchTemplate/name, to: "aws:ec2/launchTemplate:LaunchTemplate"}
#     - {type: "gcp:container/nodePool:NodePool", path: /nodeConfig/reservationAffinity/values/0, to: "gcp:compute/reservation:Reservation"}
#   remediation: >-
#     Name the reservation in the launch template, the node pool or the EC2NodeClass, or give it up. For a Capacity Block
#     set marketType capacity-block and the reservation in the launch template, and capacityType CAPACITY_BLOCK in the
#     node group.
package gpuyard.rules.capacity.reservations

# --- EC2: a reservation for those that name it, and machines of its type beside it

deny contains {"urn": reservation.urn, "path": "/instanceMatchCriteria", "message": message} if {
	some reservation in input.by_type["aws:ec2/capacityReservation:CapacityReservation"]
	reservation.inputs.instanceMatchCriteria == "targeted"
	not used(reservation)
	count(perhaps) == 0
	group := beside(reservation.inputs.instanceType)
	message := sprintf("no launch template names the reservation of %v, and group %v takes %v without it", [
		reservation.inputs.instanceType,
		group,
		reservation.inputs.instanceType,
	])
}

used(reservation) if reservation.urn in named

named contains urn if {
	some template in input.by_type["aws:ec2/launchTemplate:LaunchTemplate"]
	urn := template.references["/capacityReservationSpecification/capacityReservationTarget/capacityReservationId"]
}

named contains urn if {
	some pool in input.by_type["gcp:container/nodePool:NodePool"]
	urn := pool.references["/nodeConfig/reservationAffinity/values/0"]
}

# What may name it in another way than by its id.
perhaps contains template.urn if {
	some template in input.by_type["aws:ec2/launchTemplate:LaunchTemplate"]
	some path in template.unknown
	startswith(path, "/capacityReservationSpecification")
	reference := "/capacityReservationSpecification/capacityReservationTarget/capacityReservationId"
	object.get(template.references, reference, "") == ""
}

perhaps contains template.urn if {
	some template in input.by_type["aws:ec2/launchTemplate:LaunchTemplate"]
	target := template.inputs.capacityReservationSpecification.capacityReservationTarget
	is_string(target.capacityReservationResourceGroupArn)
}

perhaps contains class.urn if {
	some class in input.objects["EC2NodeClass.karpenter.k8s.aws"]
	is_array(class.body.spec.capacityReservationSelectorTerms)
	count(class.body.spec.capacityReservationSelectorTerms) > 0
}

perhaps contains pool.urn if {
	some pool in input.by_type["gcp:container/nodePool:NodePool"]
	some path in pool.unknown
	startswith(path, "/nodeConfig/reservationAffinity")
	object.get(pool.references, "/nodeConfig/reservationAffinity/values/0", "") == ""
}

# The first group of those machines that pays by the hour.
beside(machine) := min({group.name |
	is_array(input.capacity.groups)
	some group in input.capacity.groups
	group.machine == machine
	group.market in ["on_demand", "spot"]
	object.get(group, ["nodes", "max"], 1) != 0
})

# --- Google Cloud

deny contains {"urn": reservation.urn, "path": "/specificReservationRequired", "message": message} if {
	some reservation in input.by_type["gcp:compute/reservation:Reservation"]
	reservation.inputs.specificReservationRequired == true
	not used(reservation)
	count(perhaps) == 0
	machine := reservation.inputs.specificReservation.instanceProperties.machineType
	group := beside(machine)
	message := sprintf("no node pool names the reservation of %v, and pool %v takes %v without it", [machine, group, machine])
}

# --- Capacity Blocks

deny contains {"urn": template.urn, "path": "/capacityReservationSpecification", "level": "mandatory", "message": message} if {
	some template in input.by_type["aws:ec2/launchTemplate:LaunchTemplate"]
	block(template)
	not targets(template)
	message := "the launch template asks for a Capacity Block and names none: no machine starts"
}

deny contains {"urn": group.urn, "path": "/capacityType", "level": "mandatory", "message": message} if {
	some group in input.by_type["aws:eks/nodeGroup:NodeGroup"]
	some template in templates_of(group)
	block(template)
	object.get(group.inputs, "capacityType", "ON_DEMAND") != "CAPACITY_BLOCK"
	message := "the launch template asks for a Capacity Block, and the capacityType of the node group is not CAPACITY_BLOCK"
}

deny contains {"urn": group.urn, "path": "/launchTemplate", "level": "mandatory", "message": message} if {
	some group in input.by_type["aws:eks/nodeGroup:NodeGroup"]
	group.inputs.capacityType == "CAPACITY_BLOCK"
	some template in templates_of(group)
	not block(template)
	message := "the node group is of a Capacity Block, and the marketType of its launch template is not capacity-block"
}

deny contains {"urn": group.urn, "path": "/launchTemplate", "level": "mandatory", "message": message} if {
	some group in input.by_type["aws:eks/nodeGroup:NodeGroup"]
	group.inputs.capacityType == "CAPACITY_BLOCK"
	object.get(group.inputs, "launchTemplate", null) == null
	not unclear(group)
	message := "the node group is of a Capacity Block and has no launch template, which must name it"
}

unclear(group) if "/launchTemplate" in group.unknown

block(template) if template.inputs.instanceMarketOptions.marketType == "capacity-block"

targets(template) if is_object(template.inputs.capacityReservationSpecification.capacityReservationTarget)

targets(template) if {
	some path in template.unknown
	startswith(path, "/capacityReservationSpecification")
}

templates_of(group) := [template |
	some key in ["/launchTemplate/id", "/launchTemplate/name"]
	urn := group.references[key]
	some template in input.by_type["aws:ec2/launchTemplate:LaunchTemplate"]
	template.urn == urn
]
