package gpuyard.rules.cloud.regions_test

import data.gpuyard.rules.cloud.regions

found(places, defaults) := findings if {
	findings := regions.deny with input as {
		"urn": "stack",
		"environment": "production",
		"places": places,
		"default_places": defaults,
		"limits": {"thresholds": {"cloud/regions": {"regions": ["eu-*", "europe-west4", "eu"], "zones": ["*a", "*b"]}}},
	}
}

denied(place) := {finding.path | some finding in found([object.union({"urn": "r", "path": "/region"}, place)], {})}

test_regions_of_the_list_are_allowed if {
	denied({"region": "eu-west-1"}) == set()
	denied({"region": "europe-west4", "zone": "europe-west4-a"}) == set()
	denied({"region": "eu"}) == set()
}

test_other_regions_are_denied if {
	denied({"region": "us-east-1"}) == {"/region"}
	denied({"region": "europe-west1"}) == {"/region"}
	denied({"region": "us"}) == {"/region"}
}

test_zones_of_the_list_are_allowed if denied({"region": "eu-west-1", "zone": "eu-west-1b"}) == set()

test_other_zones_are_denied if denied({"region": "eu-west-1", "zone": "eu-west-1c"}) == {"/region"}

test_the_default_provider_is_a_finding_of_the_stack if {
	some finding in found([], {"/config/aws:region": {"region": "us-east-1"}})
	finding.urn == "stack"
	finding.path == "/config/aws:region"
	finding.message == "region us-east-1 is not allowed in production: allowed are eu-*, europe-west4, eu"
}
