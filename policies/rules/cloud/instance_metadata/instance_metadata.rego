# METADATA
# title: Pods cannot take their node's credentials from the metadata service
# description: >-
#   The instance metadata service hands the node's role to whoever asks. Version 2 must be required, or one forged
#   request is enough; and its answers may make one hop only, or a pod receives them. Both are needed: the hop limit
#   does nothing for version 1. A node group without a launch template of its own leaves both to EKS and the machine
#   image. On GKE the server of Workload Identity stands before it, unless nodes are told GCE_METADATA.
# custom:
#   id: C1
#   severity: high
#   level: mandatory
#   on_unknown: deny
#   scope: resource
#   waivable: true
#   reads:
#     - {type: "aws:ec2/launchConfiguration:LaunchConfiguration", path: /metadataOptions, fires: true}
#     - {type: "aws:ec2/launchTemplate:LaunchTemplate", path: /metadataOptions, fires: true}
#     - {type: "aws:eks/nodeGroup:NodeGroup", path: /launchTemplate/id}
#     - {type: "aws:eks/nodeGroup:NodeGroup", path: /launchTemplate/name}
#     - {type: "gcp:container/cluster:Cluster", path: /nodeConfig/workloadMetadataConfig/mode}
#     - {type: "gcp:container/nodePool:NodePool", path: /nodeConfig/workloadMetadataConfig/mode}
#     - {type: "kubernetes:karpenter.k8s.aws/*:EC2NodeClass", path: /spec/metadataOptions/httpPutResponseHopLimit}
#     - {type: "kubernetes:karpenter.k8s.aws/*:EC2NodeClass", path: /spec/metadataOptions/httpTokens}
#   refers:
#     - {type: "aws:eks/nodeGroup:NodeGroup", path: /launchTemplate/id, to: "aws:ec2/launchTemplate:LaunchTemplate"}
#     - {type: "aws:eks/nodeGroup:NodeGroup", path: /launchTemplate/name, to: "aws:ec2/launchTemplate:LaunchTemplate"}
#   frameworks:
#     - "Amazon EKS Best Practices Guide: restrict access to the instance profile"
#     - "CIS Google Kubernetes Engine Benchmark 1.6.0: 5.4.1"
#   remediation: >-
#     Set metadataOptions httpTokens to required and httpPutResponseHopLimit to 1, in a launch template of the node group
#     or in Karpenter's EC2NodeClass, and give pods that call AWS a pod identity. On GKE set the mode
#     GKE_METADATA.
package gpuyard.rules.cloud.instance_metadata

deny contains {"urn": group.urn, "path": "/launchTemplate", "message": message} if {
	some group in input.by_type["aws:eks/nodeGroup:NodeGroup"]
	not has_template(group)
	message := "the node group has no launch template, so nothing says that the metadata service needs version 2 and one hop"
}

deny contains finding if {
	some type in ["aws:ec2/launchConfiguration:LaunchConfiguration", "aws:ec2/launchTemplate:LaunchTemplate"]
	some template in input.by_type[type]
	object.get(template.inputs, ["metadataOptions", "httpEndpoint"], "enabled") != "disabled"
	some field, wanted in demanded
	given := object.get(template.inputs, ["metadataOptions", field], "not set")
	given != wanted
	path := sprintf("/metadataOptions/%v", [field])
	rests_on := [path, "/metadataOptions/httpEndpoint"]
	finding := {"urn": template.urn, "path": path, "message": said(field, given), "rests_on": rests_on}
}

has_template(group) if is_object(group.inputs.launchTemplate)

# Karpenter's own defaults are the safe ones, save for the hop limit of its beta, which was 2.
deny contains {"urn": class.urn, "path": path, "message": message} if {
	some class in input.objects["EC2NodeClass.karpenter.k8s.aws"]
	some field, wanted in demanded
	given := object.get(class.body, ["spec", "metadataOptions", field], left_out(class, field))
	given != wanted
	object.get(class.body, ["spec", "metadataOptions", "httpEndpoint"], "enabled") != "disabled"
	path := sprintf("%v/spec/metadataOptions/%v", [class.path, field])
	message := said(field, given)
}

left_out(class, "httpPutResponseHopLimit") := 2 if class.api == "karpenter.k8s.aws/v1beta1"

else := 1

left_out(_, "httpTokens") := "required"

deny contains {"urn": nodes.urn, "path": path, "message": message} if {
	some type in ["gcp:container/cluster:Cluster", "gcp:container/nodePool:NodePool"]
	some nodes in input.by_type[type]
	object.get(nodes.inputs, ["nodeConfig", "workloadMetadataConfig", "mode"], "GKE_METADATA") == "GCE_METADATA"
	path := "/nodeConfig/workloadMetadataConfig/mode"
	message := "mode is GCE_METADATA: pods receive the credentials of their node's account"
}

demanded := {"httpPutResponseHopLimit": 1, "httpTokens": "required"}

said(field, given) := sprintf("%v is %v, and must be %v: %v", [field, given, demanded[field], {
	"httpPutResponseHopLimit": "over a second hop pods receive the node's credentials",
	"httpTokens": "without a token, one forged request gets the node's credentials",
}[field]])
