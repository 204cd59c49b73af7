# METADATA
# title: Everything that costs money says whom to charge
# description: >-
#   A bill is split by tags (AWS) and labels (Google Cloud). What lacks them ends in nobody's account, and is found
#   months later. Tags that a provider adds to everything (`defaultTags`, `defaultLabels`) count, and so do the labels
#   of a GKE cluster for its node pools.
# custom:
#   id: Q13
#   severity: medium
#   level: mandatory
#   on_unknown: warn
#   waivable: true
#   reads:
#     - {type: "aws:ebs/volume:Volume", path: /tags, whole: true}
#     - {type: "aws:ec2/capacityBlockReservation:CapacityBlockReservation", path: /tags, whole: true}
#     - {type: "aws:ec2/capacityReservation:CapacityReservation", path: /tags, whole: true}
#     - {type: "aws:ec2/instance:Instance", path: /tags, whole: true}
#     - {type: "aws:ec2/natGateway:NatGateway", path: /tags, whole: true}
#     - {type: "aws:ecr/repository:Repository", path: /tags, whole: true}
#     - {type: "aws:efs/fileSystem:FileSystem", path: /tags, whole: true}
#     - {type: "aws:eks/cluster:Cluster", path: /tags, whole: true}
#     - {type: "aws:eks/nodeGroup:NodeGroup", path: /tags, whole: true}
#     - {type: "aws:fsx/lustreFileSystem:LustreFileSystem", path: /tags, whole: true}
#     - {type: "aws:lb/loadBalancer:LoadBalancer", path: /tags, whole: true}
#     - {type: "aws:s3/bucket:Bucket", path: /tags, whole: true}
#     - {type: "aws:s3/bucketV2:BucketV2", path: /tags, whole: true}
#     - {type: "gcp:artifactregistry/repository:Repository", path: /labels, whole: true}
#     - {type: "gcp:compute/disk:Disk", path: /labels, whole: true}
#     - {type: "gcp:compute/instance:Instance", path: /labels, whole: true}
#     - {type: "gcp:container/cluster:Cluster", path: /resourceLabels, whole: true}
#     - {type: "gcp:container/nodePool:NodePool", path: /nodeConfig/resourceLabels, whole: true}
#     - {type: "gcp:filestore/instance:Instance", path: /labels, whole: true}
#     - {type: "gcp:storage/bucket:Bucket", path: /labels, whole: true}
#   refers:
#     - {type: "gcp:container/nodePool:NodePool", path: /cluster, to: "gcp:container/cluster:Cluster"}
#   remediation: Set the tags on the resource, or once for all in the provider's `defaultTags` or `defaultLabels`.
package gpuyard.rules.cost.tags

# What is charged by itself, and where its tags are.
tagged := {
	"aws:ebs/volume:Volume": ["tags"],
	"aws:ec2/capacityBlockReservation:CapacityBlockReservation": ["tags"],
	"aws:ec2/capacityReservation:CapacityReservation": ["tags"],
	"aws:ec2/instance:Instance": ["tags"],
	"aws:ec2/natGateway:NatGateway": ["tags"],
	"aws:ecr/repository:Repository": ["tags"],
	"aws:efs/fileSystem:FileSystem": ["tags"],
	"aws:eks/cluster:Cluster": ["tags"],
	"aws:eks/nodeGroup:NodeGroup": ["tags"],
	"aws:fsx/lustreFileSystem:LustreFileSystem": ["tags"],
	"aws:lb/loadBalancer:LoadBalancer": ["tags"],
	"aws:s3/bucket:Bucket": ["tags"],
	"aws:s3/bucketV2:BucketV2": ["tags"],
	"gcp:artifactregistry/repository:Repository": ["labels"],
	"gcp:compute/disk:Disk": ["labels"],
	"gcp:compute/instance:Instance": ["labels"],
	"gcp:container/cluster:Cluster": ["resourceLabels"],
	"gcp:container/nodePool:NodePool": ["nodeConfig", "resourceLabels"],
	"gcp:filestore/instance:Instance": ["labels"],
	"gcp:storage/bucket:Bucket": ["labels"],
}

deny contains finding if {
	some type, place in tagged
	some resource in input.by_type[type]
	some tag in input.limits.tags
	not carries(resource, place, tag)
	path := sprintf("/%v/%v", [concat("/", place), tag])
	finding := {
		"urn": resource.urn,
		"path": path,
		"message": sprintf("the tag %v is missing, so nobody knows whom to charge", [tag]),
		"rests_on": [path, "/defaultTags"],
	}
}

carries(resource, place, tag) if said(object.get(resource.inputs, array.concat(place, [tag]), ""))

carries(resource, _, tag) if said(object.get(resource.default_tags, tag, ""))

# GKE labels a cluster's machines and disks with the cluster's own labels too.
carries(pool, ["nodeConfig", "resourceLabels"], tag) if {
	some cluster in input.by_type["gcp:container/cluster:Cluster"]
	pool.references["/cluster"] == cluster.urn
	said(object.get(cluster.inputs, ["resourceLabels", tag], ""))
}

said(value) if {
	is_string(value)
	value != ""
}
