package gpuyard.rules.isolation.default_deny_test

import data.gpuyard.rules.isolation.default_deny

denied(objects, by_type, releases) := found if {
	found := {[finding.urn, finding.path] | some finding in default_deny.deny} with input as {
		"limits": {"namespaces": {"system": ["kube-*", "monitoring"]}},
		"objects": objects,
		"by_type": by_type,
		"releases": releases,
	}
}

namespace := {"urn": "ns", "path": "", "name": "fraud", "patch": false, "references": {}, "body": {}}

policy(spec) := {
	"urn": "np",
	"path": "",
	"name": "default-deny",
	"namespace": "fraud",
	"references": {},
	"body": {"spec": spec},
}

with_policies(policies) := {"Namespace": [namespace], "NetworkPolicy.networking.k8s.io": policies}

both := policy({"podSelector": {}, "policyTypes": ["Ingress", "Egress"]})

open := {["ns", "/metadata/name"]}

dns := {"ports": [{"port": 53, "protocol": "UDP"}], "to": [{"namespaceSelector": {}}]}

test_a_namespace_with_a_default_deny_is_allowed if denied(with_policies([both]), {}, []) == set()

test_a_default_deny_in_two_policies_is_allowed if {
	ingress := policy({"podSelector": {}, "policyTypes": ["Ingress"]})
	egress := policy({"podSelector": {"matchLabels": {}}, "policyTypes": ["Egress"], "egress": [dns]})
	denied(with_policies([ingress, egress]), {}, []) == set()
}

test_policies_for_what_must_pass_do_not_undo_it if {
	allow := policy({"podSelector": {"matchLabels": {"app": "a"}}, "ingress": [{}], "policyTypes": ["Ingress"]})
	denied(with_policies([both, allow]), {}, []) == set()
}

test_a_namespace_without_a_policy_is_denied if denied(with_policies([]), {}, []) == open

test_a_policy_of_another_namespace_does_not_help if {
	denied(with_policies([object.union(both, {"namespace": "other"})]), {}, []) == open
}

test_a_policy_for_some_pods_is_no_default if {
	denied(with_policies([policy({"podSelector": {"matchLabels": {"a": "b"}}, "policyTypes": ["Ingress", "Egress"]})]), {}, []) == open
}

test_ingress_alone_is_half if {
	denied(with_policies([policy({"podSelector": {}, "policyTypes": ["Ingress"]})]), {}, []) == open
}

test_a_policy_without_types_covers_ingress_and_the_egress_that_it_names if {
	denied(with_policies([policy({"podSelector": {}, "egress": [dns]})]), {}, []) == set()
	denied(with_policies([policy({"podSelector": {}})]), {}, []) == open
}

test_a_policy_that_lets_everything_through_is_denied if {
	all := policy({"podSelector": {}, "policyTypes": ["Ingress", "Egress"], "ingress": [{}], "egress": [{}]})
	denied(with_policies([all]), {}, []) == open
	denied(with_policies([both, all]), {}, []) == open
}

test_namespaces_of_the_platform_are_not_judged if {
	system := [object.union(namespace, {"name": "monitoring"}), object.union(namespace, {"name": "kube-system"})]
	denied({"Namespace": system}, {}, []) == set()
}

test_a_patch_of_a_namespace_that_others_made_is_not_judged if {
	denied({"Namespace": [object.union(namespace, {"patch": true})]}, {}, []) == set()
}

test_a_policy_is_joined_to_a_namespace_whose_name_is_not_known if {
	unnamed := object.union(namespace, {"name": ""})
	joined := object.union(object.remove(both, ["namespace"]), {"references": {"/metadata/namespace": "ns"}})
	denied({"Namespace": [unnamed], "NetworkPolicy.networking.k8s.io": [joined]}, {}, []) == set()
	denied({"Namespace": [unnamed], "NetworkPolicy.networking.k8s.io": [both]}, {}, []) == open
}

test_policies_of_another_engine_are_taken_at_their_word if {
	cilium := {"Namespace": [namespace], "CiliumNetworkPolicy.cilium.io": [object.union(both, {"urn": "c"})]}
	denied(cilium, {}, []) == set()
	denied({"Namespace": [namespace], "GlobalNetworkPolicy.projectcalico.org": [{"urn": "g"}]}, {}, []) == set()
}

# --- enforcement

eks := {"aws:eks/cluster:Cluster": [{"urn": "eks", "inputs": {}, "references": {}}]}

with_addon(values) := object.union(eks, {"aws:eks/addon:Addon": [{
	"urn": "cni",
	"inputs": {"addonName": "vpc-cni", "configurationValues": values},
	"references": {"/clusterName": "eks"},
}]})

gke(inputs) := {"gcp:container/cluster:Cluster": [{"urn": "gke", "inputs": inputs, "references": {}}]}

test_an_eks_cluster_whose_add_on_enforces_is_allowed if {
	denied(with_policies([both]), with_addon(`{"enableNetworkPolicy": "true"}`), []) == set()
	denied(with_policies([both]), with_addon(`{"enableNetworkPolicy": true, "env": {}}`), []) == set()
	denied(with_policies([both]), with_addon("enableNetworkPolicy: 'true'"), []) == set()
}

test_an_eks_cluster_that_says_nothing_is_denied if {
	denied(with_policies([both]), eks, []) == {["eks", ""]}
}

test_an_add_on_that_does_not_enforce_is_denied_where_it_can_be_told_to if {
	every values in [`{"enableNetworkPolicy": "false"}`, "{}", "", "{", "[1]", "text"] {
		denied(with_policies([both]), with_addon(values), []) == {["cni", "/configurationValues"]}
	}
}

test_an_add_on_of_another_cluster_does_not_help if {
	two := {"aws:eks/cluster:Cluster": [
		{"urn": "eks", "inputs": {}, "references": {}},
		{"urn": "other", "inputs": {}, "references": {}},
	]}
	addon := object.filter(with_addon(`{"enableNetworkPolicy": "true"}`), ["aws:eks/addon:Addon"])
	denied(with_policies([both]), object.union(two, addon), []) == {["other", ""]}
}

test_auto_mode_is_switched_on_by_a_config_map if {
	map := {"urn": "m", "name": "amazon-vpc-cni", "body": {"data": {"enable-network-policy-controller": "true"}}}
	denied(object.union(with_policies([both]), {"ConfigMap": [map]}), eks, []) == set()
}

test_a_network_of_ones_own_enforces if {
	denied(with_policies([both]), eks, [{"urn": "r", "chart": "cilium", "values": {}}]) == set()
	denied(with_policies([both]), eks, [{"urn": "r", "chart": "aws-vpc-cni", "values": {"enableNetworkPolicy": true}}]) == set()
	denied(with_policies([both]), eks, [{"urn": "r", "chart": "aws-vpc-cni", "values": {}}]) == {["eks", ""]}
}

test_a_gke_cluster_that_enforces_is_allowed if {
	denied(with_policies([both]), gke({"datapathProvider": "ADVANCED_DATAPATH"}), []) == set()
	denied(with_policies([both]), gke({"enableAutopilot": true}), []) == set()
	denied(with_policies([both]), gke({"networkPolicy": {"enabled": true}}), []) == set()
}

test_a_gke_cluster_with_the_clouds_defaults_is_denied if {
	denied(with_policies([both]), gke({}), []) == {["gke", "/datapathProvider"]}
	denied(with_policies([both]), gke({"datapathProvider": "LEGACY_DATAPATH"}), []) == {["gke", "/datapathProvider"]}
}

test_a_cluster_without_tenants_or_policies_is_not_judged if denied({}, object.union(eks, gke({})), []) == set()

test_the_message_says_what_to_add if {
	some finding in default_deny.deny with input as {
		"limits": {"namespaces": {"system": []}},
		"objects": with_policies([policy({"podSelector": {}, "policyTypes": ["Ingress"]})]),
	}
	finding.message == concat(": ", [
		"no network policy denies egress by default in namespace fraud",
		"add a NetworkPolicy with an empty podSelector and policyTypes Egress",
	])
}
