# METADATA
# title: Nothing is public without authentication
# description: >-
#   A load balancer, an Ingress or a Gateway that is public lets the whole internet speak to what is behind it, and
#   servers of models do not ask who calls: an API key guards some of their paths only. Where a Service or a Gateway says
#   nothing, most clouds make a public address. Gateways that authenticate live in namespaces of their own, which the
#   threshold names.
# custom:
#   id: C5
#   severity: critical
#   level: mandatory
#   on_unknown: warn
#   scope: stack
#   waivable: true
#   reads:
#     - {type: "gpuyard:index:NodeInventory", path: /machine, fires: true}
#     - {type: "kubernetes:core/v1:Service", path: /metadata/annotations, fires: true}
#     - {type: "kubernetes:core/v1:Service", path: /spec/loadBalancerClass, fires: true}
#     - {type: "kubernetes:core/v1:Service", path: /spec/loadBalancerSourceRanges, fires: true}
#     - {type: "kubernetes:core/v1:Service", path: /spec/type}
#     - {type: "kubernetes:gateway.k8s.aws/*:LoadBalancerConfiguration", path: /spec/scheme}
#     - {type: "kubernetes:gateway.k8s.aws/*:LoadBalancerConfiguration", path: /spec/sourceRanges, fires: true}
#     - {type: "kubernetes:gateway.networking.k8s.io/*:Gateway", path: /spec/gatewayClassName}
#     - {type: "kubernetes:helm.sh/*:*", path: /values, fires: true}
#     - {type: "kubernetes:networking.k8s.io/*:Ingress", path: /metadata/annotations}
#     - {type: "kubernetes:networking.k8s.io/*:Ingress", path: /spec/ingressClassName}
#   refers:
#     - {type: "kubernetes:*", path: /metadata/namespace, to: "kubernetes:core/v1:Namespace"}
#     - {type: "kubernetes:helm.sh/*:*", path: /namespace, to: "kubernetes:core/v1:Namespace"}
#   frameworks:
#     - "NSA and CISA Kubernetes Hardening Guidance: Network separation and hardening"
#     - "OWASP Top 10 for LLM Applications 2025: LLM10 Unbounded Consumption"
#   thresholds:
#     gateways:
#       type: texts
#       default: [contour, envoy-gateway-system, haproxy-controller, ingress-nginx, istio-gateways, istio-ingress, istio-system, kong, nginx-gateway, projectcontour, traefik]
#       description: Namespaces of gateways, which are public because they authenticate; `*` stands for any characters.
#     silent_services_are_public:
#       type: boolean
#       default: true
#       description: Whether a Service of type LoadBalancer that says nothing gets a public address; not so on premises, or where AWS's controller makes it internal.
#   remediation: >-
#     Make it internal, allow your own networks by loadBalancerSourceRanges or the Ingress controller's annotation, or put
#     it behind a gateway that authenticates: OIDC on an ALB, Identity-Aware Proxy on GKE.
package gpuyard.rules.cloud.entrances

import data.gpuyard.lib.match
import data.gpuyard.lib.networks

deny contains finding if {
	some entrance in input.entrances
	public(entrance)
	entrance.authenticated == false
	not gateways(entrance)
	not guarded(entrance)
	not told_elsewhere(entrance)
	some from in entrance.sources
	source := object.get(from, "source", null)
	outside(source)
	finding := {
		"urn": entrance.urn,
		"path": from.path,
		"message": said(entrance, source),
		"rests_on": array.concat([from.path], entrance.rests_on),
	}
}

# Null is a source that is not known.
outside(source) if source == null

outside(source) if networks.wide(source)

public(entrance) if entrance.explicit == true

public(entrance) if {
	entrance.explicit == false
	input.limits.thresholds["cloud/entrances"].silent_services_are_public == true
	not on_ones_own_network(entrance)
}

# The controller makes a Service that says nothing internal; the others announce addresses of the cluster's own network.
on_ones_own_network(_) if {
	some release in input.releases
	release.chart in ["aws-load-balancer-controller", "kube-vip", "metallb"]
}

on_ones_own_network(_) if {
	some kind in ["CiliumLoadBalancerIPPool.cilium.io", "IPAddressPool.metallb.io"]
	count(input.objects[kind]) > 0
}

on_ones_own_network(_) if count(input.by_type["gpuyard:index:NodeInventory"]) > 0

gateways(entrance) if match.one_of(input.limits.thresholds["cloud/entrances"].gateways, entrance.namespace)

# Google's load balancers ask who calls, or from where, by a policy beside them.
guarded(entrance) if {
	entrance.kind == "Ingress"
	some policy in input.objects["BackendConfig.cloud.google.com"]
	policy.namespace == entrance.namespace
	guards(object.get(policy.body, "spec", {}))
}

guarded(entrance) if {
	entrance.kind == "Gateway"
	some policy in input.objects["GCPBackendPolicy.networking.gke.io"]
	policy.namespace == entrance.namespace
	guards(object.get(policy.body, ["spec", "default"], {}))
}

# Those of AWS by rules of their listeners.
guarded(entrance) if {
	entrance.kind == "LoadBalancerConfiguration"
	some configuration in input.objects["ListenerRuleConfiguration.gateway.k8s.aws"]
	configuration.namespace == entrance.namespace
	actions := object.get(configuration.body, ["spec", "actions"], [])
	is_array(actions)
	some action in actions
	is_object(action)
	action.type in ["authenticate-cognito", "authenticate-oidc", "jwt-validation"]
}

guards(policy) if {
	is_object(policy)
	object.get(policy, ["iap", "enabled"], false) == true
}

guards(policy) if {
	is_object(policy)
	type_name(object.get(policy, "securityPolicy", null)) in ["object", "string"]
}

# A port of a model server is a finding of its own: no gateway makes that right.
told_elsewhere(entrance) if {
	some port in entrance.ports
	sprintf("%v", [port]) in input.limits.thresholds["cloud/open_ports"].ports
}

said(entrance, null) := sprintf("the networks that reach %v are not known", [named(entrance)])

said(entrance, source) := sprintf("%v is open to %v without authentication%v", [named(entrance), source, silent(entrance)]) if {
	source != null
}

named(entrance) := sprintf("%v %v", [entrance.kind, entrance.name]) if is_string(entrance.name)

else := entrance.kind

silent(entrance) := ": it does not say that it is internal, and most clouds make it public" if entrance.explicit == false

else := ""
