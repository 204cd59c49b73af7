# METADATA
# title: A tenant's namespace denies by default, and the cluster enforces it
# description: >-
#   Without a policy that selects all pods, every pod of a cluster reaches every other, model servers without
#   authentication included. A policy that the cluster does not enforce is accepted and does nothing: EKS and GKE
#   enforce none unless they are told to.
# custom:
#   id: I4
#   severity: high
#   level: mandatory
#   on_unknown: deny
#   scope: stack
#   waivable: true
#   reads:
#     - {type: "aws:eks/addon:Addon", path: /addonName, fires: true}
#     - {type: "aws:eks/addon:Addon", path: /configurationValues, fires: true}
#     - {type: "gcp:container/cluster:Cluster", path: /datapathProvider, fires: true}
#     - {type: "gcp:container/cluster:Cluster", path: /enableAutopilot, fires: true}
#     - {type: "gcp:container/cluster:Cluster", path: /networkPolicy/enabled, fires: true}
#     - {type: "kubernetes:core/v1:Namespace", path: /metadata/name, fires: true}
#     - {type: "kubernetes:networking.k8s.io/*:NetworkPolicy", path: /metadata/namespace}
#     - {type: "kubernetes:networking.k8s.io/*:NetworkPolicy", path: /spec/podSelector}
#     - {type: "kubernetes:networking.k8s.io/*:NetworkPolicy", path: /spec/policyTypes}
#   refers:
#     - {type: "aws:eks/addon:Addon", path: /clusterName, to: "aws:eks/cluster:Cluster"}
#     - {type: "kubernetes:*", path: /metadata/namespace, to: "kubernetes:core/v1:Namespace"}
#   frameworks:
#     - "CIS Amazon EKS Benchmark 1.7.0: 4.3"
#     - "NSA and CISA Kubernetes Hardening Guidance: Network separation and hardening"
#   remediation: >-
#     Deny by default what enters and what leaves a tenant's namespace, allow what must pass, DNS first, and have the
#     cluster enforce it. A namespace of an operator belongs to `namespaces.system` in policies/limits.
package gpuyard.rules.isolation.default_deny

import data.gpuyard.lib.match

# --- every namespace that is not the platform's own has a default deny

deny contains finding if {
	some namespace in tenants
	open := [direction | some direction in ["Egress", "Ingress"]; not closed(namespace, direction)]
	count(open) > 0
	path := sprintf("%v/metadata/name", [namespace.path])
	finding := {
		"urn": namespace.urn,
		"path": path,
		"message": sprintf("no network policy denies %v by default in namespace %v: %v %v", [
			lower(concat(" and ", open)),
			shown(namespace),
			"add a NetworkPolicy with an empty podSelector and policyTypes",
			concat(", ", open),
		]),
		"rests_on": [path],
	}
}

shown(namespace) := namespace.name if namespace.name != ""

else := "with a name that Pulumi chooses"

tenants contains namespace if {
	some namespace in input.objects.Namespace
	namespace.patch == false
	not system(namespace)
}

system(namespace) if {
	is_string(namespace.name)
	match.one_of(input.limits.namespaces.system, namespace.name)
}

# Policies add up: one that lets everything through undoes the others.
closed(namespace, direction) if {
	some key in [namespace.name, namespace.urn]
	[key, direction] in closing
	not undone(namespace, direction)
}

closed(namespace, _) if {
	some key in [namespace.name, namespace.urn]
	key in guarded_by_another_engine
}

closed(_, _) if guarded_as_a_whole

undone(namespace, direction) if {
	some key in [namespace.name, namespace.urn]
	[key, direction] in opening
}

# By the namespace's name and, where that is not known yet, by its URN.
closing contains [key, direction] if {
	some policy in policies
	some direction in types(policy)
	not lets_all_through(policy, direction)
	some key in keys(policy)
}

opening contains [key, direction] if {
	some policy in policies
	some direction in types(policy)
	lets_all_through(policy, direction)
	some key in keys(policy)
}

guarded_by_another_engine contains key if {
	some kind in [
		"CiliumNetworkPolicy.cilium.io",
		"NetworkPolicy.crd.projectcalico.org",
		"NetworkPolicy.projectcalico.org",
	]
	some policy in input.objects[kind]
	some key in keys(policy)
}

guarded_as_a_whole if {
	some kind in [
		"BaselineAdminNetworkPolicy.policy.networking.k8s.io",
		"CiliumClusterwideNetworkPolicy.cilium.io",
		"GlobalNetworkPolicy.crd.projectcalico.org",
		"GlobalNetworkPolicy.projectcalico.org",
	]
	count(input.objects[kind]) > 0
}

keys(policy) := {key |
	some key in [
		object.get(policy, "namespace", ""),
		object.get(policy.references, sprintf("%v/metadata/namespace", [policy.path]), ""),
	]
	key != ""
}

# Those that select every pod of their namespace.
policies := [policy |
	some policy in input.objects["NetworkPolicy.networking.k8s.io"]
	selector := object.get(policy.body, ["spec", "podSelector"], {})
	is_object(selector)
	object.get(selector, "matchLabels", {}) == {}
	object.get(selector, "matchExpressions", []) == []
]

# Kubernetes' own reading of a policy that names no types: Ingress always, Egress if it has such rules.
types(policy) := {type | some type in ["Egress", "Ingress"]; type in policy.body.spec.policyTypes} if {
	is_array(policy.body.spec.policyTypes)
}

else := {"Egress", "Ingress"} if count(listed(policy, "Egress")) > 0

else := {"Ingress"}

listed(policy, direction) := found if {
	found := object.get(policy.body, ["spec", lower(direction)], [])
	is_array(found)
} else := []

peers := {"Egress": "to", "Ingress": "from"}

lets_all_through(policy, direction) if {
	some rule in listed(policy, direction)
	is_object(rule)
	object.get(rule, peers[direction], []) == []
	object.get(rule, "ports", []) == []
}

# --- and whoever relies on policies has a cluster that enforces them

relied_on if count(tenants) > 0

relied_on if count(input.objects["NetworkPolicy.networking.k8s.io"]) > 0

# The add-on is where enforcement is switched on, so the finding is there if it is in the program.
deny contains {"urn": addon.urn, "path": "/configurationValues", "message": message, "rests_on": ["/configurationValues"]} if {
	relied_on
	some cluster in input.by_type["aws:eks/cluster:Cluster"]
	not enforced_on_eks(cluster)
	some addon in cni_addons(cluster)
	message := "the vpc-cni add-on does not enforce network policies: set enableNetworkPolicy to \"true\" in its configurationValues"
}

deny contains {"urn": cluster.urn, "path": "", "message": message, "rests_on": []} if {
	relied_on
	some cluster in input.by_type["aws:eks/cluster:Cluster"]
	not enforced_on_eks(cluster)
	count(cni_addons(cluster)) == 0
	message := "EKS does not enforce network policies by itself: add the vpc-cni add-on with enableNetworkPolicy \"true\""
}

deny contains {"urn": cluster.urn, "path": "/datapathProvider", "message": message, "rests_on": rests_on} if {
	relied_on
	some cluster in input.by_type["gcp:container/cluster:Cluster"]
	not enforced_on_gke(cluster)
	rests_on := ["/datapathProvider", "/enableAutopilot", "/networkPolicy/enabled"]
	message := "GKE does not enforce network policies by itself: set datapathProvider to ADVANCED_DATAPATH"
}

cni_addons(cluster) := [addon |
	some addon in input.by_type["aws:eks/addon:Addon"]
	addon.inputs.addonName == "vpc-cni"
	belongs_to(addon, cluster)
]

belongs_to(addon, cluster) if addon.references["/clusterName"] == cluster.urn

belongs_to(_, _) if count(input.by_type["aws:eks/cluster:Cluster"]) == 1

enforced_on_eks(cluster) if {
	some addon in cni_addons(cluster)
	text := object.get(addon.inputs, "configurationValues", "")
	is_string(text)
	yaml.is_valid(text)
	configuration := yaml.unmarshal(text)
	is_object(configuration)
	configuration.enableNetworkPolicy in [true, "true"]
}

# EKS Auto Mode, and the plugin where no add-on manages it, are switched on by this ConfigMap.
enforced_on_eks(_) if {
	some map in input.objects.ConfigMap
	map.name == "amazon-vpc-cni"
	object.get(map.body, ["data", "enable-network-policy-controller"], "") == "true"
}

enforced_on_eks(_) if {
	some release in input.releases
	release.chart == "aws-vpc-cni"
	object.get(release.values, "enableNetworkPolicy", false) in [true, "true"]
}

enforced_on_eks(_) if brings_its_own

enforced_on_gke(cluster) if cluster.inputs.datapathProvider == "ADVANCED_DATAPATH"

# Autopilot always has Dataplane V2.
enforced_on_gke(cluster) if cluster.inputs.enableAutopilot == true

enforced_on_gke(cluster) if object.get(cluster.inputs, ["networkPolicy", "enabled"], false) == true

enforced_on_gke(_) if brings_its_own

brings_its_own if {
	some release in input.releases
	release.chart in ["antrea", "calico", "cilium", "tigera-operator"]
}
