package gpuyard.rules.cloud.open_ports_test

import data.gpuyard.rules.cloud.open_ports

found(given) := findings if {
	findings := open_ports.deny with input as object.union(
		{
			"by_type": {},
			"objects": {},
			"limits": {
				"api": {"widest_ipv4": 24, "widest_ipv6": 64},
				"thresholds": {"cloud/open_ports": {"ports": ["6379", "8000", "8001", "8265", "any", "10001"]}},
			},
		},
		given,
	)
}

denied(given) := {finding.path | some finding in found(given)}

said(given) := {finding.message | some finding in found(given)}

opening(source, ports) := {"openings": [{"urn": "g", "path": "/ingress/0", "source": source, "ports": ports, "rests_on": ["/ingress/0"]}]}

test_ports_for_ones_own_networks_are_allowed if {
	denied(opening("10.0.0.0/8", [[0, 65535]])) == set()
	denied(opening("203.0.113.0/24", [[8000, 8000]])) == set()
	denied(opening("fd00::/8", [[8265, 8265]])) == set()
}

test_other_ports_are_allowed if {
	denied(opening("0.0.0.0/0", [[443, 443], [22, 80], [8443, 8443]])) == set()
}

test_a_port_of_a_model_server_that_is_open_is_denied if {
	said(opening("0.0.0.0/0", [[8265, 8265]])) == {"port 8265 (Ray's dashboard, which runs code for whoever reaches it) is open to 0.0.0.0/0"}
	said(opening("::/0", [[8000, 8100]])) == {"ports 8000, 8001 are open to ::/0"}
	said(opening("128.0.0.0/1", [[22, 22], [10001, 10001]])) == {"port 10001 (Ray's clients) is open to 128.0.0.0/1"}
}

test_every_port_is_denied_too if denied(opening("0.0.0.0/0", [[0, 65535]])) == {"/ingress/0"}

test_a_source_that_is_not_known_is_a_finding_only_of_such_a_port if {
	denied({"openings": [{"urn": "g", "path": "/ingress/0", "ports": [[8000, 8000]], "rests_on": ["/ingress/0"]}]}) == {"/ingress/0"}
	denied({"openings": [{"urn": "g", "path": "/ingress/0", "ports": [[443, 443]], "rests_on": ["/ingress/0"]}]}) == set()
}

entrance(ports, sources) := {"entrances": [{"urn": "s", "path": "/spec/type", "ports": ports, "sources": sources, "rests_on": []}]}

test_a_load_balancer_for_another_port_is_allowed if denied(entrance([443, 8443], [{"path": "/spec/type", "source": "0.0.0.0/0"}])) == set()

test_a_load_balancer_for_ones_own_networks_is_allowed if denied(entrance([8000], [{"path": "/r/0", "source": "203.0.113.7/32"}])) == set()

test_a_load_balancer_before_a_model_server_is_denied if {
	denied(entrance([80, 8000], [{"path": "/spec/type", "source": "0.0.0.0/0"}])) == {"/spec/type"}
	denied(entrance([8000], [{"path": "/r/0", "source": "203.0.113.7/32"}, {"path": "/r/1", "source": "0.0.0.0/0"}])) == {"/r/1"}
	denied(entrance([8000], [{"path": "/r/0"}])) == {"/r/0"}
}

policy(rule) := {"objects": {"NetworkPolicy.networking.k8s.io": [{"urn": "n", "path": "", "body": {"spec": {"ingress": [rule]}}}]}}

test_a_policy_for_the_internet_to_another_port_is_allowed if {
	denied(policy({"from": [{"ipBlock": {"cidr": "0.0.0.0/0"}}], "ports": [{"port": 443}]})) == set()
	denied(policy({"from": [{"ipBlock": {"cidr": "10.0.0.0/8"}}], "ports": [{"port": 8000}]})) == set()
	denied(policy({"from": [{"podSelector": {}}], "ports": [{"port": 8000}]})) == set()
	denied(policy({"from": [{"ipBlock": {"cidr": "0.0.0.0/0"}}], "ports": [{"port": 8000, "protocol": "UDP"}]})) == set()
}

test_a_policy_for_the_internet_to_a_model_server_is_denied if {
	denied(policy({"from": [{"podSelector": {}}, {"ipBlock": {"cidr": "0.0.0.0/0"}}], "ports": [{"port": 8000}]})) == {"/spec/ingress/0/from/1/ipBlock/cidr"}
	denied(policy({"from": [{"ipBlock": {"cidr": "::/0"}}], "ports": [{"port": 7000, "endPort": 9000}]})) == {"/spec/ingress/0/from/0/ipBlock/cidr"}
}

behind(internal, port) := {"by_type": {
	"aws:lb/listener:Listener": [{"urn": "l", "references": {"/loadBalancerArn": "b", "/defaultActions/0/targetGroupArn": "t"}}],
	"aws:lb/loadBalancer:LoadBalancer": [{"urn": "b", "inputs": {"internal": internal}}],
	"aws:lb/targetGroup:TargetGroup": [{"urn": "t", "inputs": {"port": port}}],
}}

test_an_internal_load_balancer_of_aws_is_allowed if {
	denied(behind(true, 8000)) == set()
	denied(behind(false, 8443)) == set()
}

test_a_public_load_balancer_of_aws_before_a_model_server_is_denied if {
	said(behind(false, 8000)) == {"the load balancer is public and hands on to port 8000 (vLLM, Triton and Ray Serve) without asking who calls"}
}
