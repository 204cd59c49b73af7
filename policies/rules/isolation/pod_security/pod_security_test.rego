package gpuyard.rules.isolation.pod_security_test

import data.gpuyard.rules.isolation.pod_security

found(namespace, thresholds) := findings if {
	findings := {[finding.path, object.get(finding, "level", "mandatory")] | some finding in pod_security.deny} with input as {
		"limits": {
			"namespaces": {"system": ["kube-*"], "privileged": ["gpu-operator"]},
			"thresholds": {"isolation/pod_security": thresholds},
		},
		"objects": {"Namespace": [namespace]},
	}
}

denied(namespace) := found(namespace, {"least": "baseline", "pinned": true})

named(name, labels) := {"urn": "u", "path": "", "name": name, "patch": false, "body": {"metadata": {"labels": labels}}}

level(given) := {"pod-security.kubernetes.io/enforce": given, "pod-security.kubernetes.io/enforce-version": "v1.35"}

of_level := "/metadata/labels/pod-security.kubernetes.io~1enforce"

of_version := "/metadata/labels/pod-security.kubernetes.io~1enforce-version"

test_a_level_with_its_version_is_allowed if {
	denied(named("fraud", level("baseline"))) == set()
	denied(named("fraud", level("restricted"))) == set()
}

test_namespaces_of_the_platform_are_not_judged if {
	denied(named("kube-system", {})) == set()
	denied(named("gpu-operator", {})) == set()
}

test_a_patch_of_a_namespace_that_others_made_is_not_judged if {
	denied(object.union(named("fraud", {}), {"patch": true})) == set()
}

test_a_namespace_without_the_label_is_denied if {
	denied(named("fraud", {"team": "fraud"})) == {[of_level, "mandatory"]}
	denied({"urn": "u", "path": "", "name": "fraud", "patch": false, "body": {}}) == {[of_level, "mandatory"]}
}

test_a_label_that_only_warns_is_denied if {
	denied(named("fraud", {"pod-security.kubernetes.io/warn": "restricted"})) == {[of_level, "mandatory"]}
}

test_the_level_privileged_is_denied if denied(named("fraud", level("privileged"))) == {[of_level, "mandatory"]}

test_a_level_that_there_is_not_is_denied if denied(named("fraud", level("Restricted"))) == {[of_level, "mandatory"]}

test_a_stricter_least_level_is_the_limits_to_choose if {
	found(named("fraud", level("baseline")), {"least": "restricted", "pinned": true}) == {[of_level, "mandatory"]}
}

test_a_level_without_its_version_is_denied_as_advice if {
	denied(named("fraud", {"pod-security.kubernetes.io/enforce": "restricted"})) == {[of_version, "advisory"]}
	latest := object.union(level("baseline"), {"pod-security.kubernetes.io/enforce-version": "latest"})
	denied(named("fraud", latest)) == {[of_version, "advisory"]}
	found(named("fraud", latest), {"least": "baseline", "pinned": false}) == set()
}

test_the_message_says_what_to_set if {
	some finding in pod_security.deny with input as {
		"limits": {
			"namespaces": {"system": [], "privileged": []},
			"thresholds": {"isolation/pod_security": {"least": "baseline", "pinned": true}},
		},
		"objects": {"Namespace": [named("fraud", {})]},
	}
	finding.message == concat(": ", [
		"namespace fraud enforces no level of Pod Security",
		"set the label pod-security.kubernetes.io/enforce to baseline",
	])
}
