package gpuyard.rules.isolation.hardening_test

import data.gpuyard.rules.isolation.hardening

found(pods, read_only_root) := findings if {
	findings := {[finding.path, finding.message] | some finding in hardening.deny} with input as {
		"limits": {
			"namespaces": {"system": ["kube-*"], "privileged": ["gpu-operator"]},
			"thresholds": {"isolation/hardening": {"read_only_root": read_only_root}},
		},
		"pods": pods,
	}
}

denied(pods) := {path | some [path, _] in found(pods, true)}

pod(kind, spec, context) := {
	"urn": "u",
	"object": "",
	"path": "/spec",
	"kind": kind,
	"namespace": "fraud",
	"whole": true,
	"spec": spec,
	"containers": [{"path": "/spec/containers/0", "container": {"name": "c", "securityContext": context}}],
}

hard := {
	"allowPrivilegeEscalation": false,
	"capabilities": {"drop": ["ALL"]},
	"readOnlyRootFilesystem": true,
	"runAsNonRoot": true,
	"seccompProfile": {"type": "RuntimeDefault"},
}

all := {"/spec/containers/0/securityContext"}

test_a_hardened_container_is_allowed if denied([pod("Deployment", {}, hard)]) == set()

test_what_the_pod_says_for_all_its_containers_is_allowed if {
	of_the_pod := {"securityContext": {"runAsUser": 1000, "seccompProfile": {"type": "Localhost"}}}
	denied([pod("Deployment", of_the_pod, object.remove(hard, ["runAsNonRoot", "seccompProfile"]))]) == set()
}

test_a_job_that_writes_to_its_root_is_allowed if {
	denied([pod("Job", {}, object.remove(hard, ["readOnlyRootFilesystem"]))]) == set()
}

test_a_server_that_writes_to_its_root_is_allowed_where_the_limits_say_so if {
	found([pod("Deployment", {}, object.remove(hard, ["readOnlyRootFilesystem"]))], false) == set()
}

test_pods_of_the_platform_are_not_judged if {
	denied([
		object.union(pod("Deployment", {}, {}), {"namespace": "kube-system"}),
		object.union(pod("Deployment", {}, {}), {"namespace": "gpu-operator"}),
	]) == set()
}

test_a_pod_of_which_somebody_else_says_the_rest_is_not_judged if {
	denied([object.union(pod("InferenceService", {}, {}), {"whole": false})]) == set()
}

test_a_privileged_container_is_not_judged if denied([pod("Deployment", {}, {"privileged": true})]) == set()

test_a_pod_of_windows_is_not_judged if denied([pod("Deployment", {"os": {"name": "windows"}}, {})]) == set()

test_a_container_that_says_nothing_is_denied_once_with_all_that_it_lacks if {
	found([pod("Deployment", {}, {})], true) == {[
		"/spec/containers/0/securityContext",
		concat(", ", [
			"container c keeps capabilities",
			"may call any function of the kernel (no seccomp profile)",
			"may gain privileges",
			"may run as root",
			"may write to its root file system",
		]),
	]}
}

test_each_thing_that_is_left_open_is_denied if {
	every key in object.keys(hard) {
		denied([pod("Deployment", {}, object.remove(hard, [key]))]) == all
	}
}

test_a_container_that_takes_back_what_its_pod_says_is_denied if {
	of_the_pod := {"securityContext": {"runAsNonRoot": true, "seccompProfile": {"type": "RuntimeDefault"}}}
	denied([pod("Job", of_the_pod, object.union(hard, {"runAsNonRoot": false}))]) == all
	denied([pod("Job", of_the_pod, object.union(hard, {"seccompProfile": {"type": "Unconfined"}}))]) == all
}

test_a_pod_whose_namespace_is_not_known_is_judged_and_says_what_it_rests_on if {
	unknown := object.remove(pod("Deployment", {}, {}), ["namespace"])
	findings := [finding | some finding in hardening.deny] with input as {
		"limits": {"namespaces": {"system": [], "privileged": []}, "thresholds": {"isolation/hardening": {"read_only_root": true}}},
		"pods": [unknown],
	}
	"/metadata/namespace" in findings[0].rests_on
}
