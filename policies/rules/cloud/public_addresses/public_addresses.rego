# METADATA
# title: Nodes have no public address
# description: >-
#   A node with a public address is one forgotten firewall rule away from the internet: kubelet, exporters and every host
#   port with it. Nodes call out through a NAT gateway and need none. GKE gives each node one unless it is told otherwise;
#   EKS does where the subnet does.
# custom:
#   id: C4
#   severity: high
#   level: mandatory
#   on_unknown: warn
#   scope: resource
#   waivable: true
#   reads:
#     - {type: "aws:ec2/instance:Instance", path: /associatePublicIpAddress}
#     - {type: "aws:ec2/launchConfiguration:LaunchConfiguration", path: /associatePublicIpAddress}
#     - {type: "aws:ec2/launchTemplate:LaunchTemplate", path: /networkInterfaces/*/associatePublicIpAddress}
#     - {type: "aws:eks/nodeGroup:NodeGroup", path: /subnetIds, fires: true}
#     - {type: "gcp:compute/instance:Instance", path: /networkInterfaces/*/accessConfigs, fires: true}
#     - {type: "gcp:compute/instanceTemplate:InstanceTemplate", path: /networkInterfaces/*/accessConfigs, fires: true}
#     - {type: "gcp:container/cluster:Cluster", path: /privateClusterConfig/enablePrivateNodes, fires: true}
#     - {type: "gcp:container/nodePool:NodePool", path: /networkConfig/enablePrivateNodes, fires: true}
#     - {type: "kubernetes:karpenter.k8s.aws/*:EC2NodeClass", path: /spec/associatePublicIPAddress}
#   refers:
#     - {type: "aws:eks/nodeGroup:NodeGroup", path: /launchTemplate/id, to: "aws:ec2/launchTemplate:LaunchTemplate"}
#     - {type: "aws:eks/nodeGroup:NodeGroup", path: /launchTemplate/name, to: "aws:ec2/launchTemplate:LaunchTemplate"}
#     - {type: "aws:eks/nodeGroup:NodeGroup", path: /subnetIds/0, to: "aws:ec2/subnet:Subnet"}
#     - {type: "aws:eks/nodeGroup:NodeGroup", path: /subnetIds/1, to: "aws:ec2/subnet:Subnet"}
#     - {type: "aws:eks/nodeGroup:NodeGroup", path: /subnetIds/2, to: "aws:ec2/subnet:Subnet"}
#     - {type: "gcp:container/nodePool:NodePool", path: /cluster, to: "gcp:container/cluster:Cluster"}
#   frameworks:
#     - "CIS Google Kubernetes Engine Benchmark 1.6.0: 5.6.5"
#     - "CIS Amazon EKS Benchmark 1.7.0: 5.4.3"
#   remediation: >-
#     On EKS use private subnets and leave associatePublicIpAddress out; on GKE set enablePrivateNodes, with Cloud NAT for
#     what nodes call; on Compute Engine leave accessConfigs out.
package gpuyard.rules.cloud.public_addresses

deny contains {"urn": node.urn, "path": node.path, "message": node.message, "rests_on": [node.path]} if {
	some node in nodes
}

# --- EC2

nodes contains {"urn": template.urn, "path": path, "message": message} if {
	some template in input.by_type["aws:ec2/launchTemplate:LaunchTemplate"]
	of_nodes(template)
	interfaces := object.get(template.inputs, "networkInterfaces", [])
	is_array(interfaces)
	some i, interface in interfaces
	is_object(interface)
	interface.associatePublicIpAddress in ["true", true]
	path := sprintf("/networkInterfaces/%v/associatePublicIpAddress", [i])
	message := "every node of this launch template gets a public address"
}

of_nodes(template) if template.urn in input.accelerated

of_nodes(template) if template.urn in node_templates

node_templates contains found if {
	some group in input.by_type["aws:eks/nodeGroup:NodeGroup"]
	some name in ["/launchTemplate/id", "/launchTemplate/name"]
	found := group.references[name]
}

nodes contains {"urn": machine.urn, "path": "/associatePublicIpAddress", "message": message} if {
	some type in ["aws:ec2/instance:Instance", "aws:ec2/launchConfiguration:LaunchConfiguration"]
	some machine in input.by_type[type]
	machine.urn in input.accelerated
	object.get(machine.inputs, "associatePublicIpAddress", false) == true
	message := "a machine with accelerators gets a public address"
}

nodes contains {"urn": group.urn, "path": path, "message": message} if {
	some group in input.by_type["aws:eks/nodeGroup:NodeGroup"]
	some path in ["/subnetIds/0", "/subnetIds/1", "/subnetIds/2"]
	name := public_subnets[group.references[path]]
	message := sprintf("nodes get a public address: subnet %v gives one to each machine (mapPublicIpOnLaunch)", [name])
}

public_subnets[subnet.urn] := subnet.name if {
	some subnet in input.by_type["aws:ec2/subnet:Subnet"]
	object.get(subnet.inputs, "mapPublicIpOnLaunch", false) == true
}

nodes contains {"urn": class.urn, "path": path, "message": message} if {
	some class in input.objects["EC2NodeClass.karpenter.k8s.aws"]
	object.get(class.body, ["spec", "associatePublicIPAddress"], false) == true
	path := sprintf("%v/spec/associatePublicIPAddress", [class.path])
	message := "every node that Karpenter makes of this class gets a public address"
}

# --- Google Cloud

gke_message := "nodes get public addresses, which is what GKE does unless enablePrivateNodes is set"

# A pool that GKE removes at once has no nodes; pools by themselves are judged where they are.
nodes contains {"urn": cluster.urn, "path": "/privateClusterConfig/enablePrivateNodes", "message": gke_message} if {
	some cluster in input.by_type["gcp:container/cluster:Cluster"]
	not private(cluster)
	object.get(cluster.inputs, "removeDefaultNodePool", false) == false
}

nodes contains {"urn": pool.urn, "path": "/networkConfig/enablePrivateNodes", "message": gke_message} if {
	some pool in input.by_type["gcp:container/nodePool:NodePool"]
	object.get(pool.inputs, ["networkConfig", "enablePrivateNodes"], false) == false
	public(pool)
}

public(pool) if object.get(pool.inputs, ["networkConfig", "enablePrivateNodes"], true) == false

# What the pool does not say, its cluster does, if it is in the program.
public(pool) if {
	some cluster in input.by_type["gcp:container/cluster:Cluster"]
	pool.references["/cluster"] == cluster.urn
	not private(cluster)
}

private(cluster) if object.get(cluster.inputs, ["privateClusterConfig", "enablePrivateNodes"], false) == true

private(cluster) if "/privateClusterConfig" in cluster.unknown

private(cluster) if "/privateClusterConfig/enablePrivateNodes" in cluster.unknown

nodes contains {"urn": machine.urn, "path": path, "message": message} if {
	some type in ["gcp:compute/instance:Instance", "gcp:compute/instanceTemplate:InstanceTemplate"]
	some machine in input.by_type[type]
	machine.urn in input.accelerated
	interfaces := object.get(machine.inputs, "networkInterfaces", [])
	is_array(interfaces)
	some i, interface in interfaces
	is_object(interface)
	some field in ["accessConfigs", "ipv6AccessConfigs"]
	given := object.get(interface, field, [])
	is_array(given)
	count(given) > 0
	path := sprintf("/networkInterfaces/%v/%v", [i, field])
	message := sprintf("a machine with accelerators gets a public address (%v)", [field])
}
