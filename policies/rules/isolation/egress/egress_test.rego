package gpuyard.rules.isolation.egress_test

import data.gpuyard.rules.isolation.egress

found(kind, namespace, spec, ports) := findings if {
	policy := {"urn": "u", "path": "", "namespace": namespace, "body": {"spec": spec}}
	findings := {[finding.path, finding.message] | some finding in egress.deny} with input as {
		"limits": {
			"namespaces": {"system": ["kube-*"], "privileged": []},
			"thresholds": {"isolation/egress": {"ports": ports, "widest_ipv4": 8, "widest_ipv6": 16}},
		},
		"objects": {kind: [policy]},
	}
}

denied(rules) := {path |
	some [path, _] in found("NetworkPolicy.networking.k8s.io", "fraud", {"policyTypes": ["Egress"], "egress": rules}, ["443"])
}

block(cidr) := [{"ipBlock": {"cidr": cidr}}]

https := [{"port": 443, "protocol": "TCP"}]

first := {"/spec/egress/0"}

test_https_to_anywhere_is_allowed if {
	denied([{"to": [{"ipBlock": {"cidr": "0.0.0.0/0", "except": ["169.254.0.0/16"]}}], "ports": https}]) == set()
}

test_networks_and_pods_are_allowed if {
	denied([
		{"to": block("10.0.0.0/8")},
		{"to": block("fd00::/16")},
		{"to": [{"podSelector": {}}]},
		{"to": [{"namespaceSelector": {}}], "ports": [{"port": 53, "protocol": "UDP"}]},
	]) == set()
}

test_a_policy_that_is_not_about_egress_is_not_judged if {
	found("NetworkPolicy.networking.k8s.io", "fraud", {"policyTypes": ["Ingress"], "egress": [{}]}, []) == set()
}

test_policies_of_the_platform_are_not_judged if {
	found("NetworkPolicy.networking.k8s.io", "kube-system", {"policyTypes": ["Egress"], "egress": [{}]}, []) == set()
}

test_every_address_on_every_port_is_denied if {
	denied([{}]) == first
	denied([{"to": []}]) == first
	denied([{"to": block("0.0.0.0/0")}]) == first
	denied([{"to": block("::/0")}]) == first
}

test_both_halves_of_the_internet_are_denied if {
	denied([{"to": array.concat(block("0.0.0.0/1"), block("128.0.0.0/1"))}]) == first
}

test_another_port_to_anywhere_is_denied if {
	denied([{"to": block("0.0.0.0/0"), "ports": [{"port": 443}, {"port": 22}]}]) == first
	denied([{"to": block("0.0.0.0/0"), "ports": [{"port": 443, "endPort": 65535}]}]) == first
	denied([{"to": block("0.0.0.0/0"), "ports": [{"protocol": "TCP"}]}]) == first
	denied([{"ports": [{"port": "ssh"}]}]) == first
}

test_a_policy_without_types_is_denied_for_the_egress_that_it_names if {
	found("NetworkPolicy.networking.k8s.io", "fraud", {"egress": [{}]}, ["443"]) != set()
}

test_https_is_denied_where_the_limits_allow_no_port if {
	found("NetworkPolicy.networking.k8s.io", "fraud", {"egress": [{"to": block("0.0.0.0/0"), "ports": https}]}, []) == {[
		"/spec/egress/0",
		"pods of namespace fraud may reach 0.0.0.0/0 on port 443: name the networks that they need",
	]}
}

by_cilium(rule) := found("CiliumNetworkPolicy.cilium.io", "fraud", {"egress": [rule]}, ["443"])

test_names_and_https_by_cilium_are_allowed if {
	by_cilium({"toFQDNs": [{"matchName": "huggingface.co"}]}) == set()
	by_cilium({"toEntities": ["world"], "toPorts": [{"ports": [{"port": "443", "protocol": "TCP"}]}]}) == set()
	by_cilium({"toCIDR": ["10.0.0.0/8"]}) == set()
}

test_the_world_by_cilium_is_denied if {
	by_cilium({"toEntities": ["world"]}) != set()
	by_cilium({"toCIDR": ["0.0.0.0/0"]}) != set()
	by_cilium({"toCIDRSet": [{"cidr": "::/0"}]}) != set()
}
