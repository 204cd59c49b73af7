# METADATA
# title: An accelerator is offered once
# description: >-
#   A device plugin tells kubelet which GPUs a node has, and hands them out. A second one on the node, or a driver of
#   dynamic resource allocation, hands out the same GPUs again: two pods get one, and both run out of its memory, or
#   kubelet gives neither any. Some nodes come with a plugin that no list of pods shows: Bottlerocket's, GKE's and those
#   of EKS Auto Mode. What a chart brings is told by its values. Of a program with several clusters, agents are compared
#   with each other only.
# custom:
#   id: X2
#   severity: high
#   level: mandatory
#   on_unknown: skip
#   scope: stack
#   waivable: true
#   reads:
#     - {type: "aws:eks/cluster:Cluster", path: /computeConfig/enabled}
#     - {type: "aws:eks/nodeGroup:NodeGroup", path: /amiType}
#     - {type: "aws:eks/nodeGroup:NodeGroup", path: /labels}
#     - {type: "gcp:container/cluster:Cluster", path: /nodeConfig/guestAccelerators}
#     - {type: "gcp:container/cluster:Cluster", path: /nodeConfig/labels}
#     - {type: "gcp:container/nodePool:NodePool", path: /nodeConfig/guestAccelerators}
#     - {type: "gcp:container/nodePool:NodePool", path: /nodeConfig/labels}
#     - {type: "kubernetes:helm.sh/*:*", path: /values/devicePlugin/enabled}
#     - {type: "kubernetes:helm.sh/*:*", path: /values/gpuResourcesEnabledOverride}
#     - {type: "kubernetes:helm.sh/*:*", path: /values/nodeSelector}
#     - {type: "kubernetes:helm.sh/*:*", path: /values/resources/gpus/enabled}
#     - {type: pod, path: /containers/*/image}
#     - {type: pod, path: /nodeSelector}
#   frameworks:
#     - "Amazon EKS user guide: Manage NVIDIA GPU devices on Amazon EKS"
#     - "GKE: Manage the GPU stack with the NVIDIA GPU Operator"
#   remediation: >-
#     Choose one owner for the GPUs of each node. Keep the others off by a nodeSelector, by the label
#     nvidia.com/gpu.deploy.operands=false for the GPU Operator, or by gke-no-default-nvidia-gpu-device-plugin=true for
#     GKE's plugin, or switch off devicePlugin or resources.gpus in the values of their chart.
package gpuyard.rules.accelerators.advertisers

# --- two agents that look for GPUs on the same nodes

deny contains finding if {
	some agent in agents
	some other in agents
	agent.urn < other.urn
	agent.provider == other.provider
	meet(agent, other)
	finding := said(agent, sprintf("nodes where %v does too", [other.what]))
}

# --- an agent on nodes that come with a device plugin

deny contains finding if {
	count(clusters) < 2
	some agent in agents
	some group in gpu_groups
	group.plugin != ""
	reaches(agent, group)
	finding := said(agent, sprintf("the nodes of %v, and %v does already", [group.name, group.plugin]))
}

# Where no node group has GPUs for it, the only ones are those of nodes that EKS brings by itself.
deny contains finding if {
	count(clusters) == 1
	count(gpu_groups) == 0
	some cluster in input.by_type["aws:eks/cluster:Cluster"]
	object.get(cluster.inputs, ["computeConfig", "enabled"], false) == true
	some agent in agents
	count(agent.selector) == 0
	finds(agent, {})
	finding := said(agent, sprintf("the nodes that EKS Auto Mode brings to %v, and its own device plugin does already", [cluster.name]))
}

said(agent, where) := {
	"urn": agent.urn,
	"path": agent.path,
	"message": sprintf("%v offers nvidia.com/gpu on %v: one GPU would go to two pods", [agent.what, where]),
	"rests_on": [agent.path],
}

clusters contains cluster.urn if {
	some type in ["aws:eks/cluster:Cluster", "gcp:container/cluster:Cluster"]
	some cluster in input.by_type[type]
}

# --- agents: what offers GPUs wherever it finds them

agents contains agent if {
	some release in input.releases
	release.chart == "nvidia-device-plugin"
	values := release.values
	not placed(values)
	agent := {
		"urn": release.urn,
		"provider": release.provider,
		"path": "/chart",
		"what": "the chart nvidia-device-plugin",
		"kind": "plugin",
		"selector": selector_of(values),
		"finds": "labels",
	}
}

agents contains agent if {
	some release in input.releases
	release.chart == "gpu-operator"
	values := release.values
	object.get(values, ["devicePlugin", "enabled"], true) != false
	object.get(values, ["clusterPolicy", "deployCR"], true) != false
	agent := {
		"urn": release.urn,
		"provider": release.provider,
		"path": "/values/devicePlugin/enabled",
		"what": "the GPU Operator's device plugin",
		"kind": "operator",
		"selector": {},
		"finds": "labels",
	}
}

agents contains agent if {
	some release in input.releases
	release.chart in {"dra-driver-nvidia-gpu", "nvidia-dra-driver-gpu"}
	values := object.get(release.values, "kubeletPlugin", {})
	not placed(values)
	object.get(release.values, "gpuResourcesEnabledOverride", false) == true
	object.get(release.values, ["resources", "gpus", "enabled"], true) != false
	agent := {
		"urn": release.urn,
		"provider": release.provider,
		"path": "/values/gpuResourcesEnabledOverride",
		"what": sprintf("the chart %v", [release.chart]),
		"kind": "driver",
		"selector": selector_of(values),
		"finds": "labels",
	}
}

agents contains agent if {
	some pod in input.pods
	pod.kind == "DaemonSet"
	some container in pod.containers
	container.role == "containers"
	plugs_in(container)
	spec := pod.spec
	not placed(spec)
	tolerates(spec)
	agent := {
		"urn": pod.urn,
		"provider": pod.provider,
		"path": sprintf("%v/image", [container.path]),
		"what": sprintf("DaemonSet %v", [pod.name]),
		"kind": "plugin",
		"selector": selector_of(spec),
		"finds": "all",
	}
}

# The same image holds the device plugin, feature discovery and the MPS daemon: the command says which it is.
plugs_in(container) if {
	endswith(container.image.repository, "nvidia/k8s-device-plugin")
	command := object.get(container.container, "command", ["nvidia-device-plugin"])
	is_array(command)
	some word in command
	is_string(word)
	endswith(word, "nvidia-device-plugin")
}

# Whoever writes an affinity knows nodes that are not told from here.
placed(values) if {
	is_object(values.affinity)
	count(values.affinity) > 0
}

selector_of(values) := values.nodeSelector if {
	is_object(values.nodeSelector)
} else := {}

# Nodes with GPUs have a taint, GKE's by themselves.
tolerates(spec) if {
	is_array(spec.tolerations)
	some toleration in spec.tolerations
	is_object(toleration)
	toleration.operator == "Exists"
	object.get(toleration, "key", "nvidia.com/gpu") == "nvidia.com/gpu"
}

# --- node groups with NVIDIA's GPUs; `plugin` is the device plugin that comes with the nodes, if one does

gpu_groups contains group if {
	some found in input.by_type["aws:eks/nodeGroup:NodeGroup"]
	image := found.inputs.amiType
	is_string(image)
	contains(image, "NVIDIA")
	group := {
		"name": sprintf("node group %v", [found.name]),
		"labels": object.union(labels_of(found.inputs), image_labels(image)),
		"plugin": image_plugin(image),
	}
}

gpu_groups contains group if {
	some type in ["gcp:container/cluster:Cluster", "gcp:container/nodePool:NodePool"]
	some found in input.by_type[type]
	config := found.inputs.nodeConfig
	is_array(config.guestAccelerators)
	some accelerator in config.guestAccelerators
	is_string(accelerator.type)
	startswith(accelerator.type, "nvidia-")
	labels := labels_of(config)
	group := {"name": sprintf("node pool %v", [found.name]), "labels": labels, "plugin": gke_plugin(labels)}
}

labels_of(inputs) := inputs.labels if {
	is_object(inputs.labels)
} else := {}

# Source: awslabs/amazon-eks-ami, nodeadm: kubelet of the NVIDIA image labels its node.
image_labels(image) := {"nvidia.com/gpu.present": "true"} if {
	startswith(image, "AL2023")
} else := {}

image_plugin(image) := "Bottlerocket's own device plugin" if {
	startswith(image, "BOTTLEROCKET")
} else := ""

gke_plugin(labels) := "" if {
	labels["gke-no-default-nvidia-gpu-device-plugin"] == "true"
} else := "GKE's own device plugin"

# --- which agent comes to which nodes

reaches(agent, group) if {
	labels := group.labels
	missing := [key | some key, value in agent.selector; object.get(labels, key, null) != value]
	count(missing) == 0
	finds(agent, labels)
	not kept_off(agent, labels)
}

# Charts go by labels of the nodes, which Node Feature Discovery sets where a GPU is, or somebody by hand.
finds(agent, _) if agent.finds == "all"

finds(agent, labels) if {
	agent.finds == "labels"
	labels["nvidia.com/gpu.present"] == "true"
}

finds(agent, _) if {
	agent.finds == "labels"
	count(discoveries) > 0
}

discoveries contains release.urn if {
	some release in input.releases
	release.chart == "node-feature-discovery"
}

discoveries contains release.urn if {
	some release in input.releases
	release.chart == "gpu-operator"
	object.get(release.values, ["nfd", "enabled"], true) != false
}

discoveries contains release.urn if {
	some release in input.releases
	release.chart == "nvidia-device-plugin"
	some part in ["gfd", "nfd"]
	object.get(release.values, [part, "enabled"], false) == true
}

kept_off(agent, labels) if {
	agent.kind == "operator"
	some label in ["nvidia.com/gpu.deploy.device-plugin", "nvidia.com/gpu.deploy.operands"]
	labels[label] == "false"
}

# Node groups of the program say where two agents meet.
meet(agent, other) if {
	some group in gpu_groups
	reaches(agent, group)
	reaches(other, group)
}

# Of nodes that the program does not have, only the selectors tell.
meet(agent, other) if {
	count(gpu_groups) == 0
	count(agent.selector) == 0
	count(other.selector) == 0
}

meet(agent, other) if {
	count(gpu_groups) == 0
	agent.selector == other.selector
}
