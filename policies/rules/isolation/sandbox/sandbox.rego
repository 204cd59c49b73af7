# METADATA
# title: Untrusted code runs in a sandbox
# description: >-
#   A container shares its node's kernel and driver with every other, and each of the container toolkit's escapes began in
#   an image that somebody else wrote. What is labelled untrusted needs a kernel of its own, and what is labelled regulated
#   memory that not even the node reads.
# custom:
#   id: I7
#   severity: high
#   level: mandatory
#   on_unknown: deny
#   scope: stack
#   waivable: true
#   reads:
#     - {type: pod, path: /runtimeClassName, fires: true}
#   refers:
#     - {type: "kubernetes:*", path: /metadata/namespace, to: "kubernetes:core/v1:Namespace"}
#   thresholds:
#     untrusted:
#       type: texts
#       default: ["trust=untrusted"]
#       description: Labels, as name=value, of pods and namespaces whose code nobody vouches for.
#     regulated:
#       type: texts
#       default: ["data=regulated"]
#       description: Labels, as name=value, of pods and namespaces whose data the law protects.
#     sandboxes:
#       type: texts
#       default: [gvisor, runsc, kata, "kata-*"]
#       description: Runtime classes, or their handlers, that give a pod a kernel of its own; * stands for any characters.
#     confidential:
#       type: texts
#       default: ["kata-*-snp", "kata-*-tdx"]
#       description: The same for those that also encrypt its memory.
#   frameworks:
#     - "NSA and CISA Kubernetes Hardening Guidance: Pod security"
#   cves: [CVE-2024-0132, CVE-2025-23266, CVE-2025-23359]
#   remediation: >-
#     Give the pod a runtimeClassName of the lists `sandboxes` and `confidential` in the thresholds of this rule, such as
#     gvisor or kata-qemu-nvidia-gpu, on nodes that have it.
package gpuyard.rules.isolation.sandbox

import data.gpuyard.lib.match
import data.gpuyard.lib.tenants

thresholds := input.limits.thresholds["isolation/sandbox"]

demands := {
	"regulated": {"classes": thresholds.confidential, "what": "holds regulated data", "need": "with encrypted memory"},
	"untrusted": {"classes": array.concat(thresholds.sandboxes, thresholds.confidential), "what": "runs untrusted code", "need": "with a kernel of its own"},
}

deny contains finding if {
	some pod in tenants.pods
	pod.whole == true
	some name, demand in demands
	label := labelled(pod, thresholds[name])
	class := object.get(pod.spec, "runtimeClassName", "")
	not fits(class, demand)
	path := sprintf("%v/runtimeClassName", [pod.path])
	finding := {
		"urn": pod.urn,
		"path": path,
		"message": sprintf("the pod %v (%v) in %v: give it one %v, as %v", [
			demand.what,
			label,
			shown(class),
			demand.need,
			concat(", ", demand.classes),
		]),
		"rests_on": [path, tenants.namespace_of(pod)],
	}
}

shown("") := "the node's own runtime"

shown(class) := sprintf("runtime class %v", [class]) if class != ""

fits(class, demand) if {
	is_string(class)
	not bare(class)
	match.one_of(demand.classes, class)
}

# Whatever it is called, a class that starts an ordinary runtime is no sandbox.
bare(class) if {
	some found in input.objects["RuntimeClass.node.k8s.io"]
	found.name == class
	object.get(found.body, "handler", "") in ["crun", "nvidia", "nvidia-cdi", "nvidia-legacy", "runc"]
}

# A class may have any name: what it starts is its handler.
fits(class, demand) if {
	some found in input.objects["RuntimeClass.node.k8s.io"]
	found.name == class
	handler := object.get(found.body, "handler", "")
	is_string(handler)
	match.one_of(demand.classes, handler)
}

# The first of the labels, of the pod, of what makes it and of its namespace, that is one of these.
labelled(pod, wanted) := sort(found)[0] if {
	found := {text |
		some labels in array.concat([pod.labels, pod.pod_labels], of_namespace(pod))
		is_object(labels)
		some name, value in labels
		text := sprintf("%v=%v", [name, value])
		text in wanted
	}
	count(found) > 0
}

of_namespace(pod) := [labels |
	some namespace in input.objects.Namespace
	namespace.name == pod.namespace
	labels := object.get(namespace.body, ["metadata", "labels"], {})
]
