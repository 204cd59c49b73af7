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
#   scope: resource
#   waivable: true
#   reads:
#     - {type: "aws:ebs/volume:Volume", path: /tags, fires: true}
#     - {type: "aws:ec2/capacityBlockReservation:CapacityBlockReservation", path: /tags, fires: true}
#     - {type: "aws:ec2/capacityReservation:CapacityReservation", path: /tags, fires: true}
#     - {type: "aws:ec2/instance:Instance", path: /tags, fires: true}
#     - {type: "aws:ec2/natGateway:NatGateway", path: /tags, fires: true}
#     - {type: "aws:ecr/repository:Repository", path: /tags, fires: true}
#     - {type: "aws:efs/fileSystem:FileSystem", path: /tags, fires: true}
#     - {type: "aws:eks/cluster:Cluster", path: /tags, fires: true}
#     - {type: "aws:eks/nodeGroup:NodeGroup", path: /tags, fires: true}
#     - {type: "aws:fsx/lustreFileSystem:LustreFileSystem", path: /tags, fires: true}
#     - {type: "aws:lb/loadBalancer:LoadBalancer", path: /tags, fires: true}
#     - {type: "aws:s3/bucket:Bucket", path: /tags, fires: true}
#     - {type: "aws:s3/bucketV2:BucketV2", path: /tags, fires: true}
#     - {type: "gcp:artifactregistry/repository:Repository", path: /labels, fires: true}
#     - {type: "gcp:compute/disk:Disk", path: /labels, fires: true}
#     - {type: "gcp:compute/instance:Instance", path: /labels, fires: true}
#     - {type: "gcp:container/cluster:Cluster", path: /resourceLabels, fires: true}
#     - {type: "gcp:container/nodePool:NodePool", path: /nodeConfig/resourceLabels, fires: true}
#     - {type: "gcp:filestore/instance:Instance", path: /labels, fires: true}
#     - {type: "gcp:storage/bucket:Bucket", path: /labels, fires: true}
#   refers:
#     - {type: "gcp:container/nodePool:NodePool", path: /cluster, to: "gcp:container/cluster:Cluster"}
#   remediation: >-
#     Set the tags or labels on the resource, or once for all in the provider's `defaultTags` or `defaultLabels`, spelt as
#     `tags` in policies/limits are.
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
	missing := [tag | some tag in input.limits.tags; not carries(resource, place, tag)]
	count(missing) > 0
	finding := {
		"urn": resource.urn,
		"path": sprintf("/%v", [concat("/", place)]),
		"message": sprintf("the %v missing%v, so nobody knows whom to charge", [
			named(missing, word(type)),
			hint(missing, tags(resource, place)),
		]),
		"rests_on": array.concat(["/defaultTags"], [pointer(place, tag) | some tag in missing]),
	}
}

word(type) := "label" if startswith(type, "gcp:")

else := "tag"

named(missing, kind) := sprintf("%v %v is", [kind, missing[0]]) if count(missing) == 1

else := sprintf("%vs %v are", [kind, concat(" and ", missing)])

# A tag of another spelling is another tag.
hint(missing, given) := sprintf(" (given: %v)", [concat(", ", sort(near))]) if {
	near := {name | some name, _ in given; some tag in missing; name != tag; letters(name) == letters(tag)}
	count(near) > 0
} else := ""

letters(name) := lower(replace(replace(name, "-", ""), "_", ""))

tags(resource, place) := object.union(resource.default_tags, own) if {
	own := object.get(resource.inputs, place, {})
	is_object(own)
} else := resource.default_tags

pointer(place, tag) := sprintf("/%v/%v", [concat("/", place), replace(replace(tag, "~", "~0"), "/", "~1")])

carries(resource, place, tag) if has(resource, place, tag)

# GKE labels a cluster's machines and disks with the cluster's own labels too.
carries(pool, ["nodeConfig", "resourceLabels"], tag) if {
	some cluster in input.by_type["gcp:container/cluster:Cluster"]
	pool.references["/cluster"] == cluster.urn
	has(cluster, ["resourceLabels"], tag)
}

has(resource, place, tag) if said(object.get(tags(resource, place), tag, ""))

# What the tag says is not known yet; that it is there is.
has(resource, place, tag) if pointer(place, tag) in resource.unknown

said(value) if {
	is_string(value)
	trim_space(value) != ""
}
