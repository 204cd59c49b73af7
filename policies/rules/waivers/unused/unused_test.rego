package gpuyard.rules.waivers.unused_test

import data.gpuyard.rules.waivers.unused

waiver := {
	"place": "/waivers/prod/quota~1machines/gpu",
	"ticket": "ML-1",
	"rule": "quota/machines",
	"resource": "gpu",
	"expires": "2026-12-31",
	"state": "in force",
	"resources": 0,
	"used": false,
}

found(changes) := denied if {
	denied := unused.deny with input as {"urn": "stack", "waivers": [object.union(waiver, changes)]}
}

test_a_waiver_that_is_used_is_allowed if found({"used": true}) == set()

test_a_waiver_that_is_not_in_force_yet_is_allowed if found({"state": "not yet"}) == set()

test_no_waiver_at_all_is_allowed if {
	unused.deny == set() with input as {"urn": "stack", "waivers": []}
	unused.deny == set() with input as {"urn": "stack"}
}

test_a_waiver_that_waives_nothing_is_denied if {
	message := "the waiver ML-1 of quota/machines for gpu waives nothing: the rule finds nothing there"
	found({}) == {{"urn": "stack", "path": "/waivers/prod/quota~1machines/gpu", "message": message}}
}

test_a_name_of_two_resources_is_denied if {
	some finding in found({"resources": 2})
	contains(finding.message, "that of 2 resources")
}

test_an_expired_waiver_that_nobody_needs_is_denied if {
	some finding in found({"state": "expired"})
	endswith(finding.message, "it has expired on 2026-12-31")
}
