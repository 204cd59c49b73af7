# METADATA
# title: A pod gets the GPUs that it asked for, and no others
# description: >-
#   NVIDIA's container toolkit takes a variable of the container for a wish: with NVIDIA_VISIBLE_DEVICES a pod that asked
#   the scheduler for nothing sees every GPU of its node, and other tenants' work on them. The GPU Operator can refuse the
#   variable, and hands out devices by CDI, which does not need it.
# custom:
#   id: I9
#   severity: high
#   level: mandatory
#   on_unknown: deny
#   scope: resource
#   waivable: true
#   reads:
#     - {type: "kubernetes:helm.sh/*:*", path: /values/cdi, fires: true}
#     - {type: "kubernetes:helm.sh/*:*", path: /values/toolkit, fires: true}
#     - {type: "kubernetes:helm.sh/*:*", path: /version, fires: true}
#     - {type: "kubernetes:nvidia.com/v1:ClusterPolicy", path: /spec/cdi, fires: true}
#     - {type: "kubernetes:nvidia.com/v1:ClusterPolicy", path: /spec/toolkit, fires: true}
#     - {type: pod, path: /containers/*/env, fires: true}
#     - {type: pod, path: /initContainers/*/env, fires: true}
#     - {type: pod, path: /ephemeralContainers/*/env, fires: true}
#     - {type: pod, path: /containers/*/volumeMounts, fires: true}
#   refers:
#     - {type: "kubernetes:*", path: /metadata/namespace, to: "kubernetes:core/v1:Namespace"}
#   remediation: >-
#     Give toolkit.env of the GPU Operator ACCEPT_NVIDIA_VISIBLE_DEVICES_ENVVAR_WHEN_UNPRIVILEGED with the value "false",
#     leave cdi.enabled at true, and let pods ask for GPUs by resources.limits.
package gpuyard.rules.isolation.device_access

import data.gpuyard.lib.tenants

refusal := "ACCEPT_NVIDIA_VISIBLE_DEVICES_ENVVAR_WHEN_UNPRIVILEGED"

wish := "NVIDIA_VISIBLE_DEVICES"

# --- pods that help themselves

deny contains finding if {
	some pod in tenants.pods
	some item in pod.containers
	some i, variable in listed(item.container, "env")
	is_object(variable)
	variable.name == wish
	value := object.get(variable, "value", "")
	not harmless(value)
	path := sprintf("%v/env/%v", [item.path, i])
	finding := {
		"urn": pod.urn,
		"path": path,
		"message": sprintf("container %v sets %v to %v, and so gets GPUs that it has not asked the scheduler for: %v", [
			named(item),
			wish,
			value,
			"leave it out, and ask by resources.limits",
		]),
		"rests_on": [path, tenants.namespace_of(pod)],
	}
}

# The other form of the wish: one mount for each device.
deny contains finding if {
	some pod in tenants.pods
	some item in pod.containers
	some i, mount in listed(item.container, "volumeMounts")
	is_object(mount)
	is_string(mount.mountPath)
	startswith(mount.mountPath, "/var/run/nvidia-container-devices")
	path := sprintf("%v/volumeMounts/%v/mountPath", [item.path, i])
	finding := {
		"urn": pod.urn,
		"path": path,
		"message": sprintf("container %v mounts %v, and so gets GPUs that it has not asked the scheduler for", [
			named(item),
			mount.mountPath,
		]),
		"rests_on": [path, tenants.namespace_of(pod)],
	}
}

listed(container, name) := found if {
	found := object.get(container, name, [])
	is_array(found)
} else := []

named(item) := object.get(item.container, "name", "without a name")

harmless(value) if value in ["", "none", "void"]

# --- the operator that lets them

deny contains finding if {
	some operator in operators
	brings_toolkit(operator)
	not refuses(operator)
	path := sprintf("%v/toolkit/env", [operator.path])
	finding := {
		"urn": operator.urn,
		"path": path,
		"message": sprintf("the GPU Operator's toolkit lets any pod choose its GPUs by %v: set %v to \"false\"", [wish, refusal]),
		"rests_on": [path, sprintf("%v/toolkit/enabled", [operator.path])],
	}
}

deny contains finding if {
	some operator in operators
	brings_toolkit(operator)
	not by_cdi(operator)
	path := sprintf("%v/cdi/enabled", [operator.path])
	finding := {
		"urn": operator.urn,
		"path": path,
		"message": "the GPU Operator hands out devices without CDI, by a variable that any pod may set: set cdi.enabled to true",
		"rests_on": [path, sprintf("%v/toolkit/enabled", [operator.path]), "/version"],
	}
}

operators contains {"urn": release.urn, "path": "/values", "values": release.values, "version": release.version} if {
	some release in input.releases
	release.chart == "gpu-operator"
	release.value_files == false
}

# The chart's template sets all of it: what is missing in an object that somebody writes is off.
operators contains {"urn": policy.urn, "path": path, "values": spec, "version": ""} if {
	some policy in input.objects["ClusterPolicy.nvidia.com"]
	policy.patch == false
	spec := object.get(policy.body, "spec", {})
	is_object(spec)
	path := sprintf("%v/spec", [policy.path])
}

brings_toolkit(operator) if object.get(operator.values, ["toolkit", "enabled"], true) == true

refuses(operator) if {
	variables := object.get(operator.values, ["toolkit", "env"], [])
	is_array(variables)
	some variable in variables
	is_object(variable)
	variable.name == refusal
	value := variable.value
	value in ["false", "False", "FALSE", "0", false]
}

by_cdi(operator) if object.get(operator.values, ["cdi", "enabled"], null) == true

# Source: NVIDIA, CDI support in the GPU Operator: on by default from v25.10.0.
by_cdi(operator) if {
	object.get(operator.values, ["cdi", "enabled"], null) == null
	version := trim_prefix(operator.version, "v")
	semver.is_valid(version)
	semver.compare(version, "25.10.0") >= 0
}

# Without a version the newest is installed.
by_cdi(operator) if {
	object.get(operator.values, ["cdi", "enabled"], null) == null
	operator.version == ""
	operator.path == "/values"
}
