package gpuyard.rules.waivers.break_glass_test

import data.gpuyard.rules.waivers.break_glass

glass := {
	"place": "/break_glass/prod/INC-1/2026-11-30T08:00:00Z",
	"ticket": "INC-1",
	"by": "anna",
	"approver": "ben",
	"reason": "no capacity",
	"from": "2026-11-30T08:00:00Z",
	"until": "2026-11-30T12:00:00Z",
	"rules": ["quota/machines", "cost/budget"],
	"state": "in force",
}

found(changes) := denied if {
	denied := break_glass.deny with input as {"urn": "stack", "break_glass": [object.union(glass, changes)]}
}

test_none_is_allowed if {
	break_glass.deny == set() with input as {"urn": "stack", "break_glass": []}
	break_glass.deny == set() with input as {"urn": "stack"}
}

test_one_that_is_yet_to_come_is_allowed if found({"state": "not yet"}) == set()

test_one_in_force_is_denied_loudly if {
	message := concat("", [
		"BREAK GLASS until 2026-11-30T12:00:00Z: what denies does not, of quota/machines, cost/budget ",
		"(INC-1, for anna, approved by ben: no capacity)",
	])
	found({}) == {{"urn": "stack", "path": "/break_glass/prod/INC-1/2026-11-30T08:00:00Z", "message": message}}
}

test_one_that_has_ended_is_denied_until_it_is_removed if {
	some finding in found({"state": "expired"})
	finding.message == "the break-glass INC-1 of anna has ended on 2026-11-30T12:00:00Z: it must be removed"
}
