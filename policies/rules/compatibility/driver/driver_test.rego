package gpuyard.rules.compatibility.driver_test

import data.gpuyard.rules.compatibility.driver

line(status, reason) := {
	"urn": "u",
	"path": "/spec/containers/0/image",
	"group": "h100",
	"machine": "p5.48xlarge",
	"status": status,
	"reason": reason,
}

found(lines) := findings if {
	findings := {finding | some finding in driver.deny} with input as {"compatibility": lines}
}

test_what_is_refused_is_denied_with_its_reason if {
	some finding in found([line("refused", "the driver is 550, and it needs 580: give a newer one")])
	finding == {
		"urn": "u",
		"path": "/spec/containers/0/image",
		"message": "on node group h100: the driver is 550, and it needs 580: give a newer one",
	}
}

test_what_is_not_known_is_a_finding_that_warns if {
	some finding in found([line("unknown", "the driver of the nodes is not known")])
	finding.level == "advisory"
	finding.message == "whether it runs on node group h100 is not known: the driver of the nodes is not known"
}

test_a_program_without_such_lines_is_allowed if {
	found([]) == set()
	found({"a": "b"}) == set()
	found(["a", 1]) == set()
}

test_another_status_is_not_judged if found([line("ok", "")]) == set()
