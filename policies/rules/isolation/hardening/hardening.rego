# METADATA
# title: Containers of tenants give up what they do not need
# description: >-
#   A server that runs as root, may gain privileges or calls any function of the kernel turns one hole in a library into
#   a hole in its node, and its GPUs are other tenants' too. Kubernetes leaves all of this open unless a pod closes it.
# custom:
#   id: I10
#   severity: medium
#   level: advisory
#   on_unknown: skip
#   scope: resource
#   waivable: true
#   reads:
#     - {type: pod, path: /securityContext}
#     - {type: pod, path: /containers/*/securityContext}
#     - {type: pod, path: /initContainers/*/securityContext}
#     - {type: pod, path: /ephemeralContainers/*/securityContext}
#   refers:
#     - {type: "kubernetes:*", path: /metadata/namespace, to: "kubernetes:core/v1:Namespace"}
#   thresholds:
#     read_only_root:
#       type: boolean
#       default: true
#       description: Whether the root file system of a server must be read-only; that of a job need not.
#   frameworks:
#     - "Kubernetes Pod Security Standards: restricted"
#     - "NSA and CISA Kubernetes Hardening Guidance: Pod security"
#   remediation: >-
#     Set allowPrivilegeEscalation to false, drop ALL capabilities, run as a user other than root, give the pod the seccomp
#     profile RuntimeDefault and, to a server, a read-only root file system with volumes where it writes.
package gpuyard.rules.isolation.hardening

import data.gpuyard.lib.tenants

deny contains finding if {
	some pod in tenants.pods
	pod.whole == true
	not of_windows(pod)
	some item in pod.containers
	not privileged(item)
	open := [text | some check, text in checks(pod); not met(check, pod, item)]
	count(open) > 0
	path := sprintf("%v/securityContext", [item.path])
	finding := {
		"urn": pod.urn,
		"path": path,
		"message": sprintf("container %v %v", [named(item), concat(", ", sort(open))]),
		"rests_on": [path, sprintf("%v/securityContext", [pod.path]), tenants.namespace_of(pod)],
	}
}

named(item) := object.get(item.container, "name", "without a name")

# It gives nothing up: that is what isolation/privileged is about.
privileged(item) if own(item, ["privileged"]) == true

# It has no such users, capabilities or profiles.
of_windows(pod) if object.get(pod.spec, ["os", "name"], "") == "windows"

always := {
	"apparmor": "is left alone by AppArmor",
	"capabilities": "keeps capabilities",
	"escalation": "may gain privileges",
	"proc": "sees the unmasked /proc",
	"seccomp": "may call any function of the kernel (no seccomp profile)",
	"user": "may run as root",
}

checks(pod) := object.union(always, {"root": "may write to its root file system"}) if {
	pod.kind in ["Deployment", "LeaderWorkerSet", "ReplicaSet", "ReplicationController", "StatefulSet"]
	input.limits.thresholds["isolation/hardening"].read_only_root == true
} else := always

met("capabilities", _, item) if {
	dropped := own(item, ["capabilities", "drop"])
	is_array(dropped)
	some capability in dropped
	is_string(capability)
	upper(capability) == "ALL"
}

met("escalation", _, item) if own(item, ["allowPrivilegeEscalation"]) == false

met("apparmor", pod, item) if setting(pod, item, ["appArmorProfile", "type"]) != "Unconfined"

met("proc", _, item) if own(item, ["procMount"]) != "Unmasked"

met("root", _, item) if own(item, ["readOnlyRootFilesystem"]) == true

met("seccomp", pod, item) if {
	setting(pod, item, ["seccompProfile", "type"]) in ["Localhost", "RuntimeDefault"]
}

met("user", pod, item) if setting(pod, item, ["runAsNonRoot"]) == true

# Whoever names a user that is not root need not also say that it is none.
met("user", pod, item) if {
	user := setting(pod, item, ["runAsUser"])
	is_number(user)
	user > 0
	object.get(item.container, ["securityContext", "runAsNonRoot"], true) != false
}

own(item, steps) := object.get(item.container, array.concat(["securityContext"], steps), null)

# A container's own word goes over its pod's.
setting(pod, item, steps) := value if {
	value := own(item, steps)
	value != null
} else := object.get(pod.spec, array.concat(["securityContext"], steps), null)
