# METADATA
# title: A namespace whose pods may take accelerators has a quota of them
# description: >-
#   Without a ResourceQuota every pod of a namespace may take every accelerator of the cluster, past any queue, and an
#   autoscaler brings more. A quota that counts pods of some priority classes alone leaves all others uncounted. Without a
#   LimitRange a pod that says nothing of memory may take a node's.
# custom:
#   id: Q3
#   severity: high
#   level: mandatory
#   on_unknown: deny
#   scope: stack
#   waivable: true
#   reads:
#     - {type: "kubernetes:core/v1:LimitRange", path: /metadata/namespace}
#     - {type: "kubernetes:core/v1:Namespace", path: /metadata/name, fires: true}
#     - {type: "kubernetes:core/v1:ResourceQuota", path: /metadata/namespace}
#     - {type: "kubernetes:core/v1:ResourceQuota", path: /spec, fires: true}
#     - {type: "kubernetes:resource.k8s.io/*:ResourceClaimTemplate", path: /spec}
#   refers:
#     - {type: "kubernetes:*", path: /metadata/namespace, to: "kubernetes:core/v1:Namespace"}
#   frameworks:
#     - "NSA and CISA Kubernetes Hardening Guidance: Resource policies"
#     - "OWASP Top 10 for LLM Applications 2025: LLM10 Unbounded Consumption"
#   remediation: >-
#     Add a ResourceQuota with requests.<resource> for each accelerator, and <class>.deviceclass.resource.k8s.io/devices
#     for each class that is claimed, 0 where the namespace is to have none, and a
#     LimitRange. A namespace of an operator belongs to `namespaces.system` in policies/limits.
package gpuyard.rules.quota.namespaces

import data.gpuyard.lib.match

deny contains finding if {
	some namespace in judged
	uncapped := [resource |
		some resource in wanted(namespace)
		object.get(namespace.allowed, resource, null) == null
	]
	count(uncapped) > 0
	count(namespace.unclear) == 0
	count(others) == 0
	path := sprintf("%v/metadata/name", [namespace.path])
	finding := {
		"urn": namespace.urn,
		"path": path,
		"message": sprintf("pods of namespace %v may take any number of %v: add a ResourceQuota with %v", [
			shown(namespace),
			concat(" and ", sort(uncapped)),
			concat(" and ", [counted(resource) | some resource in sort(uncapped)]),
		]),
		"rests_on": [path],
	}
}

deny contains {"urn": place.urn, "path": place.path, "message": message, "rests_on": [place.path]} if {
	some namespace in judged
	count(wanted(namespace)) > 0
	some place in namespace.unclear
	message := sprintf("what ResourceQuota %v allows pods of namespace %v is not known", [place.name, shown(namespace)])
}

deny contains finding if {
	some namespace in judged
	count(wanted(namespace)) > 0
	namespace.limit_range == false
	count(others) == 0
	finding := {
		"urn": namespace.urn,
		"path": sprintf("%v/metadata", [namespace.path]),
		"level": "advisory",
		"message": sprintf("namespace %v has no LimitRange: a pod that asks for no memory may take a node's", [shown(namespace)]),
		"rests_on": [],
	}
}

# How a quota names it: devices of a class have a name of their own there.
counted(resource) := resource if endswith(resource, ".deviceclass.resource.k8s.io/devices")

else := sprintf("requests.%v", [resource])

shown(namespace) := namespace.name if namespace.name != ""

else := "with a name that Pulumi chooses"

# Those that the program makes, and that are not the platform's own.
judged contains namespace if {
	some namespace in input.namespaces
	is_string(namespace.urn)
	not system(namespace)
}

system(namespace) if match.one_of(input.limits.namespaces.system, namespace.name)

# What its workloads ask for, and what the nodes of the cluster offer to whoever asks.
wanted(namespace) := {resource | some resource in namespace.asked} | offered

offered contains group.resource if {
	is_array(input.capacity.groups)
	some group in input.capacity.groups
	is_string(group.resource)
	object.get(group, "parts", null) == null
	object.get(group, ["accelerators", "max"], 1) != 0
}

offered contains part.resource if {
	is_array(input.capacity.groups)
	some group in input.capacity.groups
	is_object(group.parts)
	some _, part in group.parts
	is_string(part.resource)
}

# Other controllers make quotas in namespaces, or count by themselves.
others contains kind if {
	some kind in [
		"ClusterResourceQuota.quota.openshift.io",
		"HierarchicalResourceQuota.hnc.x-k8s.io",
		"Tenant.capsule.clastix.io",
	]
	count(input.objects[kind]) > 0
}

others contains policy.urn if {
	some policy in input.objects["ClusterPolicy.kyverno.io"]
	is_array(policy.body.spec.rules)
	some rule in policy.body.spec.rules
	rule.generate.kind == "ResourceQuota"
}
