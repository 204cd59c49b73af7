# METADATA
# title: The API endpoint is private or allow-listed
# description: >-
#   Whoever reaches the API server may try its authentication and its next vulnerability. EKS and GKE open it to the
#   whole internet unless they are told otherwise, so a program that says nothing is denied too. Two halves of the
#   internet are the internet: an allowed network must be small, by the limits.
# custom:
#   id: C2
#   severity: critical
#   level: mandatory
#   on_unknown: deny
#   waivable: true
#   reads:
#     - {type: "aws:eks/cluster:Cluster", path: /vpcConfig/endpointPublicAccess}
#     - {type: "aws:eks/cluster:Cluster", path: /vpcConfig/publicAccessCidrs}
#     - {type: "gcp:container/cluster:Cluster", path: /controlPlaneEndpointsConfig/ipEndpointsConfig/enabled}
#     - {type: "gcp:container/cluster:Cluster", path: /masterAuthorizedNetworksConfig/cidrBlocks/*/cidrBlock}
#     - {type: "gcp:container/cluster:Cluster", path: /privateClusterConfig/enablePrivateEndpoint}
#   frameworks:
#     - "CIS Amazon EKS Benchmark 1.7.0: 5.4"
#     - "NSA and CISA Kubernetes Hardening Guidance: Network separation and hardening"
#   remediation: >-
#     On EKS set vpcConfig.endpointPublicAccess to false, or name your networks in publicAccessCidrs; on GKE set
#     privateClusterConfig.enablePrivateEndpoint, or name them in masterAuthorizedNetworksConfig.
package gpuyard.rules.cloud.api_exposure

default_message := "the API endpoint is open to the internet: nothing limits it, and that is the cloud's default"

deny contains {"urn": cluster.urn, "path": "/vpcConfig/publicAccessCidrs", "message": default_message} if {
	some cluster in public_eks
	networks(cluster.inputs, ["vpcConfig", "publicAccessCidrs"]) == []
}

deny contains {"urn": cluster.urn, "path": sprintf("/vpcConfig/publicAccessCidrs/%v", [i]), "message": message} if {
	some cluster in public_eks
	some i, network in networks(cluster.inputs, ["vpcConfig", "publicAccessCidrs"])
	too_wide(network)
	message := said(network)
}

public_eks := [cluster |
	some cluster in input.by_type["aws:eks/cluster:Cluster"]
	object.get(cluster.inputs, ["vpcConfig", "endpointPublicAccess"], true) != false
]

deny contains {"urn": cluster.urn, "path": "/masterAuthorizedNetworksConfig", "message": default_message} if {
	some cluster in public_gke
	not has_list(cluster)
}

has_list(cluster) if is_object(cluster.inputs.masterAuthorizedNetworksConfig)

deny contains {"urn": cluster.urn, "path": path, "message": message} if {
	some cluster in public_gke
	some i, block in networks(cluster.inputs, ["masterAuthorizedNetworksConfig", "cidrBlocks"])
	is_object(block)
	network := block.cidrBlock
	too_wide(network)
	path := sprintf("/masterAuthorizedNetworksConfig/cidrBlocks/%v/cidrBlock", [i])
	message := said(network)
}

public_gke := [cluster |
	some cluster in input.by_type["gcp:container/cluster:Cluster"]
	object.get(cluster.inputs, ["privateClusterConfig", "enablePrivateEndpoint"], false) != true
	object.get(cluster.inputs, ["controlPlaneEndpointsConfig", "ipEndpointsConfig", "enabled"], true) != false
]

networks(inputs, path) := listed if {
	listed := object.get(inputs, path, [])
	is_array(listed)
} else := []

said(network) := sprintf("the API endpoint is open to %v: the limits allow networks of /%v (IPv4) and /%v (IPv6) or smaller", [
	network,
	input.limits.api.widest_ipv4,
	input.limits.api.widest_ipv6,
])

too_wide(network) if {
	is_string(network)
	net.cidr_is_valid(network)
	not inside(network)
	prefix := to_number(split(network, "/")[1])
	prefix < widest(network)
}

widest(network) := input.limits.api.widest_ipv6 if contains(network, ":")

else := input.limits.api.widest_ipv4

# Networks that are nobody's on the internet: private use (RFC 1918, RFC 4193) and carriers' shared space (RFC 6598).
inside(network) if {
	some private in ["10.0.0.0/8", "100.64.0.0/10", "172.16.0.0/12", "192.168.0.0/16", "fc00::/7"]
	net.cidr_contains(private, network)
}
