# METADATA
# title: Ray asks for a token and has no known hole
# description: >-
#   Who reaches the dashboard, the job API or the client port of a Ray cluster runs any code on it. Ray asks for a
#   token where it is told so since 2.52, and by itself since 2.61. That it must not be reached from outside was the
#   makers' answer to CVE-2023-48022, and clusters were taken over by the thousand.
# custom:
#   id: S5
#   severity: critical
#   level: mandatory
#   on_unknown: skip
#   scope: resource
#   waivable: true
#   reads:
#     - {type: "kubernetes:helm.sh/*:*", path: /values/image}
#     - {type: "kubernetes:helm.sh/*:*", path: /values/*/image}
#     - {type: pod, path: /containers/*/image}
#     - {type: pod, path: /initContainers/*/image}
#     - {type: pod, path: /ephemeralContainers/*/image}
#     - {type: pod, path: /containers/*/args}
#     - {type: pod, path: /containers/*/command}
#     - {type: "kubernetes:helm.sh/*:*", path: /version}
#     - {type: "kubernetes:ray.io/*:RayCluster", path: /spec/authOptions}
#     - {type: "kubernetes:ray.io/*:RayCluster", path: /spec/rayVersion}
#     - {type: "kubernetes:ray.io/*:RayJob", path: /spec/rayClusterSpec/authOptions}
#     - {type: "kubernetes:ray.io/*:RayJob", path: /spec/rayClusterSpec/rayVersion}
#     - {type: "kubernetes:ray.io/*:RayService", path: /spec/rayClusterConfig/authOptions}
#     - {type: "kubernetes:ray.io/*:RayService", path: /spec/rayClusterConfig/rayVersion}
#   thresholds:
#     deny:
#       type: texts
#       default: [critical, high]
#       description: Severities of holes that deny; others warn.
#   frameworks:
#     - "CWE-306: Missing Authentication for Critical Function"
#   cves:
#     - CVE-2023-48022
#     - CVE-2025-34351
#     - CVE-2026-27482
#     - CVE-2026-32981
#     - CVE-2026-41486
#   remediation: >-
#     Use KubeRay 1.5.1 or later with `authOptions: {mode: token}` and a Ray of the version that the finding names, or
#     set RAY_AUTH_MODE=token and RAY_AUTH_TOKEN from a Secret on every container.
package gpuyard.rules.serving.ray

import data.gpuyard.lib.software

deny contains finding if {
	some item in input.software
	item.product == "ray"
	finding := software.finding(item, input.limits.thresholds["serving/ray"].deny)
}

deny contains {"urn": cluster.urn, "path": path, "message": message, "rests_on": [path]} if {
	some cluster in clusters
	not authenticated(cluster)
	path := sprintf("%v/authOptions/mode", [cluster.path])
	message := "the Ray cluster asks for no token: whoever reaches it runs any code on it"
}

deny contains {"urn": server.urn, "path": path, "message": message, "rests_on": [path]} if {
	some server in input.servers
	server.engine == "ray"
	server.options["--dashboard-host"] in {"0.0.0.0", "::"}
	not guarded(server)
	path := server.places["--dashboard-host"]
	message := "ray start offers its dashboard on every interface and asks for no token: whoever reaches it runs any code on it"
}

clusters contains of_ray(found, ["spec"]) if some found in input.objects["RayCluster.ray.io"]

clusters contains of_ray(found, ["spec", "rayClusterSpec"]) if {
	some found in input.objects["RayJob.ray.io"]
	is_object(found.body.spec.rayClusterSpec)
}

clusters contains of_ray(found, ["spec", "rayClusterConfig"]) if {
	some found in input.objects["RayService.ray.io"]
	is_object(found.body.spec.rayClusterConfig)
}

of_ray(found, way) := {
	"urn": found.urn,
	"path": concat("/", array.concat([found.path], way)),
	"mode": object.get(found.body, array.concat(way, ["authOptions", "mode"]), ""),
}

authenticated(cluster) if cluster.mode == "token"

authenticated(cluster) if {
	cluster.mode == ""
	says(cluster, "token")
}

authenticated(cluster) if {
	cluster.mode == ""
	by_itself(cluster.urn)
	not says(cluster, "disabled")
}

# What a container of the cluster says of RAY_AUTH_MODE.
says(cluster, value) if {
	some pod in input.pods
	pod.urn == cluster.urn
	startswith(pod.path, sprintf("%v/", [cluster.path]))
	some item in pod.containers
	some variable in item.container.env
	variable.name == "RAY_AUTH_MODE"
	variable.value == value
}

guarded(server) if server.environment.RAY_AUTH_MODE == "token"

guarded(server) if {
	by_itself(server.urn)
	mode := object.get(server.environment, "RAY_AUTH_MODE", "")
	mode != "disabled"
}

# Ray 2.61 and later ask for a token unless they are told not to.
by_itself(urn) if {
	some item in input.software
	item.urn == urn
	item.product == "ray"
	regex.match(`^(2\.(6[1-9]|[7-9][0-9]|[0-9]{3,})|([3-9]|[1-9][0-9]+)\.[0-9]+)(\.|-|$)`, item.version)
}
