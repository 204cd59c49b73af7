package gpuyard.rules.cloud.public_addresses_test

import data.gpuyard.rules.cloud.public_addresses

denied(by_type, given) := found if {
	found := {finding.path | some finding in public_addresses.deny} with input as object.union(
		{"by_type": by_type, "objects": {}, "accelerated": []},
		given,
	)
}

template(value) := {"aws:ec2/launchTemplate:LaunchTemplate": [{"urn": "t", "inputs": {"networkInterfaces": [{"associatePublicIpAddress": value}]}}]}

group := {"aws:eks/nodeGroup:NodeGroup": [{"urn": "g", "inputs": {}, "references": {"/launchTemplate/id": "t"}}]}

test_a_template_without_public_addresses_is_allowed if {
	denied(object.union(template("false"), group), {}) == set()
	denied(object.union(template(false), group), {}) == set()
}

test_a_template_that_no_node_uses_is_not_judged if denied(template("true"), {}) == set()

test_a_template_of_nodes_with_public_addresses_is_denied if {
	path := {"/networkInterfaces/0/associatePublicIpAddress"}
	denied(object.union(template("true"), group), {}) == path
	denied(object.union(template(true), group), {}) == path
	denied(template("true"), {"accelerated": ["t"]}) == path
}

machine(inputs) := {"aws:ec2/instance:Instance": [{"urn": "m", "inputs": inputs}]}

test_a_machine_without_accelerators_is_not_judged if denied(machine({"associatePublicIpAddress": true}), {}) == set()

test_a_machine_with_accelerators_and_a_public_address_is_denied if {
	denied(machine({"associatePublicIpAddress": true}), {"accelerated": ["m"]}) == {"/associatePublicIpAddress"}
	denied(machine({"associatePublicIpAddress": false}), {"accelerated": ["m"]}) == set()
}

in_subnet(public) := {
	"aws:eks/nodeGroup:NodeGroup": [{"urn": "g", "inputs": {}, "references": {"/subnetIds/1": "s"}}],
	"aws:ec2/subnet:Subnet": [{"urn": "s", "name": "public-a", "inputs": {"mapPublicIpOnLaunch": public}}],
}

test_a_private_subnet_is_allowed if denied(in_subnet(false), {}) == set()

test_a_public_subnet_of_a_node_group_is_denied if denied(in_subnet(true), {}) == {"/subnetIds/1"}

class(value) := {"objects": {"EC2NodeClass.karpenter.k8s.aws": [{"urn": "c", "path": "", "body": {"spec": {"associatePublicIPAddress": value}}}]}}

test_karpenter_without_public_addresses_is_allowed if denied({}, class(false)) == set()

test_karpenter_with_public_addresses_is_denied if denied({}, class(true)) == {"/spec/associatePublicIPAddress"}

cluster(inputs) := {"gcp:container/cluster:Cluster": [{"urn": "k", "unknown": [], "inputs": inputs}]}

pool(inputs) := {"gcp:container/nodePool:NodePool": [{"urn": "p", "inputs": inputs, "references": {"/cluster": "k"}}]}

private := {"privateClusterConfig": {"enablePrivateNodes": true}}

test_private_nodes_of_gke_are_allowed if {
	denied(object.union(cluster(private), pool({})), {}) == set()
	public := cluster({"removeDefaultNodePool": true})
	denied(object.union(public, pool({"networkConfig": {"enablePrivateNodes": true}})), {}) == set()
}

test_a_pool_of_a_cluster_that_is_not_in_the_program_is_not_judged if {
	denied({"gcp:container/nodePool:NodePool": [{"urn": "p", "inputs": {"cluster": "ml"}, "references": {}}]}, {}) == set()
}

test_gkes_default_is_denied if {
	denied(cluster({}), {}) == {"/privateClusterConfig/enablePrivateNodes"}
	denied(object.union(cluster({"removeDefaultNodePool": true}), pool({})), {}) == {"/networkConfig/enablePrivateNodes"}
}

test_a_pool_that_undoes_it_is_denied if {
	denied(object.union(cluster(private), pool({"networkConfig": {"enablePrivateNodes": false}})), {}) == {"/networkConfig/enablePrivateNodes"}
}

test_a_cluster_of_which_it_is_not_known_is_not_judged if {
	unknown := {"gcp:container/cluster:Cluster": [{"urn": "k", "unknown": ["/privateClusterConfig"], "inputs": {}}]}
	denied(unknown, {}) == set()
}

test_a_machine_of_compute_engine_with_accelerators_is_denied if {
	interfaces := [{"network": "ml"}, {"accessConfigs": [{}]}]
	given := {"gcp:compute/instance:Instance": [{"urn": "m", "inputs": {"networkInterfaces": interfaces}}]}
	denied(given, {}) == set()
	denied(given, {"accelerated": ["m"]}) == {"/networkInterfaces/1/accessConfigs"}
}
