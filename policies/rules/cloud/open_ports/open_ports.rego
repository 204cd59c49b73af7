# METADATA
# title: Ports of model servers are closed to the internet
# description: >-
#   Ray runs whatever code it is sent, Triton and vLLM answer everybody and load models for whoever asks, and DCGM's
#   exporter says what runs where. None of them asks who calls, so their ports may be open to one's own networks only: in
#   security groups, in firewalls, in network policies, and behind load balancers.
# custom:
#   id: C6
#   severity: critical
#   level: mandatory
#   on_unknown: warn
#   scope: resource
#   waivable: true
#   reads:
#     - {type: "aws:alb/listener:Listener", path: /defaultActions, fires: true}
#     - {type: "aws:ec2/defaultSecurityGroup:DefaultSecurityGroup", path: /ingress, fires: true}
#     - {type: "aws:ec2/securityGroup:SecurityGroup", path: /ingress, fires: true}
#     - {type: "aws:ec2/securityGroupRule:SecurityGroupRule", path: /cidrBlocks, fires: true}
#     - {type: "aws:ec2/securityGroupRule:SecurityGroupRule", path: /ipv6CidrBlocks, fires: true}
#     - {type: "aws:lb/listener:Listener", path: /defaultActions, fires: true}
#     - {type: "aws:vpc/securityGroupIngressRule:SecurityGroupIngressRule", path: /cidrIpv4, fires: true}
#     - {type: "aws:vpc/securityGroupIngressRule:SecurityGroupIngressRule", path: /cidrIpv6, fires: true}
#     - {type: "gcp:compute/firewall:Firewall", path: /sourceRanges, fires: true}
#     - {type: "gcp:compute/firewallPolicyRule:FirewallPolicyRule", path: /match/srcIpRanges, fires: true}
#     - {type: "gcp:compute/firewallPolicyWithRules:FirewallPolicyWithRules", path: /rules, fires: true}
#     - {type: "gcp:compute/forwardingRule:ForwardingRule", path: /sourceIpRanges, fires: true}
#     - {type: "gcp:compute/globalForwardingRule:GlobalForwardingRule", path: /portRange, fires: true}
#     - {type: "gcp:compute/networkFirewallPolicyRule:NetworkFirewallPolicyRule", path: /match/srcIpRanges, fires: true}
#     - {type: "gcp:compute/networkFirewallPolicyWithRules:NetworkFirewallPolicyWithRules", path: /rules, fires: true}
#     - {type: "gcp:compute/regionNetworkFirewallPolicyRule:RegionNetworkFirewallPolicyRule", path: /match/srcIpRanges, fires: true}
#     - {type: "gcp:compute/regionNetworkFirewallPolicyWithRules:RegionNetworkFirewallPolicyWithRules", path: /rules, fires: true}
#     - {type: "kubernetes:core/v1:Service", path: /spec/loadBalancerSourceRanges, fires: true}
#     - {type: "kubernetes:helm.sh/*:*", path: /values, fires: true}
#     - {type: "kubernetes:networking.k8s.io/*:NetworkPolicy", path: /spec/ingress/*/from/*/ipBlock/cidr, fires: true}
#   refers:
#     - {type: "aws:alb/listener:Listener", path: /loadBalancerArn, to: "aws:alb/loadBalancer:LoadBalancer"}
#     - {type: "aws:alb/listener:Listener", path: /defaultActions/0/targetGroupArn, to: "aws:alb/targetGroup:TargetGroup"}
#     - {type: "aws:lb/listener:Listener", path: /loadBalancerArn, to: "aws:lb/loadBalancer:LoadBalancer"}
#     - {type: "aws:lb/listener:Listener", path: /defaultActions/0/targetGroupArn, to: "aws:lb/targetGroup:TargetGroup"}
#   frameworks:
#     - "NSA and CISA Kubernetes Hardening Guidance: Network separation and hardening"
#   cves: [CVE-2023-48022]
#   thresholds:
#     ports:
#       type: texts
#       default: ["6379", "8000", "8001", "8002", "8265", "9400", "10001"]
#       description: Ports of TCP that no network outside one's own may reach, unless it is as small as `api` in the limits says.
#   remediation: >-
#     Open the port to the networks or security groups that call it, and put what the internet may call behind a load
#     balancer that authenticates, on another port.
package gpuyard.rules.cloud.open_ports

import data.gpuyard.lib.networks

servers := {
	6379: "Ray's store",
	8000: "vLLM, Triton and Ray Serve",
	8001: "Triton's gRPC",
	8002: "Triton's metrics",
	8265: "Ray's dashboard, which runs code for whoever reaches it",
	9400: "DCGM's exporter",
	10001: "Ray's clients",
}

guarded contains to_number(text) if {
	some text in input.limits.thresholds["cloud/open_ports"].ports
	regex.match(`^[0-9]{1,5}$`, text)
}

# --- security groups and firewalls

deny contains finding if {
	some opening in input.openings
	open := sort([port | some port in guarded; within(port, opening.ports)])
	count(open) > 0
	source := object.get(opening, "source", null)
	outside(source)
	finding := {
		"urn": opening.urn,
		"path": opening.path,
		"message": said(open, source),
		"rests_on": opening.rests_on,
	}
}

within(port, ranges) if {
	some range in ranges
	port >= range[0]
	port <= range[1]
}

# --- load balancers of Kubernetes

deny contains finding if {
	some entrance in input.entrances
	open := sort([port | some port in entrance.ports; port in guarded])
	count(open) > 0
	some from in entrance.sources
	source := object.get(from, "source", null)
	outside(source)
	finding := {
		"urn": entrance.urn,
		"path": from.path,
		"message": said(open, source),
		"rests_on": array.concat([from.path], entrance.rests_on),
	}
}

# --- network policies: the internet by name, to a port by number

deny contains finding if {
	some policy in input.objects["NetworkPolicy.networking.k8s.io"]
	some i, rule in listed(policy.body, ["spec", "ingress"])
	open := sort([port | some port in guarded; within(port, port_ranges(rule))])
	count(open) > 0
	some j, peer in listed(rule, ["from"])
	is_object(peer)
	source := object.get(peer, ["ipBlock", "cidr"], "")
	networks.wide(source)
	path := sprintf("%v/spec/ingress/%v/from/%v/ipBlock/cidr", [policy.path, i, j])
	finding := {"urn": policy.urn, "path": path, "message": said(open, source), "rests_on": [path]}
}

port_ranges(rule) := [[port.port, object.get(port, "endPort", port.port)] |
	some port in listed(rule, ["ports"])
	is_object(port)
	is_number(port.port)
	is_number(object.get(port, "endPort", port.port))
	object.get(port, "protocol", "TCP") == "TCP"
]

listed(value, path) := found if {
	is_object(value)
	found := object.get(value, path, [])
	is_array(found)
} else := []

# --- load balancers of AWS: what answers behind one that is public, and does not ask who calls

deny contains finding if {
	some type in ["aws:alb/listener:Listener", "aws:lb/listener:Listener"]
	some listener in input.by_type[type]
	listener.references["/loadBalancerArn"] in public_balancers
	port := target_ports[listener.references["/defaultActions/0/targetGroupArn"]]
	port in guarded
	finding := {
		"urn": listener.urn,
		"path": "/defaultActions/0/targetGroupArn",
		"message": sprintf("the load balancer is public and hands on to %v without asking who calls", [named(port)]),
		"rests_on": ["/defaultActions"],
	}
}

public_balancers contains balancer.urn if {
	some type in ["aws:alb/loadBalancer:LoadBalancer", "aws:lb/loadBalancer:LoadBalancer"]
	some balancer in input.by_type[type]
	object.get(balancer.inputs, "internal", false) == false
}

target_ports[target.urn] := object.get(target.inputs, "port", 0) if {
	some type in ["aws:alb/targetGroup:TargetGroup", "aws:lb/targetGroup:TargetGroup"]
	some target in input.by_type[type]
}

# --- words

# Null is a source that is not known.
outside(source) if source == null

outside(source) if networks.wide(source)

said(_, null) := "a network that reaches a model server is not known"

said(ports, source) := sprintf("%v open to %v", [named_all(ports), source]) if source != null

named_all(ports) := sprintf("%v is", [named(ports[0])]) if count(ports) == 1

else := sprintf("ports %v are", [concat(", ", [sprintf("%v", [port]) | some port in ports])])

named(port) := sprintf("port %v (%v)", [port, servers[port]]) if servers[port]

else := sprintf("port %v", [port])
