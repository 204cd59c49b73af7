package gpuyard.rules.cloud.api_exposure_test

import data.gpuyard.rules.cloud.api_exposure

denied(by_type) := found if {
	found := {finding.path | some finding in api_exposure.deny} with input as {
		"limits": {"api": {"widest_ipv4": 24, "widest_ipv6": 64}},
		"by_type": by_type,
	}
}

eks(vpc) := denied({"aws:eks/cluster:Cluster": [{"urn": "e", "inputs": {"vpcConfig": vpc}}]})

gke(inputs) := denied({"gcp:container/cluster:Cluster": [{"urn": "g", "inputs": inputs}]})

allow(networks) := gke({"masterAuthorizedNetworksConfig": {"cidrBlocks": [{"cidrBlock": network} | some network in networks]}})

test_a_private_endpoint_is_allowed if {
	eks({"endpointPublicAccess": false, "endpointPrivateAccess": true}) == set()
	gke({"privateClusterConfig": {"enablePrivateEndpoint": true, "enablePrivateNodes": true}}) == set()
	gke({"controlPlaneEndpointsConfig": {"ipEndpointsConfig": {"enabled": false}}}) == set()
}

test_small_networks_are_allowed if {
	eks({"publicAccessCidrs": ["203.0.113.0/24", "198.51.100.7/32"]}) == set()
	allow(["203.0.113.0/24", "2001:db8:1:2::/64"]) == set()
}

test_private_networks_of_any_size_are_allowed if {
	allow(["10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "100.64.0.0/10", "fd00::/8"]) == set()
}

test_a_list_of_nobody_is_allowed_on_gke if gke({"masterAuthorizedNetworksConfig": {}}) == set()

test_the_clouds_defaults_are_denied if {
	eks({"subnetIds": ["subnet-1"]}) == {"/vpcConfig/publicAccessCidrs"}
	eks({"endpointPublicAccess": true, "publicAccessCidrs": []}) == {"/vpcConfig/publicAccessCidrs"}
	gke({"location": "us-central1"}) == {"/masterAuthorizedNetworksConfig"}
	gke({"privateClusterConfig": {"enablePrivateNodes": true}}) == {"/masterAuthorizedNetworksConfig"}
}

test_the_whole_internet_is_denied if {
	eks({"publicAccessCidrs": ["0.0.0.0/0", "::/0"]}) == {"/vpcConfig/publicAccessCidrs/0", "/vpcConfig/publicAccessCidrs/1"}
	allow(["0.0.0.0/0"]) == {"/masterAuthorizedNetworksConfig/cidrBlocks/0/cidrBlock"}
}

test_halves_of_the_internet_are_denied if {
	eks({"publicAccessCidrs": ["0.0.0.0/1", "128.0.0.0/1"]}) == {
		"/vpcConfig/publicAccessCidrs/0",
		"/vpcConfig/publicAccessCidrs/1",
	}
}

test_a_network_that_holds_a_private_one_is_not_private if {
	eks({"publicAccessCidrs": ["10.0.0.0/7"]}) == {"/vpcConfig/publicAccessCidrs/0"}
}

test_what_is_no_network_is_left_to_the_cloud if {
	eks({"publicAccessCidrs": ["everybody", 7, "203.0.113.0/99"]}) == set()
	gke({"masterAuthorizedNetworksConfig": {"cidrBlocks": ["everybody", {"cidrBlock": 7}]}}) == set()
}

test_networks_that_are_not_known_are_denied_of_a_public_endpoint_only if {
	eks({"publicAccessCidrs": ["203.0.113.0/24", null]}) == {"/vpcConfig/publicAccessCidrs/1"}
	eks({"publicAccessCidrs": [null], "endpointPublicAccess": false}) == set()
	block := {"cidrBlocks": [{"displayName": "office"}, null]}
	gke({"masterAuthorizedNetworksConfig": block}) == {
		"/masterAuthorizedNetworksConfig/cidrBlocks/0/cidrBlock",
		"/masterAuthorizedNetworksConfig/cidrBlocks/1/cidrBlock",
	}
	gke({"masterAuthorizedNetworksConfig": block, "privateClusterConfig": {"enablePrivateEndpoint": true}}) == set()
	list := "/masterAuthorizedNetworksConfig/cidrBlocks"
	unlisted := {"urn": "g", "unknown": [list], "inputs": {"masterAuthorizedNetworksConfig": {}}}
	denied({"gcp:container/cluster:Cluster": [unlisted]}) == {list}
}

test_a_finding_rests_on_what_makes_the_endpoint_public if {
	found := [finding.rests_on | some finding in api_exposure.deny] with input as {"by_type": {"aws:eks/cluster:Cluster": [{"urn": "e", "inputs": {}}]}}
	found == [["/vpcConfig/publicAccessCidrs", "/vpcConfig/endpointPublicAccess"]]
}

test_every_customer_of_google_cloud_is_denied if {
	office := {"cidrBlocks": [{"cidrBlock": "203.0.113.0/24"}], "gcpPublicCidrsAccessEnabled": false}
	gke({"masterAuthorizedNetworksConfig": office}) == set()
	gke({"masterAuthorizedNetworksConfig": object.union(office, {"gcpPublicCidrsAccessEnabled": true})}) == {"/masterAuthorizedNetworksConfig/gcpPublicCidrsAccessEnabled"}
}
