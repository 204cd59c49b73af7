# METADATA
# title: Reserved capacity is there while the stack runs
# description: >-
#   A Capacity Block, and a reservation with an end, gives machines from one day to another. Before, nothing starts; at
#   the end the cloud takes the machines away, half an hour early at EC2, whatever runs on them. A stack that counts on
#   capacity that is over never gets its nodes.
# custom:
#   id: Q10
#   severity: high
#   level: mandatory
#   on_unknown: skip
#   scope: sum
#   waivable: true
#   reads:
#     - {type: "aws:ec2/capacityReservation:CapacityReservation", path: /endDate}
#     - {type: "gcp:compute/futureReservation:FutureReservation", path: /timeWindow}
#     - {type: "gcp:compute/reservation:Reservation", path: /deleteAtTime}
#     - {type: "gpuyard:index:EksNodeGroup", path: /capacity}
#     - {type: "gpuyard:index:GkeNodeGroup", path: /capacity}
#   remediation: >-
#     Reserve again and give the new id, start and end, or take the group out before the end: its pods must have gone
#     somewhere else by then. How early an end is told is `capacity_window` in policies/limits.
package gpuyard.rules.capacity.window

deny contains {"urn": window.urn, "path": window.path, "message": message, "rests_on": [window.path]} if {
	some window in windows
	is_number(window.ends_in_days)
	window.ends_in_days < 0
	message := sprintf("%v has ended: it was to be used until %v, and the review is of %v", [
		window.what,
		window.end,
		input.date,
	])
}

deny contains finding if {
	some window in windows
	is_number(window.ends_in_days)
	window.ends_in_days >= 0
	limit := input.limits.capacity_window.ends_within_days
	window.ends_in_days < limit
	not later(window)
	finding := {
		"urn": window.urn,
		"path": window.path,
		"message": sprintf("%v ends at %v, %v after the review of %v", [
			window.what,
			window.end,
			counted(window.ends_in_days),
			input.date,
		]),
		"level": "advisory",
		"rests_on": [window.path],
	}
}

deny contains finding if {
	some window in windows
	later(window)
	finding := {
		"urn": window.urn,
		"path": window.path,
		"message": sprintf("%v begins at %v, %v after the review of %v: until then the group has no machine of it", [
			window.what,
			window.start,
			counted(window.starts_in_days),
			input.date,
		]),
		"level": "advisory",
		"rests_on": [window.path],
	}
}

windows contains window if {
	is_array(input.capacity.windows)
	some window in input.capacity.windows
	is_object(window)
	is_string(window.urn)
	is_string(window.path)
	is_string(window.what)
}

later(window) if {
	is_number(window.starts_in_days)
	window.starts_in_days > 0
}

counted(days) := "less than a day" if days == 0

else := "1 day" if days == 1

else := sprintf("%v days", [days])
