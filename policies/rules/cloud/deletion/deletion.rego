# METADATA
# title: Stores of models and clusters cannot be deleted by mistake
# description: >-
#   A renamed resource, a removed line or a destroy on the wrong stack takes a cluster with all that runs on it, or weights
#   that took weeks to train. A cloud asks nobody twice, unless protection is on: Pulumi's `protect`, or the cloud's own.
#   A bucket that is not empty protects itself, unless forceDestroy empties it first: that denies, the rest warns.
# custom:
#   id: C8
#   severity: medium
#   level: mandatory
#   on_unknown: skip
#   scope: resource
#   waivable: true
#   reads:
#     - {type: "aws:ecr/repository:Repository", path: /forceDelete}
#     - {type: "aws:efs/fileSystem:FileSystem", path: /encrypted, fires: true}
#     - {type: "aws:eks/cluster:Cluster", path: /deletionProtection}
#     - {type: "aws:fsx/lustreFileSystem:LustreFileSystem", path: /deploymentType, fires: true}
#     - {type: "aws:fsx/ontapFileSystem:OntapFileSystem", path: /deploymentType, fires: true}
#     - {type: "aws:fsx/openZfsFileSystem:OpenZfsFileSystem", path: /deploymentType, fires: true}
#     - {type: "aws:s3/bucket:Bucket", path: /forceDestroy}
#     - {type: "aws:s3/bucketV2:BucketV2", path: /forceDestroy}
#     - {type: "gcp:container/cluster:Cluster", path: /deletionProtection}
#     - {type: "gcp:filestore/instance:Instance", path: /deletionProtectionEnabled}
#     - {type: "gcp:lustre/instance:Instance", path: /deletionPolicy}
#     - {type: "gcp:storage/bucket:Bucket", path: /forceDestroy}
#   thresholds:
#     demanded:
#       type: boolean
#       default: true
#       description: Whether this environment's stores and clusters need protection at all.
#   remediation: >-
#     Set `protect` in the resource's options, deletionProtection on a cluster, and leave forceDestroy and forceDelete out.
package gpuyard.rules.cloud.deletion

demanded if input.limits.thresholds["cloud/deletion"].demanded == true

deny contains {"urn": resource.urn, "path": path, "message": message} if {
	demanded
	some type, field in {
		"aws:ecr/repository:Repository": "forceDelete",
		"aws:s3/bucket:Bucket": "forceDestroy",
		"aws:s3/bucketV2:BucketV2": "forceDestroy",
		"gcp:storage/bucket:Bucket": "forceDestroy",
	}
	some resource in input.by_type[type]
	resource.protect == false
	object.get(resource.inputs, field, false) == true
	message := sprintf("%v deletes all that is in it with it, and nothing protects it", [field])
	path := sprintf("/%v", [field])
}

# What has data and no protection, and the input by which its cloud would protect it: true where that is its default.
deny contains {"urn": resource.urn, "path": path, "message": message, "level": "advisory"} if {
	demanded
	some type, cloud in {
		"aws:eks/cluster:Cluster": {"field": "deletionProtection", "default": false, "what": "the cluster"},
		"gcp:container/cluster:Cluster": {"field": "deletionProtection", "default": true, "what": "the cluster"},
		"gcp:filestore/instance:Instance": {"field": "deletionProtectionEnabled", "default": false, "what": "the file system"},
	}
	some resource in input.by_type[type]
	resource.protect == false
	object.get(resource.inputs, cloud.field, cloud["default"]) == false
	not kept(resource)
	message := sprintf("nothing protects %v from being deleted: set protect, or %v", [cloud.what, cloud.field])
	path := sprintf("/%v", [cloud.field])
}

deny contains {"urn": resource.urn, "path": "", "message": message, "level": "advisory"} if {
	demanded
	some type in [
		"aws:efs/fileSystem:FileSystem",
		"aws:fsx/lustreFileSystem:LustreFileSystem",
		"aws:fsx/ontapFileSystem:OntapFileSystem",
		"aws:fsx/openZfsFileSystem:OpenZfsFileSystem",
		"gcp:lustre/instance:Instance",
	]
	some resource in input.by_type[type]
	resource.protect == false
	not kept(resource)
	not scratch(resource)
	message := "nothing protects the file system from being deleted: set protect"
}

# What the newer provider of Google Cloud has for every resource.
kept(resource) if object.get(resource.inputs, "deletionPolicy", "DELETE") in ["ABANDON", "PREVENT"]

# A scratch file system is filled from a bucket, and made to be thrown away.
scratch(resource) if {
	deployment := object.get(resource.inputs, "deploymentType", "")
	is_string(deployment)
	startswith(deployment, "SCRATCH")
}
