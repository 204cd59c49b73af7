package gpuyard.rules.cloud.instance_metadata_test

import data.gpuyard.rules.cloud.instance_metadata

denied(by_type, objects) := found if {
	found := {finding.path | some finding in instance_metadata.deny} with input as {
		"by_type": by_type,
		"objects": objects,
	}
}

template(options) := {"aws:ec2/launchTemplate:LaunchTemplate": [{"urn": "t", "inputs": {"metadataOptions": options}}]}

group(inputs) := {"aws:eks/nodeGroup:NodeGroup": [{"urn": "g", "inputs": inputs}]}

test_a_template_that_requires_version_2_and_one_hop_is_allowed if {
	denied(template({"httpTokens": "required", "httpPutResponseHopLimit": 1, "httpEndpoint": "enabled"}), {}) == set()
}

test_a_template_without_a_metadata_service_is_allowed if denied(template({"httpEndpoint": "disabled"}), {}) == set()

test_a_node_group_with_a_template_is_allowed if denied(group({"launchTemplate": {"id": "lt-1", "version": "1"}}), {}) == set()

test_a_node_group_without_a_template_is_denied if denied(group({"diskSize": 100}), {}) == {"/launchTemplate"}

test_two_hops_are_denied if {
	denied(template({"httpTokens": "required", "httpPutResponseHopLimit": 2}), {}) == {"/metadataOptions/httpPutResponseHopLimit"}
}

test_version_1_is_denied if {
	denied(template({"httpTokens": "optional", "httpPutResponseHopLimit": 1}), {}) == {"/metadataOptions/httpTokens"}
}

test_a_template_that_says_nothing_is_denied if {
	both := {"/metadataOptions/httpTokens", "/metadataOptions/httpPutResponseHopLimit"}
	denied({"aws:ec2/launchTemplate:LaunchTemplate": [{"urn": "t", "inputs": {}}]}, {}) == both
	denied({"aws:ec2/launchConfiguration:LaunchConfiguration": [{"urn": "t", "inputs": {}}]}, {}) == both
}

class(spec) := {"EC2NodeClass.karpenter.k8s.aws": [{"urn": "c", "path": "", "body": {"spec": spec}}]}

test_karpenters_defaults_are_allowed if {
	denied({}, class({"amiFamily": "AL2023"})) == set()
	denied({}, class({"metadataOptions": {"httpTokens": "required", "httpPutResponseHopLimit": 1}})) == set()
}

test_karpenter_told_to_loosen_is_denied if {
	denied({}, class({"metadataOptions": {"httpTokens": "optional", "httpPutResponseHopLimit": 2}})) == {
		"/spec/metadataOptions/httpTokens",
		"/spec/metadataOptions/httpPutResponseHopLimit",
	}
}

test_the_hop_limit_of_karpenters_beta_is_judged if {
	beta := [{"urn": "c", "path": "", "api": "karpenter.k8s.aws/v1beta1", "body": {"spec": {"amiFamily": "AL2"}}}]
	denied({}, {"EC2NodeClass.karpenter.k8s.aws": beta}) == {"/spec/metadataOptions/httpPutResponseHopLimit"}
}

pool(mode) := {"gcp:container/nodePool:NodePool": [{"urn": "p", "inputs": {"nodeConfig": {"workloadMetadataConfig": {"mode": mode}}}}]}

test_gkes_own_metadata_server_is_allowed if denied(pool("GKE_METADATA"), {}) == set()

test_the_metadata_of_the_machine_itself_is_denied if {
	denied(pool("GCE_METADATA"), {}) == {"/nodeConfig/workloadMetadataConfig/mode"}
}

test_the_message_says_why if {
	some finding in instance_metadata.deny with input as {"objects": class({"metadataOptions": {"httpPutResponseHopLimit": 2}})}
	finding.message == "httpPutResponseHopLimit is 2, and must be 1: over a second hop pods receive the node's credentials"
}

test_a_finding_rests_on_the_service_being_there if {
	some finding in instance_metadata.deny with input as {"by_type": template({"httpTokens": "required"})}
	finding.rests_on == ["/metadataOptions/httpPutResponseHopLimit", "/metadataOptions/httpEndpoint"]
}
