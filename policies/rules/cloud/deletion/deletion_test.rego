package gpuyard.rules.cloud.deletion_test

import data.gpuyard.rules.cloud.deletion

denied(type, inputs, protect) := found if {
	found := {finding.path | some finding in deletion.deny} with input as {
		"by_type": {type: [{"urn": "r", "protect": protect, "inputs": inputs}]},
		"limits": {"thresholds": {"cloud/deletion": {"demanded": true}}},
	}
}

test_what_pulumi_protects_is_allowed if {
	denied("aws:eks/cluster:Cluster", {}, true) == set()
	denied("aws:s3/bucket:Bucket", {"forceDestroy": true}, true) == set()
	denied("aws:fsx/lustreFileSystem:LustreFileSystem", {"deploymentType": "PERSISTENT_2"}, true) == set()
}

test_what_its_cloud_protects_is_allowed if {
	denied("aws:eks/cluster:Cluster", {"deletionProtection": true}, false) == set()
	denied("gcp:container/cluster:Cluster", {}, false) == set()
	denied("gcp:lustre/instance:Instance", {"deletionPolicy": "PREVENT"}, false) == set()
	denied("aws:s3/bucket:Bucket", {}, false) == set()
	denied("gcp:storage/bucket:Bucket", {"forceDestroy": false}, false) == set()
}

test_scratch_file_systems_are_allowed if denied("aws:fsx/lustreFileSystem:LustreFileSystem", {"deploymentType": "SCRATCH_2"}, false) == set()

test_clusters_without_protection_are_denied if {
	denied("aws:eks/cluster:Cluster", {}, false) == {"/deletionProtection"}
	denied("gcp:container/cluster:Cluster", {"deletionProtection": false}, false) == {"/deletionProtection"}
}

test_stores_that_are_emptied_first_are_denied if {
	denied("aws:s3/bucketV2:BucketV2", {"forceDestroy": true}, false) == {"/forceDestroy"}
	denied("gcp:storage/bucket:Bucket", {"forceDestroy": true}, false) == {"/forceDestroy"}
	denied("aws:ecr/repository:Repository", {"forceDelete": true}, false) == {"/forceDelete"}
}

test_file_systems_without_protection_are_denied if {
	denied("aws:efs/fileSystem:FileSystem", {}, false) == {""}
	denied("gcp:filestore/instance:Instance", {}, false) == {"/deletionProtectionEnabled"}
}

test_where_the_limits_do_not_ask_for_it_nothing_is_judged if {
	found := {finding.path | some finding in deletion.deny} with input as {
		"by_type": {"aws:eks/cluster:Cluster": [{"urn": "r", "protect": false, "inputs": {}}]},
		"limits": {"thresholds": {"cloud/deletion": {"demanded": false}}},
	}
	found == set()
}
