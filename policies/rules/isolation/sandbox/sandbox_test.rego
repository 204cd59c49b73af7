package gpuyard.rules.isolation.sandbox_test

import data.gpuyard.rules.isolation.sandbox

found(given) := findings if {
	limits := {
		"namespaces": {"system": ["kube-*"], "privileged": []},
		"thresholds": {"isolation/sandbox": {
			"untrusted": ["trust=untrusted"],
			"regulated": ["data=regulated"],
			"sandboxes": ["gvisor", "kata-*"],
			"confidential": ["kata-*-snp", "kata-*-tdx"],
		}},
	}
	findings := {finding.message | some finding in sandbox.deny} with input as object.union({"limits": limits}, given)
}

pod(labels, class) := {
	"urn": "u",
	"object": "",
	"path": "/spec",
	"namespace": "fraud",
	"whole": true,
	"labels": {},
	"pod_labels": labels,
	"spec": {"runtimeClassName": class},
}

untrusted := {"trust": "untrusted"}

regulated := {"data": "regulated"}

test_a_pod_that_nobody_has_labelled_is_allowed if found({"pods": [pod({"trust": "own"}, "")]}) == set()

test_untrusted_code_in_a_sandbox_is_allowed if {
	found({"pods": [pod(untrusted, "gvisor"), pod(untrusted, "kata-qemu-nvidia-gpu")]}) == set()
}

test_regulated_data_in_encrypted_memory_is_allowed if {
	found({"pods": [pod(regulated, "kata-qemu-nvidia-gpu-snp"), pod(object.union(regulated, untrusted), "kata-qemu-tdx")]}) == set()
}

test_a_class_of_another_name_is_allowed_for_its_handler if {
	class := {"urn": "c", "name": "boxed", "body": {"handler": "gvisor"}}
	found({"pods": [pod(untrusted, "boxed")], "objects": {"RuntimeClass.node.k8s.io": [class]}}) == set()
}

test_pods_of_the_platform_are_not_judged if {
	found({"pods": [object.union(pod(untrusted, ""), {"namespace": "kube-system"})]}) == set()
}

test_untrusted_code_outside_a_sandbox_is_denied if {
	found({"pods": [object.union(pod(untrusted, "x"), {"spec": {"runtimeClassName": "nvidia"}})]}) == {concat(": ", [
		"the pod runs untrusted code (trust=untrusted) in runtime class nvidia",
		"give it one with a kernel of its own, as gvisor, kata-*, kata-*-snp, kata-*-tdx",
	])}
	count(found({"pods": [pod(untrusted, "")]})) == 1
}

test_regulated_data_in_a_mere_sandbox_is_denied if count(found({"pods": [pod(regulated, "gvisor")]})) == 1

test_the_label_of_a_namespace_is_judged_as_its_pods_own if {
	namespace := {"urn": "n", "name": "fraud", "body": {"metadata": {"labels": untrusted}}}
	count(found({"pods": [pod({}, "")], "objects": {"Namespace": [namespace]}})) == 1
}

test_a_class_whose_handler_is_no_sandbox_is_denied if {
	class := {"urn": "c", "name": "boxed", "body": {"handler": "runc"}}
	count(found({"pods": [pod(untrusted, "boxed")], "objects": {"RuntimeClass.node.k8s.io": [class]}})) == 1
}
