package gpuyard.rules.cloud.encryption_test

import data.gpuyard.rules.cloud.encryption

found(by_type, objects, keys) := findings if {
	findings := encryption.deny with input as {
		"by_type": by_type,
		"objects": objects,
		"limits": {"thresholds": {"cloud/encryption": {"own_keys": keys}}},
	}
}

levels(by_type, objects) := {[finding.path, object.get(finding, "level", "mandatory")] | some finding in found(by_type, objects, [])}

denied(by_type, keys) := {finding.path | some finding in found(by_type, {}, keys)}

template(ebs) := {"aws:ec2/launchTemplate:LaunchTemplate": [{"urn": "t", "inputs": {"blockDeviceMappings": [{"deviceName": "/dev/xvda", "ebs": ebs}]}}]}

test_an_encrypted_disk_is_allowed if {
	levels(template({"encrypted": "true"}), {}) == set()
	levels({"aws:ebs/volume:Volume": [{"urn": "v", "unknown": [], "inputs": {"encrypted": true}}]}, {}) == set()
	levels({"aws:ec2/instance:Instance": [{"urn": "i", "inputs": {"rootBlockDevice": {"encrypted": true}}}]}, {}) == set()
}

test_a_disk_that_is_not_encrypted_is_denied if {
	levels(template({"encrypted": "false"}), {}) == {["/blockDeviceMappings/0/ebs/encrypted", "mandatory"]}
	devices := {"ebsBlockDevices": [{"deviceName": "sdf", "encrypted": false}], "rootBlockDevice": {"encrypted": false}}
	levels({"aws:ec2/instance:Instance": [{"urn": "i", "inputs": devices}]}, {}) == {
		["/ebsBlockDevices/0/encrypted", "mandatory"],
		["/rootBlockDevice/encrypted", "mandatory"],
	}
}

test_a_disk_that_says_nothing_is_a_finding_that_warns if {
	levels(template({"volumeSize": 200}), {}) == {["/blockDeviceMappings/0/ebs/encrypted", "advisory"]}
}

test_a_disk_that_says_nothing_is_allowed_where_the_account_encrypts if {
	account := {"aws:ebs/encryptionByDefault:EncryptionByDefault": [{"urn": "a", "inputs": {}}]}
	levels(object.union(template({"volumeSize": 200}), account), {}) == set()
	levels(object.union(template({"encrypted": "false"}), account), {}) != set()
}

test_a_file_system_that_says_nothing_is_denied if {
	denied({"aws:efs/fileSystem:FileSystem": [{"urn": "f", "unknown": [], "inputs": {}}]}, []) == {"/encrypted"}
	denied({"aws:efs/fileSystem:FileSystem": [{"urn": "f", "unknown": [], "inputs": {"encrypted": true}}]}, []) == set()
}

test_disks_of_karpenter_and_of_storage_classes_are_judged if {
	levels({}, {"EC2NodeClass.karpenter.k8s.aws": [{"urn": "c", "path": "", "body": {"spec": {"blockDeviceMappings": [{"ebs": {"encrypted": false}}]}}}]}) == {["/spec/blockDeviceMappings/0/ebs/encrypted", "mandatory"]}
	storage := {"provisioner": "ebs.csi.aws.com", "parameters": {"encrypted": "false"}}
	levels({}, {"StorageClass.storage.k8s.io": [{"urn": "s", "path": "", "name": "gp3", "body": storage}]}) == {["/parameters/encrypted", "mandatory"]}
	elsewhere := {"provisioner": "pd.csi.storage.gke.io"}
	levels({}, {"StorageClass.storage.k8s.io": [{"urn": "s", "path": "", "name": "pd", "body": elsewhere}]}) == set()
}

one(type, inputs) := {type: [{"urn": "r", "unknown": [], "inputs": inputs}]}

test_the_clouds_own_key_is_allowed_where_the_limits_ask_for_no_other if {
	denied(one("aws:eks/cluster:Cluster", {}), ["buckets"]) == set()
	denied(one("gcp:storage/bucket:Bucket", {}), ["secrets"]) == set()
}

test_the_clouds_own_key_is_denied_where_the_limits_ask_for_ones_own if {
	denied(one("aws:eks/cluster:Cluster", {}), ["secrets"]) == {"/encryptionConfig"}
	denied(one("gcp:container/cluster:Cluster", {}), ["secrets"]) == {"/databaseEncryption/state"}
	denied(one("gcp:storage/bucket:Bucket", {}), ["buckets"]) == {"/encryption"}
	denied(one("aws:s3/bucketV2:BucketV2", {}), ["buckets"]) == {"/serverSideEncryptionConfigurations"}
	denied(one("aws:ecr/repository:Repository", {}), ["registries"]) == {"/encryptionConfigurations"}
	denied(one("aws:fsx/lustreFileSystem:LustreFileSystem", {"deploymentType": "PERSISTENT_2"}), ["file_systems"]) == {"/kmsKeyId"}
}

test_a_key_of_ones_own_is_allowed if {
	denied(one("aws:eks/cluster:Cluster", {"encryptionConfig": {"provider": {}, "resources": ["secrets"]}}), ["secrets"]) == set()
	denied(one("gcp:container/cluster:Cluster", {"databaseEncryption": {"state": "ENCRYPTED"}}), ["secrets"]) == set()
	denied(one("gcp:storage/bucket:Bucket", {"encryption": {"defaultKmsKeyName": "k"}}), ["buckets"]) == set()
	denied(one("aws:ecr/repository:Repository", {"encryptionConfigurations": [{"encryptionType": "KMS"}]}), ["registries"]) == set()
	inline := {"rule": {"applyServerSideEncryptionByDefault": {"sseAlgorithm": "aws:kms"}}}
	denied(one("aws:s3/bucket:Bucket", {"serverSideEncryptionConfiguration": inline}), ["buckets"]) == set()
	denied(one("aws:fsx/lustreFileSystem:LustreFileSystem", {"deploymentType": "SCRATCH_2"}), ["file_systems"]) == set()
}

test_a_key_that_is_not_known_yet_is_allowed if {
	volume := {"urn": "v", "unknown": ["/kmsKeyId"], "inputs": {"encrypted": true}}
	denied({"aws:ebs/volume:Volume": [volume]}, ["disks"]) == set()
}

configured(algorithm) := {
	"aws:s3/bucket:Bucket": [{"urn": "b", "unknown": [], "inputs": {}}],
	"aws:s3/bucketServerSideEncryptionConfiguration:BucketServerSideEncryptionConfiguration": [{
		"urn": "c",
		"references": {"/bucket": "b"},
		"inputs": {"rules": [{"applyServerSideEncryptionByDefault": {"sseAlgorithm": algorithm}}]},
	}],
}

test_a_bucket_whose_configuration_stands_beside_it_is_allowed if denied(configured("aws:kms"), ["buckets"]) == set()

test_a_configuration_with_the_services_key_is_denied if {
	denied(configured("AES256"), ["buckets"]) == {"/serverSideEncryptionConfiguration"}
}
