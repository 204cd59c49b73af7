# METADATA
# title: Only operators have power over their node
# description: >-
#   A privileged container, a host namespace, a path of the host or an added capability is a way out of the pod, to the
#   GPUs, disks and tokens of every other tenant on the node. Drivers and exporters need it; they live in namespaces of
#   their own, which the limits name, and nobody else does.
# custom:
#   id: I1
#   severity: critical
#   level: mandatory
#   on_unknown: deny
#   scope: resource
#   waivable: true
#   reads:
#     - {type: "kubernetes:core/v1:PersistentVolume", path: /spec/hostPath}
#     - {type: "kubernetes:helm.sh/*:*", path: /values, fires: true}
#     - {type: pod, path: /containers/*/image, fires: true}
#     - {type: pod, path: /hostIPC}
#     - {type: pod, path: /hostNetwork}
#     - {type: pod, path: /hostPID}
#     - {type: pod, path: /securityContext/windowsOptions/hostProcess}
#     - {type: pod, path: /volumes/*/hostPath}
#     - {type: pod, path: /containers/*/securityContext/capabilities/add}
#     - {type: pod, path: /containers/*/securityContext/privileged}
#     - {type: pod, path: /containers/*/securityContext/windowsOptions/hostProcess}
#     - {type: pod, path: /initContainers/*/securityContext/capabilities/add}
#     - {type: pod, path: /initContainers/*/securityContext/privileged}
#     - {type: pod, path: /initContainers/*/securityContext/windowsOptions/hostProcess}
#     - {type: pod, path: /ephemeralContainers/*/securityContext/capabilities/add}
#     - {type: pod, path: /ephemeralContainers/*/securityContext/privileged}
#     - {type: pod, path: /ephemeralContainers/*/securityContext/windowsOptions/hostProcess}
#   refers:
#     - {type: "kubernetes:*", path: /metadata/namespace, to: "kubernetes:core/v1:Namespace"}
#     - {type: "kubernetes:helm.sh/*:*", path: /namespace, to: "kubernetes:core/v1:Namespace"}
#   thresholds:
#     images:
#       type: texts
#       default: []
#       description: >-
#         Images, as registry and path, that may have power in the namespaces of operators, * for any characters; every
#         image where this is empty.
#   frameworks:
#     - "Kubernetes Pod Security Standards: baseline"
#     - "CIS Amazon EKS Benchmark 1.7.0: 4.2"
#     - "NSA and CISA Kubernetes Hardening Guidance: Pod security"
#   remediation: >-
#     Take the privilege away. If the workload is an operator that needs it, run it in a namespace of
#     `namespaces.privileged` in policies/limits, which its owner may extend.
package gpuyard.rules.isolation.privileged

import data.gpuyard.lib.match

deny contains finding if {
	some power in powers
	finding := {
		"urn": power.urn,
		"path": power.path,
		"message": sprintf("%v, %v", [power.what, power.where]),
		"rests_on": [power.path, sprintf("%v/metadata/namespace", [power.object])],
	}
}

deny contains {"urn": release.urn, "path": grant.path, "message": message, "rests_on": [grant.path, "/namespace"]} if {
	some release in input.releases
	not operators(release)
	some grant in release.grants
	capability := grant.capability
	not harmless(capability)
	message := sprintf("the values set %v for pods of chart %v, outside the namespaces of operators", [grant.name, release.chart])
}

deny contains {"urn": volume.urn, "path": path, "message": message} if {
	some volume in input.objects.PersistentVolume
	is_object(object.get(volume.body, ["spec", "hostPath"], null))
	message := "a persistent volume is a path of the host, which any pod that claims it can reach"
	path := sprintf("%v/spec/hostPath", [volume.path])
}

operators(where) if match.one_of(input.limits.namespaces.privileged, where.namespace)

pods := [pod |
	some pod in input.pods
	not excused(pod)
]

excused(pod) if {
	operators(pod)
	not strange(pod)
}

# A namespace of operators does not make an operator of whatever runs there.
strange(pod) if {
	patterns := input.limits.thresholds["isolation/privileged"].images
	count(patterns) > 0
	some item in pod.containers
	repository := object.get(item, ["image", "repository"], "")
	not matches(patterns, repository)
}

# A delimiter that no image has: * stands for slashes and dots too.
matches(patterns, repository) if {
	some pattern in patterns
	glob.match(pattern, ["|"], repository)
}

powers contains {"urn": pod.urn, "object": pod.object, "path": sprintf("%v/%v", [pod.path, name]), "what": what, "where": outside(pod)} if {
	some pod in pods
	some name in ["hostIPC", "hostNetwork", "hostPID"]
	pod.spec[name] == true
	what := sprintf("the pod shares a namespace of the host (%v)", [name])
}

powers contains {"urn": pod.urn, "object": pod.object, "path": path, "what": what, "where": outside(pod)} if {
	some pod in pods
	is_array(pod.spec.volumes)
	some i, volume in pod.spec.volumes
	is_object(volume)
	is_object(volume.hostPath)
	path := sprintf("%v/volumes/%v/hostPath", [pod.path, i])
	what := sprintf("a volume is the host's path %v", [object.get(volume.hostPath, "path", "")])
}

powers contains {"urn": pod.urn, "object": pod.object, "path": path, "what": "the pod is a host process of Windows", "where": outside(pod)} if {
	some pod in pods
	object.get(pod.spec, ["securityContext", "windowsOptions", "hostProcess"], false) == true
	path := sprintf("%v/securityContext/windowsOptions/hostProcess", [pod.path])
}

powers contains {"urn": pod.urn, "object": pod.object, "path": path, "what": what, "where": outside(pod)} if {
	some pod in pods
	some item in pod.containers
	context := item.container.securityContext
	is_object(context)
	some steps, meaning in {
		["privileged"]: "is privileged",
		["windowsOptions", "hostProcess"]: "is a host process of Windows",
	}
	object.get(context, steps, false) == true
	path := sprintf("%v/securityContext/%v", [item.path, concat("/", steps)])
	what := sprintf("container %v %v", [named(item), meaning])
}

powers contains {"urn": pod.urn, "object": pod.object, "path": path, "what": what, "where": outside(pod)} if {
	some pod in pods
	some item in pod.containers
	context := item.container.securityContext
	is_object(context)
	added := object.get(context, ["capabilities", "add"], [])
	is_array(added)
	some i, capability in added
	is_string(capability)
	not harmless(capability)
	path := sprintf("%v/securityContext/capabilities/add/%v", [item.path, i])
	what := sprintf("container %v adds the capability %v", [named(item), capability])
}

outside(pod) := "and its images are not those of operators" if operators(pod)

else := "outside the namespaces of operators"

harmless(capability) if upper(capability) in input.limits.capabilities

named(item) := object.get(item.container, "name", "without a name")
