package gpuyard.rules.quota.machines_test

import data.gpuyard.rules.quota.machines

denied(by_type, objects) := found if {
	found := {finding.path | some finding in machines.deny} with input as {
		"environment": "production",
		"limits": {"machines": ["g6.*", "g2-standard-*", "dgx-h100"]},
		"by_type": by_type,
		"objects": objects,
	}
}

of(type, inputs) := {type: [{"urn": "u", "inputs": inputs}]}

test_machines_of_the_list_are_allowed if {
	denied(of("aws:eks/nodeGroup:NodeGroup", {"instanceTypes": ["g6.xlarge", "g6.12xlarge"]}), {}) == set()
	denied(of("gcp:container/nodePool:NodePool", {"nodeConfig": {"machineType": "g2-standard-4"}}), {}) == set()
	denied(of("gpuyard:index:NodeInventory", {"machine": "dgx-h100"}), {}) == set()
}

test_a_family_is_not_its_neighbour if {
	denied(of("aws:eks/nodeGroup:NodeGroup", {"instanceTypes": ["g6e.xlarge"]}), {}) == {"/instanceTypes/0"}
}

test_each_machine_of_a_node_group_is_judged if {
	denied(of("aws:eks/nodeGroup:NodeGroup", {"instanceTypes": ["g6.xlarge", "p5.48xlarge"]}), {}) == {"/instanceTypes/1"}
}

test_a_node_group_without_machines_of_its_own_is_allowed if {
	denied(of("aws:eks/nodeGroup:NodeGroup", {"launchTemplate": {"id": "lt"}}), {}) == set()
}

test_a_launch_template_is_judged if {
	denied(of("aws:ec2/launchTemplate:LaunchTemplate", {"instanceType": "p5.48xlarge"}), {}) == {"/instanceType"}
	requirements := {"instanceRequirements": {"allowedInstanceTypes": ["g6.*", "p5.*"]}}
	denied(of("aws:ec2/launchTemplate:LaunchTemplate", requirements), {}) == {"/instanceRequirements/allowedInstanceTypes/1"}
}

test_an_autoscaling_group_is_judged if {
	policy := {"launchTemplate": {"overrides": [{"instanceType": "g6.xlarge"}, {"instanceType": "p4d.24xlarge"}]}}
	group := of("aws:autoscaling/group:Group", {"mixedInstancesPolicy": policy})
	denied(group, {}) == {"/mixedInstancesPolicy/launchTemplate/overrides/1/instanceType"}
}

test_single_machines_are_judged if {
	denied(of("aws:ec2/instance:Instance", {"instanceType": "p4d.24xlarge"}), {}) == {"/instanceType"}
	denied(of("gcp:compute/instance:Instance", {"machineType": "a3-highgpu-8g"}), {}) == {"/machineType"}
	denied(of("gpuyard:index:NodeInventory", {"machine": "dgx-b200"}), {}) == {"/machine"}
}

test_node_pools_inside_a_cluster_are_judged if {
	cluster := {
		"nodeConfig": {"machineType": "a2-highgpu-1g"},
		"nodePools": [{"nodeConfig": {"machineType": "g2-standard-4"}}, {"nodeConfig": {"machineType": "a3-highgpu-8g"}}],
	}
	denied(of("gcp:container/cluster:Cluster", cluster), {}) == {
		"/nodeConfig/machineType",
		"/nodePools/1/nodeConfig/machineType",
	}
}

test_karpenter_is_judged if {
	requirement := {"key": "node.kubernetes.io/instance-type", "operator": "In", "values": ["g6.xlarge", "p5.48xlarge"]}
	other := {"key": "karpenter.sh/capacity-type", "operator": "In", "values": ["spot"]}
	body := {"spec": {"template": {"spec": {"requirements": [other, requirement]}}}}
	denied({}, {"NodePool.karpenter.sh": [{"urn": "u", "path": "", "body": body}]}) == {
		"/spec/template/spec/requirements/1/values/1",
	}
}

karpenter(requirement) := {"NodePool.karpenter.sh": [{
	"urn": "u",
	"path": "",
	"body": {"spec": {"template": {"spec": {"requirements": [requirement]}}}},
}]}

test_machines_of_karpenter_that_are_not_known_are_denied_and_other_values_are_not if {
	key := "node.kubernetes.io/instance-type"
	path := "/spec/template/spec/requirements/0/values"
	denied({}, karpenter({"key": key, "operator": "In"})) == {path}
	denied({}, karpenter({"key": key, "operator": "In", "values": ["g6.xlarge", null]})) == {path}
	denied({}, karpenter({"key": "topology.kubernetes.io/zone", "operator": "In", "values": [null]})) == set()
	denied({}, karpenter({"key": key, "operator": "NotIn", "values": [null]})) == set()
}

message(machine, allowed) := finding.message if {
	some finding in machines.deny with input as {
		"environment": "production",
		"limits": {"machines": allowed},
		"by_type": of("gpuyard:index:NodeInventory", {"machine": machine}),
	}
}

test_the_message_names_machines_of_the_same_cloud if {
	allowed := ["m7i.*", "g6.*", "e2-standard-*", "g2-standard-*", "onprem-cpu", "dgx-h100"]
	endswith(message("p5.48xlarge", allowed), "allowed are m7i.*, g6.*")
	endswith(message("a3-highgpu-8g", allowed), "allowed are e2-standard-*, g2-standard-*")
	endswith(message("dgx-b200", allowed), "allowed are onprem-cpu, dgx-h100")
	endswith(message("p5.48xlarge", ["onprem-cpu"]), "allowed are onprem-cpu")
}

test_a_compute_class_is_judged if {
	body := {"spec": {"priorities": [{"machineType": "g2-standard-4"}, {"machineType": "a3-highgpu-8g"}, {"spot": true}]}}
	denied({}, {"ComputeClass.cloud.google.com": [{"urn": "u", "path": "", "body": body}]}) == {
		"/spec/priorities/1/machineType",
	}
}
