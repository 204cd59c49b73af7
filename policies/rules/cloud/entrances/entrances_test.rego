package gpuyard.rules.cloud.entrances_test

import data.gpuyard.rules.cloud.entrances

thresholds := {
	"cloud/entrances": {"gateways": ["ingress-nginx", "istio-*"], "silent_services_are_public": true},
	"cloud/open_ports": {"ports": ["8000"]},
}

service := {
	"urn": "s",
	"kind": "Service",
	"name": "chat",
	"namespace": "fraud",
	"path": "/spec/type",
	"explicit": false,
	"authenticated": false,
	"ports": [443],
	"sources": [{"path": "/spec/type", "source": "0.0.0.0/0"}],
	"rests_on": [],
}

found(entrance, given) := findings if {
	findings := entrances.deny with input as object.union(
		{
			"by_type": {},
			"objects": {},
			"releases": [],
			"entrances": [object.union(service, entrance)],
			"limits": {"api": {"widest_ipv4": 24, "widest_ipv6": 64}, "thresholds": thresholds},
		},
		given,
	)
}

denied(entrance, given) := {finding.path | some finding in found(entrance, given)}

test_a_load_balancer_for_ones_own_networks_is_allowed if {
	denied({"sources": [{"path": "/r/0", "source": "203.0.113.0/24"}]}, {}) == set()
	denied({"sources": [{"path": "/r/0", "source": "10.0.0.0/8"}]}, {}) == set()
}

test_a_gateway_in_its_own_namespace_is_allowed if {
	denied({"namespace": "ingress-nginx"}, {}) == set()
	denied({"namespace": "istio-ingress", "explicit": true}, {}) == set()
}

test_one_that_authenticates_is_allowed if denied({"kind": "Ingress", "explicit": true, "authenticated": true}, {}) == set()

test_a_port_of_a_model_server_is_left_to_its_own_rule_and_not_judged if denied({"ports": [80, 8000]}, {}) == set()

test_a_service_that_says_nothing_is_denied if {
	some finding in found({}, {})
	finding.path == "/spec/type"
	finding.message == concat("", [
		"Service chat is open to 0.0.0.0/0 without authentication: it does not say that it is internal, ",
		"and most clouds make it public",
	])
}

test_a_service_that_says_nothing_is_allowed_where_addresses_are_ones_own if {
	denied({}, {"releases": [{"chart": "metallb"}]}) == set()
	denied({}, {"releases": [{"chart": "aws-load-balancer-controller"}]}) == set()
	denied({}, {"objects": {"IPAddressPool.metallb.io": [{}]}}) == set()
	denied({}, {"by_type": {"gpuyard:index:NodeInventory": [{}]}}) == set()
	silent := object.union(thresholds["cloud/entrances"], {"silent_services_are_public": false})
	denied({}, {"limits": {"thresholds": {"cloud/entrances": silent}}}) == set()
}

test_a_service_that_says_that_it_is_public_is_denied_everywhere if {
	denied({"explicit": true}, {"releases": [{"chart": "aws-load-balancer-controller"}]}) == {"/spec/type"}
}

test_a_wide_source_among_small_ones_is_denied if {
	sources := [{"path": "/r/0", "source": "203.0.113.0/24"}, {"path": "/r/1", "source": "128.0.0.0/1"}]
	denied({"sources": sources}, {}) == {"/r/1"}
}

test_a_source_that_is_not_known_is_a_finding if denied({"sources": [{"path": "/r/0"}]}, {}) == {"/r/0"}

ingress := {"kind": "Ingress", "explicit": true}

test_an_ingress_behind_identity_aware_proxy_is_allowed if {
	config := {"namespace": "fraud", "body": {"spec": {"iap": {"enabled": true}}}}
	denied(ingress, {"objects": {"BackendConfig.cloud.google.com": [config]}}) == set()
	armoured := {"namespace": "fraud", "body": {"spec": {"securityPolicy": {"name": "office"}}}}
	denied(ingress, {"objects": {"BackendConfig.cloud.google.com": [armoured]}}) == set()
}

test_an_ingress_beside_a_policy_that_guards_nothing_is_denied if {
	other := {"namespace": "vision", "body": {"spec": {"iap": {"enabled": true}}}}
	off := {"namespace": "fraud", "body": {"spec": {"iap": {"enabled": false}}}}
	denied(ingress, {"objects": {"BackendConfig.cloud.google.com": [other, off]}}) == {"/spec/type"}
}

test_a_gateway_with_a_policy_is_allowed if {
	policy := {"namespace": "fraud", "body": {"spec": {"default": {"iap": {"enabled": true}}}}}
	denied({"kind": "Gateway", "explicit": true}, {"objects": {"GCPBackendPolicy.networking.gke.io": [policy]}}) == set()
	rule := {"namespace": "fraud", "body": {"spec": {"actions": [{"type": "authenticate-oidc"}]}}}
	aws := {"kind": "LoadBalancerConfiguration", "explicit": true}
	denied(aws, {"objects": {"ListenerRuleConfiguration.gateway.k8s.aws": [rule]}}) == set()
}

test_a_gateway_without_one_is_denied if {
	denied({"kind": "Gateway", "explicit": true}, {}) == {"/spec/type"}
	forwards := {"namespace": "fraud", "body": {"spec": {"actions": [{"type": "forward"}]}}}
	aws := {"kind": "LoadBalancerConfiguration", "explicit": true}
	denied(aws, {"objects": {"ListenerRuleConfiguration.gateway.k8s.aws": [forwards]}}) == {"/spec/type"}
}
