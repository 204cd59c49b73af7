# METADATA
# title: What is stored is encrypted, and with one's own key where the limits ask for it
# description: >-
#   Disks, file systems and volumes hold models, training data and what pods write, and outlive the machine that they are
#   attached to. EC2 and EFS leave them unencrypted unless they are told otherwise. Google Cloud, S3, ECR and FSx always
#   encrypt with a key of their own; with a key of one's own, access to the data can be told from access to the store,
#   and taken away at once. Which stores must have one is a threshold.
# custom:
#   id: C3
#   severity: high
#   level: mandatory
#   on_unknown: warn
#   scope: stack
#   waivable: true
#   reads:
#     - {type: "aws:ebs/encryptionByDefault:EncryptionByDefault", path: /enabled, fires: true}
#     - {type: "aws:ebs/volume:Volume", path: /encrypted}
#     - {type: "aws:ec2/instance:Instance", path: /ebsBlockDevices/*/encrypted}
#     - {type: "aws:ec2/instance:Instance", path: /rootBlockDevice/encrypted}
#     - {type: "aws:ec2/launchConfiguration:LaunchConfiguration", path: /ebsBlockDevices/*/encrypted}
#     - {type: "aws:ec2/launchConfiguration:LaunchConfiguration", path: /rootBlockDevice/encrypted}
#     - {type: "aws:ec2/launchTemplate:LaunchTemplate", path: /blockDeviceMappings/*/ebs/encrypted}
#     - {type: "aws:ecr/repository:Repository", path: /encryptionConfigurations/*/encryptionType, fires: true}
#     - {type: "aws:efs/fileSystem:FileSystem", path: /encrypted}
#     - {type: "aws:eks/cluster:Cluster", path: /encryptionConfig, fires: true}
#     - {type: "aws:fsx/lustreFileSystem:LustreFileSystem", path: /kmsKeyId, fires: true}
#     - {type: "aws:s3/bucketServerSideEncryptionConfiguration:BucketServerSideEncryptionConfiguration", path: /rules, fires: true}
#     - {type: "aws:s3/bucketServerSideEncryptionConfigurationV2:BucketServerSideEncryptionConfigurationV2", path: /rules, fires: true}
#     - {type: "aws:s3/bucket:Bucket", path: /serverSideEncryptionConfiguration, fires: true}
#     - {type: "aws:s3/bucketV2:BucketV2", path: /serverSideEncryptionConfigurations, fires: true}
#     - {type: "gcp:artifactregistry/repository:Repository", path: /kmsKeyName, fires: true}
#     - {type: "gcp:compute/disk:Disk", path: /diskEncryptionKey, fires: true}
#     - {type: "gcp:container/cluster:Cluster", path: /databaseEncryption/state, fires: true}
#     - {type: "gcp:container/nodePool:NodePool", path: /nodeConfig/bootDiskKmsKey, fires: true}
#     - {type: "gcp:filestore/instance:Instance", path: /kmsKeyName, fires: true}
#     - {type: "gcp:lustre/instance:Instance", path: /kmsKey, fires: true}
#     - {type: "gcp:storage/bucket:Bucket", path: /encryption, fires: true}
#     - {type: "kubernetes:karpenter.k8s.aws/*:EC2NodeClass", path: /spec/blockDeviceMappings/*/ebs/encrypted}
#     - {type: "kubernetes:storage.k8s.io/*:StorageClass", path: /parameters/encrypted}
#   refers:
#     - {type: "aws:s3/bucketServerSideEncryptionConfiguration:BucketServerSideEncryptionConfiguration", path: /bucket, to: "aws:s3/bucket:Bucket"}
#     - {type: "aws:s3/bucketServerSideEncryptionConfiguration:BucketServerSideEncryptionConfiguration", path: /bucket, to: "aws:s3/bucketV2:BucketV2"}
#     - {type: "aws:s3/bucketServerSideEncryptionConfigurationV2:BucketServerSideEncryptionConfigurationV2", path: /bucket, to: "aws:s3/bucket:Bucket"}
#     - {type: "aws:s3/bucketServerSideEncryptionConfigurationV2:BucketServerSideEncryptionConfigurationV2", path: /bucket, to: "aws:s3/bucketV2:BucketV2"}
#   frameworks:
#     - "CIS Amazon EKS Benchmark 1.7.0: 5.3.1"
#     - "CIS Google Kubernetes Engine Benchmark 1.6.0: 5.3.1"
#   thresholds:
#     own_keys:
#       type: texts
#       default: []
#       description: What must be encrypted with a key of one's own; any of secrets, disks, buckets, file_systems, registries.
#   remediation: >-
#     Set encrypted, or once for the account aws.ebs.EncryptionByDefault; give a key where the limits ask for one of your
#     own: encryptionConfig on EKS, databaseEncryption on GKE, a KMS key on the store.
package gpuyard.rules.cloud.encryption

# --- disks and file systems that nobody encrypts

deny contains {"urn": disk.urn, "path": disk.path, "message": message} if {
	some disk in disks
	disk.encrypted in [false, "false"]
	message := sprintf("%v is not encrypted", [disk.what])
}

# The account's own setting decides then, which the program may have.
deny contains {"urn": disk.urn, "path": disk.path, "message": message, "level": "advisory"} if {
	some disk in disks
	disk.encrypted == "not said"
	not encrypted_by_account(disk)
	message := sprintf("nothing says that %v is encrypted: the account's setting decides", [disk.what])
}

encrypted_by_account(_) if {
	some setting in input.by_type["aws:ebs/encryptionByDefault:EncryptionByDefault"]
	object.get(setting.inputs, "enabled", true) == true
}

deny contains {"urn": system.urn, "path": "/encrypted", "message": message} if {
	some system in input.by_type["aws:efs/fileSystem:FileSystem"]
	object.get(system.inputs, "encrypted", false) == false
	message := "the file system is not encrypted, which is what EFS does unless encrypted is set; it cannot be set later"
}

disks contains disk if {
	some template in input.by_type["aws:ec2/launchTemplate:LaunchTemplate"]
	some i, mapping in listed(template.inputs, ["blockDeviceMappings"])
	is_object(mapping)
	ebs := object.get(mapping, "ebs", null)
	is_object(ebs)
	disk := {
		"urn": template.urn,
		"path": sprintf("/blockDeviceMappings/%v/ebs/encrypted", [i]),
		"what": sprintf("disk %v of the nodes", [object.get(mapping, "deviceName", i)]),
		"encrypted": object.get(ebs, "encrypted", "not said"),
	}
}

disks contains disk if {
	some type in ["aws:ec2/instance:Instance", "aws:ec2/launchConfiguration:LaunchConfiguration"]
	some machine in input.by_type[type]
	root := object.get(machine.inputs, "rootBlockDevice", null)
	is_object(root)
	disk := {
		"urn": machine.urn,
		"path": "/rootBlockDevice/encrypted",
		"what": "the root disk",
		"encrypted": object.get(root, "encrypted", "not said"),
	}
}

disks contains disk if {
	some type in ["aws:ec2/instance:Instance", "aws:ec2/launchConfiguration:LaunchConfiguration"]
	some machine in input.by_type[type]
	some i, device in listed(machine.inputs, ["ebsBlockDevices"])
	is_object(device)
	disk := {
		"urn": machine.urn,
		"path": sprintf("/ebsBlockDevices/%v/encrypted", [i]),
		"what": sprintf("disk %v", [object.get(device, "deviceName", i)]),
		"encrypted": object.get(device, "encrypted", "not said"),
	}
}

disks contains disk if {
	some volume in input.by_type["aws:ebs/volume:Volume"]
	disk := {
		"urn": volume.urn,
		"path": "/encrypted",
		"what": "the volume",
		"encrypted": object.get(volume.inputs, "encrypted", "not said"),
	}
}

# Karpenter encrypts the disks that nobody writes.
disks contains disk if {
	some class in input.objects["EC2NodeClass.karpenter.k8s.aws"]
	some i, mapping in listed(class.body, ["spec", "blockDeviceMappings"])
	is_object(mapping)
	ebs := object.get(mapping, "ebs", null)
	is_object(ebs)
	disk := {
		"urn": class.urn,
		"path": sprintf("%v/spec/blockDeviceMappings/%v/ebs/encrypted", [class.path, i]),
		"what": sprintf("disk %v of Karpenter's nodes", [object.get(mapping, "deviceName", i)]),
		"encrypted": object.get(ebs, "encrypted", "not said"),
	}
}

disks contains disk if {
	some class in input.objects["StorageClass.storage.k8s.io"]
	object.get(class.body, "provisioner", "") in ["ebs.csi.aws.com", "ebs.csi.eks.amazonaws.com"]
	disk := {
		"urn": class.urn,
		"path": sprintf("%v/parameters/encrypted", [class.path]),
		"what": sprintf("a volume of storage class %v", [class.name]),
		"encrypted": object.get(class.body, ["parameters", "encrypted"], "not said"),
	}
}

listed(value, path) := found if {
	is_object(value)
	found := object.get(value, path, [])
	is_array(found)
} else := []

# --- a key of one's own, where the limits ask for it

# Which key it is may not be known yet; that there is one, is.
deny contains {"urn": store.urn, "path": path, "message": message, "rests_on": []} if {
	some store in stores
	path := store.path
	unknown := store.unknown
	not path in unknown
	store.kind in input.limits.thresholds["cloud/encryption"].own_keys
	message := sprintf("%v: the limits ask for a key of one's own (%v)", [store.what, store.kind])
}

# Types whose key is one input, and what they are called in the threshold.
keys := {
	"aws:fsx/lustreFileSystem:LustreFileSystem": {"kind": "file_systems", "path": ["kmsKeyId"]},
	"aws:efs/fileSystem:FileSystem": {"kind": "file_systems", "path": ["kmsKeyId"]},
	"aws:ebs/volume:Volume": {"kind": "disks", "path": ["kmsKeyId"]},
	"aws:eks/cluster:Cluster": {"kind": "secrets", "path": ["encryptionConfig"]},
	"gcp:artifactregistry/repository:Repository": {"kind": "registries", "path": ["kmsKeyName"]},
	"gcp:compute/disk:Disk": {"kind": "disks", "path": ["diskEncryptionKey"]},
	"gcp:container/nodePool:NodePool": {"kind": "disks", "path": ["nodeConfig", "bootDiskKmsKey"]},
	"gcp:filestore/instance:Instance": {"kind": "file_systems", "path": ["kmsKeyName"]},
	"gcp:lustre/instance:Instance": {"kind": "file_systems", "path": ["kmsKey"]},
	"gcp:storage/bucket:Bucket": {"kind": "buckets", "path": ["encryption"]},
}

words := {
	"buckets": "the bucket has no key of one's own",
	"disks": "the disk has no key of one's own",
	"file_systems": "the file system has no key of one's own",
	"registries": "the repository has no key of one's own",
	"secrets": "secrets of the cluster are encrypted with the cloud's own key at most",
}

stores contains {"urn": store.urn, "path": path, "kind": key.kind, "what": words[key.kind], "unknown": store.unknown} if {
	some type, key in keys
	some store in input.by_type[type]
	object.get(store.inputs, key.path, null) == null
	path := sprintf("/%v", [concat("/", key.path)])
	not without_choice(type, store)
}

# The key of a scratch file system is always the service's.
without_choice("aws:fsx/lustreFileSystem:LustreFileSystem", store) if {
	deployment := object.get(store.inputs, "deploymentType", "SCRATCH_1")
	is_string(deployment)
	startswith(deployment, "SCRATCH")
}

stores contains {"urn": cluster.urn, "path": "/databaseEncryption/state", "kind": "secrets", "what": words.secrets, "unknown": cluster.unknown} if {
	some cluster in input.by_type["gcp:container/cluster:Cluster"]
	state := object.get(cluster.inputs, ["databaseEncryption", "state"], "DECRYPTED")
	is_string(state)
	not startswith(state, "ENCRYPTED")
	not startswith(state, "ALL_OBJECTS_ENCRYPTION")
}

stores contains {"urn": repository.urn, "path": "/encryptionConfigurations", "kind": "registries", "what": words.registries, "unknown": repository.unknown} if {
	some repository in input.by_type["aws:ecr/repository:Repository"]
	not with_kms(repository)
}

with_kms(repository) if {
	some configuration in listed(repository.inputs, ["encryptionConfigurations"])
	is_object(configuration)
	object.get(configuration, "encryptionType", "AES256") in ["KMS", "KMS_DSSE"]
}

stores contains {"urn": bucket.urn, "path": path, "kind": "buckets", "what": words.buckets, "unknown": bucket.unknown} if {
	some type, path in {
		"aws:s3/bucket:Bucket": "/serverSideEncryptionConfiguration",
		"aws:s3/bucketV2:BucketV2": "/serverSideEncryptionConfigurations",
	}
	some bucket in input.by_type[type]
	not has_key(bucket)
}

has_key(bucket) if {
	preset := ["serverSideEncryptionConfiguration", "rule", "applyServerSideEncryptionByDefault", "sseAlgorithm"]
	by_kms(object.get(bucket.inputs, preset, ""))
}

has_key(bucket) if {
	some configuration in listed(bucket.inputs, ["serverSideEncryptionConfigurations"])
	some rule in listed(configuration, ["rules"])
	some preset in listed(rule, ["applyServerSideEncryptionByDefaults"])
	is_object(preset)
	by_kms(preset.sseAlgorithm)
}

has_key(bucket) if bucket.urn in keyed

# A configuration by itself, which names the bucket.
keyed contains found if {
	some type in [
		"aws:s3/bucketServerSideEncryptionConfiguration:BucketServerSideEncryptionConfiguration",
		"aws:s3/bucketServerSideEncryptionConfigurationV2:BucketServerSideEncryptionConfigurationV2",
	]
	some configuration in input.by_type[type]
	some rule in listed(configuration.inputs, ["rules"])
	is_object(rule)
	by_kms(object.get(rule, ["applyServerSideEncryptionByDefault", "sseAlgorithm"], ""))
	found := configuration.references["/bucket"]
}

# With a key of KMS, once or twice.
by_kms(algorithm) if {
	is_string(algorithm)
	startswith(algorithm, "aws:kms")
}
