package gpuyard.rules.capacity.window_test

import data.gpuyard.rules.capacity.window

found(windows) := levels if {
	levels := {finding.message: object.get(finding, "level", "mandatory") | some finding in window.deny} with input as {
		"urn": "stack",
		"date": "2026-11-30",
		"limits": {"capacity_window": {"ends_within_days": 7}},
		"capacity": {"windows": windows},
	}
}

block := {
	"urn": "u",
	"path": "/capacity/end",
	"what": "Capacity Block cr-1",
	"start": "2026-11-20T11:30:00Z",
	"end": "2026-12-10T11:30:00Z",
	"starts_in_days": -10,
	"ends_in_days": 10,
}

test_a_block_that_runs_is_allowed if found([block]) == {}

test_a_block_that_is_over_is_denied if {
	found([object.union(block, {"end": "2026-11-29T11:30:00Z", "ends_in_days": -1})]) == {
		"Capacity Block cr-1 has ended: it was to be used until 2026-11-29T11:30:00Z, and the review is of 2026-11-30": "mandatory",
	}
}

test_a_block_that_ends_soon_is_told if {
	found([object.union(block, {"end": "2026-12-01T11:30:00Z", "ends_in_days": 1})]) == {
		"Capacity Block cr-1 ends at 2026-12-01T11:30:00Z, 1 day after the review of 2026-11-30": "advisory",
	}
}

test_a_block_that_begins_later_is_told if {
	later := {"start": "2026-12-05T11:30:00Z", "starts_in_days": 5, "ends_in_days": 6}
	message := concat("", [
		"Capacity Block cr-1 begins at 2026-12-05T11:30:00Z, 5 days after the review of 2026-11-30: ",
		"until then the group has no machine of it",
	])
	found([object.union(block, later)]) == {message: "advisory"}
}

test_a_window_that_is_not_known_is_allowed if {
	found([{"urn": "u", "path": "/endDate", "what": "the capacity reservation"}]) == {}
}
