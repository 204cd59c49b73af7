# METADATA
# title: Tenants do not reach the whole internet
# description: >-
#   Weights, prompts and customers' data leave a cluster by whatever way is open. A policy that allows every address on
#   every port is such a way. A model hub has no fixed addresses, so HTTPS may go anywhere unless the limits say otherwise;
#   with a mirror or a proxy it need not.
# custom:
#   id: I5
#   severity: high
#   level: advisory
#   on_unknown: warn
#   scope: resource
#   waivable: true
#   reads:
#     - {type: "kubernetes:networking.k8s.io/*:NetworkPolicy", path: /spec/egress}
#     - {type: "kubernetes:cilium.io/*:CiliumNetworkPolicy", path: /spec/egress}
#   refers:
#     - {type: "kubernetes:*", path: /metadata/namespace, to: "kubernetes:core/v1:Namespace"}
#   thresholds:
#     ports:
#       type: texts
#       default: ["443"]
#       description: Ports on which pods of tenants may reach any address; none where a mirror or a proxy serves them.
#     widest_ipv4:
#       type: integer
#       default: 8
#       description: Shortest prefix of an IPv4 network that is not taken for the whole internet.
#     widest_ipv6:
#       type: integer
#       default: 16
#       description: The same for IPv6.
#   frameworks:
#     - "CIS Amazon EKS Benchmark 1.7.0: 4.3"
#     - "NSA and CISA Kubernetes Hardening Guidance: Network separation and hardening"
#     - "OWASP Top 10 for LLM Applications 2025: LLM02 Sensitive Information Disclosure"
#   remediation: >-
#     Allow the networks and ports that the pods need: the hub's mirror, the proxy, private endpoints of buckets. Where
#     only HTTPS to anywhere will do, allow that alone.
package gpuyard.rules.isolation.egress

import data.gpuyard.lib.tenants

thresholds := input.limits.thresholds["isolation/egress"]

free_ports := thresholds.ports

deny contains finding if {
	some policy in policies
	some i, rule in listed(policy.body, ["spec", "egress"])
	is_object(rule)
	some where in everywhere(rule)
	open := ports(rule)
	some port in open
	not port in free_ports
	path := sprintf("%v/spec/egress/%v", [policy.path, i])
	finding := told(policy, path, where, open)
}

deny contains finding if {
	some policy in cilium
	some i, rule in listed(policy.body, ["spec", "egress"])
	is_object(rule)
	some where in everywhere_by_cilium(rule)
	open := cilium_ports(rule)
	some port in open
	not port in free_ports
	path := sprintf("%v/spec/egress/%v", [policy.path, i])
	finding := told(policy, path, where, open)
}

told(policy, path, where, open) := {
	"urn": policy.urn,
	"path": path,
	"message": sprintf("pods of namespace %v may reach %v on %v: %v", [
		object.get(policy, "namespace", "that is not known yet"),
		where,
		concat(", ", [shown(port) | some port in sort(open)]),
		allowed,
	]),
	"rests_on": [path, sprintf("%v/metadata/namespace", [policy.path])],
}

shown("*") := "every port"

shown(port) := sprintf("port %v", [port]) if port != "*"

allowed := "name the networks that they need" if count(thresholds.ports) == 0

else := sprintf("name the networks that they need; to anywhere only port %v is allowed", [concat(", ", thresholds.ports)])

policies := [policy |
	some policy in input.objects["NetworkPolicy.networking.k8s.io"]
	not tenants.of_the_platform(policy)
	applies(policy)
]

# Kubernetes' own reading: rules of a direction count if the policy is about it, and where it does not say, if there are any.
applies(policy) if object.get(policy.body, ["spec", "policyTypes"], []) == []

applies(policy) if {
	types := listed(policy.body, ["spec", "policyTypes"])
	"Egress" in types
}

cilium := [policy |
	some policy in input.objects["CiliumNetworkPolicy.cilium.io"]
	not tenants.of_the_platform(policy)
]

listed(body, steps) := found if {
	found := object.get(body, steps, [])
	is_array(found)
} else := []

# A rule without peers is about every address.
everywhere(rule) := {"every address"} if object.get(rule, "to", []) == []

else := {cidr |
	some peer in listed(rule, ["to"])
	is_object(peer)
	cidr := object.get(peer, ["ipBlock", "cidr"], "")
	wide(cidr)
}

everywhere_by_cilium(rule) := ({entity |
	some entity in listed(rule, ["toEntities"])
	entity in ["all", "world", "world-ipv4", "world-ipv6"]
} | {cidr |
	some cidr in listed(rule, ["toCIDR"])
	wide(cidr)
}) | {cidr |
	some set in listed(rule, ["toCIDRSet"])
	is_object(set)
	cidr := object.get(set, "cidr", "")
	wide(cidr)
}

wide(cidr) if {
	is_string(cidr)
	net.cidr_is_valid(cidr)
	contains(cidr, ".")
	to_number(split(cidr, "/")[1]) < thresholds.widest_ipv4
}

wide(cidr) if {
	is_string(cidr)
	net.cidr_is_valid(cidr)
	contains(cidr, ":")
	to_number(split(cidr, "/")[1]) < thresholds.widest_ipv6
}

# A range of ports, or one by its name, is no port that anybody has allowed.
ports(rule) := {"*"} if listed(rule, ["ports"]) == []

else := {text |
	some port in listed(rule, ["ports"])
	is_object(port)
	text := port_of(port)
}

port_of(port) := sprintf("%v to %v", [port.port, port.endPort]) if {
	is_number(port.endPort)
	is_number(port.port)
	port.endPort > port.port
} else := sprintf("%v", [object.get(port, "port", "*")])

cilium_ports(rule) := {"*"} if listed(rule, ["toPorts"]) == []

else := {text |
	some set in listed(rule, ["toPorts"])
	is_object(set)
	some port in listed(set, ["ports"])
	is_object(port)
	text := sprintf("%v", [object.get(port, "port", "*")])
}
