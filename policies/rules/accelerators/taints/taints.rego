# METADATA
# title: Nodes with accelerators are kept for pods that take some
# description: >-
#   A node with GPUs costs many times what a node without costs. Without a taint any pod may land there, keep it from being
#   removed while it is idle, and take the CPUs that a GPU's pods need. A pod that tolerates every taint and takes no
#   accelerator does the same on nodes that have one.
# custom:
#   id: Q14
#   severity: medium
#   level: advisory
#   on_unknown: skip
#   scope: stack
#   waivable: true
#   reads:
#     - {type: "aws:eks/nodeGroup:NodeGroup", path: /taints}
#     - {type: "kubernetes:karpenter.sh/*:NodePool", path: /spec/template/spec/taints}
#     - {type: pod, path: /tolerations, fires: true}
#   refers:
#     - {type: "aws:eks/nodeGroup:NodeGroup", path: /launchTemplate/id, to: "aws:ec2/launchTemplate:LaunchTemplate"}
#   remediation: >-
#     Taint the nodes, as nvidia.com/gpu with effect NoSchedule, and let pods tolerate the one taint that they need.
package gpuyard.rules.accelerators.taints

import data.gpuyard.lib.match

# --- nodes: where there are others for pods without accelerators

deny contains {"urn": group.urn, "path": "/taints", "message": message} if {
	some node_group in accelerated
	some group in input.by_type["aws:eks/nodeGroup:NodeGroup"]
	group.urn == node_group.urn
	count(plain) > 0
	inputs := group.inputs
	not tainted(inputs)
	not bootstrapped(group)
	message := sprintf("nodes of group %v have accelerators and no taint: any pod may land there", [node_group.name])
}

deny contains {"urn": pool.urn, "path": path, "message": message} if {
	some node_group in accelerated
	some pool in input.objects["NodePool.karpenter.sh"]
	pool.urn == node_group.urn
	spec := object.get(pool.body, ["spec", "template", "spec"], {})
	not tainted(spec)
	path := sprintf("%v/spec/template/spec/taints", [pool.path])
	message := sprintf("nodes of NodePool %v have accelerators and no taint: any pod may start one", [pool.name])
}

accelerated := [group |
	is_array(input.capacity.groups)
	some group in input.capacity.groups
	group.accelerators_a_node > 0
]

plain := [group |
	is_array(input.capacity.groups)
	some group in input.capacity.groups
	group.accelerators_a_node == 0
]

tainted(holder) if {
	is_array(holder.taints)
	some taint in holder.taints
	taint.effect in ["NO_SCHEDULE", "NO_EXECUTE", "NoSchedule", "NoExecute"]
}

# User data may tell kubelet, or Bottlerocket, what taints a node registers with.
bootstrapped(group) if {
	some template in templates_of(group)
	object.get(template.inputs, "userData", null) != null
}

bootstrapped(group) if {
	some template in templates_of(group)
	some path in template.unknown
	path == "/userData"
}

# A template that is another program's may say anything.
bootstrapped(group) if {
	is_object(group.inputs.launchTemplate)
	count(templates_of(group)) == 0
}

templates_of(group) := [template |
	urn := group.references["/launchTemplate/id"]
	some template in input.by_type["aws:ec2/launchTemplate:LaunchTemplate"]
	template.urn == urn
]

# --- pods

deny contains {"urn": pod.urn, "path": path, "message": message} if {
	some pod in input.pods
	is_array(pod.spec.tolerations)
	some i, toleration in pod.spec.tolerations
	is_object(toleration)
	taint := tolerated(toleration)
	pod.kind != "DaemonSet"
	not takes_some(pod)
	not system(pod)
	path := sprintf("%v/tolerations/%v", [pod.path, i])
	message := sprintf("pods of %v %v take no accelerator and tolerate %v: they may keep such nodes", [
		pod.kind,
		pod.name,
		taint,
	])
}

tolerated(toleration) := "every taint" if {
	toleration.operator == "Exists"
	object.get(toleration, "key", "") == ""
}

else := sprintf("the taint %v", [toleration.key]) if {
	toleration.key in ["nvidia.com/gpu", "amd.com/gpu", "aws.amazon.com/neuron", "google.com/tpu", "habana.ai/gaudi"]
}

# By any device's name: not every one is known here.
takes_some(pod) if {
	some one in pod.containers
	some part in ["limits", "requests"]
	is_object(one.container.resources[part])
	some name, _ in one.container.resources[part]
	contains(name, "/")
}

takes_some(pod) if pod.accelerated == true

# What its operator adds, nobody sees here.
takes_some(pod) if pod.whole == false

system(pod) if match.one_of(input.limits.namespaces.system, pod.namespace)
