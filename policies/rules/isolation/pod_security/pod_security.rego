# METADATA
# title: A tenant's namespace refuses privileged pods by itself
# description: >-
#   The review sees the pods of a program; people and controllers make others. The label of Pod Security has the cluster
#   refuse those that are privileged, from whomever they come, and without it a namespace takes them all.
# custom:
#   id: I3
#   severity: high
#   level: mandatory
#   on_unknown: deny
#   scope: resource
#   waivable: true
#   reads:
#     - {type: "kubernetes:core/v1:Namespace", path: /metadata/labels}
#     - {type: "kubernetes:core/v1:Namespace", path: /metadata/name, fires: true}
#   thresholds:
#     least:
#       type: text
#       default: baseline
#       description: The least strict level that may be enforced, baseline or restricted.
#     pinned:
#       type: boolean
#       default: true
#       description: Whether the label must name the version of the levels that it means; one that does not only warns.
#   frameworks:
#     - "Kubernetes Pod Security Standards"
#     - "NSA and CISA Kubernetes Hardening Guidance: Pod security"
#   remediation: >-
#     Label the namespace with pod-security.kubernetes.io/enforce: restricted, or baseline, and with
#     pod-security.kubernetes.io/enforce-version: the cluster's minor version, such as v1.35. A namespace of the platform
#     belongs to `namespaces.system` in policies/limits.
package gpuyard.rules.isolation.pod_security

import data.gpuyard.lib.tenants

level := "pod-security.kubernetes.io/enforce"

version := "pod-security.kubernetes.io/enforce-version"

strictness := {"privileged": 0, "baseline": 1, "restricted": 2}

thresholds := input.limits.thresholds["isolation/pod_security"]

deny contains finding if {
	some namespace in tenants.namespaces
	given := label(namespace, level, "")
	object.get(strictness, given, 0) < object.get(strictness, thresholds.least, 2)
	finding := {
		"urn": namespace.urn,
		"path": place(namespace, level),
		"message": sprintf("namespace %v %v: set the label %v to %v", [shown(namespace), meaning(given), level, thresholds.least]),
		"rests_on": rests_on(namespace),
	}
}

deny contains finding if {
	thresholds.pinned == true
	some namespace in tenants.namespaces
	given := label(namespace, level, "")
	object.get(strictness, given, 0) >= object.get(strictness, thresholds.least, 2)
	label(namespace, version, "latest") == "latest"
	finding := {
		"urn": namespace.urn,
		"path": place(namespace, version),
		"message": sprintf("what %v means in namespace %v may change with the cluster's version: set the label %v", [
			given,
			shown(namespace),
			version,
		]),
		"level": "advisory",
		"rests_on": rests_on(namespace),
	}
}

label(namespace, name, otherwise) := object.get(namespace.body, ["metadata", "labels", name], otherwise)

place(namespace, name) := sprintf("%v/metadata/labels/%v", [namespace.path, replace(name, "/", "~1")])

rests_on(namespace) := [sprintf("%v/metadata/%v", [namespace.path, part]) | some part in ["labels", "name"]]

shown(namespace) := namespace.name if namespace.name != ""

else := "with a name that Pulumi chooses"

meaning("") := "enforces no level of Pod Security"

meaning(given) := sprintf("enforces the level %v of Pod Security", [given]) if given != ""
