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
#   scope: resource
#   waivable: true
#   reads:
#     - {type: "aws:eks/cluster:Cluster", path: /vpcConfig/endpointPublicAccess, fires: true}
#     - {type: "aws:eks/cluster:Cluster", path: /vpcConfig/publicAccessCidrs, fires: true}
#     - {type: "gcp:container/cluster:Cluster", path: /controlPlaneEndpointsConfig/ipEndpointsConfig/enabled, fires: true}
#     - {type: "gcp:container/cluster:Cluster", path: /masterAuthorizedNetworksConfig/cidrBlocks/*/cidrBlock, fires: true}
#     - {type: "gcp:container/cluster:Cluster", path: /masterAuthorizedNetworksConfig/gcpPublicCidrsAccessEnabled, fires: true}
#     - {type: "gcp:container/cluster:Cluster", path: /privateClusterConfig/enablePrivateEndpoint, fires: true}
#   frameworks:
#     - "CIS Amazon EKS Benchmark 1.7.0: 5.4"
#     - "NSA and CISA Kubernetes Hardening Guidance: Network separation and hardening"
#   remediation: >-
#     On EKS set vpcConfig.endpointPublicAccess to false, or name your networks in publicAccessCidrs; on GKE set
#     privateClusterConfig.enablePrivateEndpoint, or name them in masterAuthorizedNetworksConfig.
package gpuyard.rules.cloud.api_exposure

import data.gpuyard.lib.networks as internet

# What is allowed only matters to a public endpoint: so nothing is undecided by itself, and each finding rests on both.
deny contains finding if {
	some cluster in input.by_type["aws:eks/cluster:Cluster"]
	object.get(cluster.inputs, ["vpcConfig", "endpointPublicAccess"], true) != false
	some path, message in eks_problems(cluster)
	rests_on := [path, "/vpcConfig/endpointPublicAccess"]
	finding := {"urn": cluster.urn, "path": path, "message": message, "rests_on": rests_on}
}

deny contains finding if {
	some cluster in input.by_type["gcp:container/cluster:Cluster"]
	object.get(cluster.inputs, ["privateClusterConfig", "enablePrivateEndpoint"], false) != true
	object.get(cluster.inputs, ["controlPlaneEndpointsConfig", "ipEndpointsConfig", "enabled"], true) != false
	some path, message in gke_problems(cluster)
	rests_on := [
		path,
		"/controlPlaneEndpointsConfig/ipEndpointsConfig/enabled",
		"/privateClusterConfig/enablePrivateEndpoint",
	]
	finding := {"urn": cluster.urn, "path": path, "message": message, "rests_on": rests_on}
}

default_message := "the API endpoint is open to the internet: nothing limits it, and that is the cloud's default"

eks_problems(cluster) := {"/vpcConfig/publicAccessCidrs": default_message} if {
	networks(cluster.inputs, ["vpcConfig", "publicAccessCidrs"]) == []
} else := {sprintf("/vpcConfig/publicAccessCidrs/%v", [i]): said(network) |
	some i, network in networks(cluster.inputs, ["vpcConfig", "publicAccessCidrs"])
	wide(network)
}

gke_problems(cluster) := object.union(wide_blocks(cluster), googles(cluster)) if {
	is_object(cluster.inputs.masterAuthorizedNetworksConfig)
} else := {"/masterAuthorizedNetworksConfig": default_message}

# A list that is left out allows nobody; one that is not known is another thing.
wide_blocks(cluster) := {"/masterAuthorizedNetworksConfig/cidrBlocks": said(null)} if {
	"/masterAuthorizedNetworksConfig/cidrBlocks" in cluster.unknown
} else := {sprintf("/masterAuthorizedNetworksConfig/cidrBlocks/%v/cidrBlock", [i]): said(network) |
	some i, block in networks(cluster.inputs, ["masterAuthorizedNetworksConfig", "cidrBlocks"])
	network := cidr(block)
	wide(network)
}

cidr(block) := object.get(block, "cidrBlock", null) if is_object(block)

else := null if block == null

# Anybody's virtual machine has a public address of Google Cloud.
googles(cluster) := {"/masterAuthorizedNetworksConfig/gcpPublicCidrsAccessEnabled": message} if {
	open_to_google(cluster)
	message := "the API endpoint is open to every customer of Google Cloud: gcpPublicCidrsAccessEnabled is true"
} else := {}

open_to_google(cluster) if object.get(cluster.inputs, ["masterAuthorizedNetworksConfig", "gcpPublicCidrsAccessEnabled"], false) == true

open_to_google(cluster) if "/masterAuthorizedNetworksConfig/gcpPublicCidrsAccessEnabled" in cluster.unknown

networks(inputs, path) := listed if {
	listed := object.get(inputs, path, [])
	is_array(listed)
} else := []

said(network) := "a network that reaches the API endpoint is not known" if network == null

else := sprintf("the API endpoint is open to %v: the limits allow networks of /%v (IPv4) and /%v (IPv6) or smaller", [
	network,
	input.limits.api.widest_ipv4,
	input.limits.api.widest_ipv6,
])

# Null is a network that is not known.
wide(network) if network == null

wide(network) if internet.wide(network)
