package gpuyard.rules.serving.vllm_version_test

import data.gpuyard.rules.serving.vllm_version

item(product, version, floor, holes) := {
	"urn": "u",
	"path": "/spec/containers/0/image",
	"source": "image",
	"named": sprintf("image %v:%v", [product, version]),
	"product": product,
	"version": version,
	"floor": floor,
	"beyond": "",
	"holes": holes,
}

hole(cve, severity, fixed) := {"cves": [cve], "severity": severity, "fixed": fixed, "through": ""}

found(items) := findings if {
	limits := {"thresholds": {"serving/vllm_version": {"deny": ["critical", "high"]}}}
	findings := {finding | some finding in vllm_version.deny} with input as {"software": items, "limits": limits}
}

test_a_version_without_known_holes_is_allowed if found([item("vllm", "9.9.9", "", [])]) == set()

test_other_software_is_not_judged if found([item("other", "1", "2", [hole("CVE-2026-0001", "critical", "2")])]) == set()

test_a_version_with_holes_is_denied if {
	holes := [hole("CVE-2026-0001", "critical", "1.5"), hole("CVE-2026-0002", "medium", "2.0")]
	some finding in found([item("vllm", "1.0", "2.0", holes)])
	finding == {
		"urn": "u",
		"path": "/spec/containers/0/image",
		"message": "image vllm:1.0 has CVE-2026-0001 (critical), CVE-2026-0002 (medium): use 2.0 or later",
		"rests_on": ["/spec/containers/0/image"],
	}
}

test_a_hole_that_is_not_severe_is_a_finding_that_warns if {
	some finding in found([item("vllm", "1.0", "2.0", [hole("CVE-2026-0002", "medium", "2.0")])])
	finding.level == "advisory"
}

test_the_last_version_that_is_known_to_have_a_hole_is_told if {
	known := object.union(item("vllm", "1.0", "", [hole("CVE-2026-0003", "unknown", "")]), {"beyond": "1.2"})
	some finding in found([known])
	finding.level == "advisory"
	finding.message == "image vllm:1.0 has CVE-2026-0003 (unknown): use a version after 1.2"
}

test_a_version_that_nobody_can_tell_is_a_finding_that_warns if {
	some finding in found([item("vllm", "", "", [])])
	finding.level == "advisory"
	finding.message == "image vllm: does not say which version it is, so known holes cannot be ruled out"
}
