package gpuyard.rules.waivers.expires_test

import data.gpuyard.rules.waivers.expires

waiver := {
	"place": "/waivers/prod/quota~1machines/gpu",
	"ticket": "ML-1",
	"rule": "quota/machines",
	"resource": "gpu",
	"expires": "2026-12-07",
	"days": 7,
	"state": "in force",
	"used": true,
}

found(changes, days) := denied if {
	limits := {"thresholds": {"waivers/expires": {"days": days}}}
	denied := expires.deny with input as {"urn": "stack", "limits": limits, "waivers": [object.union(waiver, changes)]}
}

test_a_waiver_with_days_left_is_allowed if found({"days": 8}, 7) == set()

test_one_that_waives_nothing_or_is_not_in_force_is_allowed if {
	found({"used": false}, 7) == set()
	found({"state": "expired", "days": -1}, 7) == set()
	found({"state": "not yet"}, 7) == set()
}

test_a_waiver_near_its_end_is_denied if {
	message := "the waiver ML-1 of quota/machines for gpu expires in 7 days, on 2026-12-07"
	found({}, 7) == {{"urn": "stack", "path": "/waivers/prod/quota~1machines/gpu", "message": message}}
	count(found({"days": 0}, 7)) == 1
}

test_the_threshold_decides_how_early_it_is_denied if {
	found({}, 6) == set()
	count(found({"days": 30}, 30)) == 1
}
