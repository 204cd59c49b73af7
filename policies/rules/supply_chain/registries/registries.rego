# METADATA
# title: Images come from allowed registries and have a version
# description: >-
#   An image runs with the GPU, the model and the tenant's data. It must come from a registry that the limits name, and
#   say which version it is: `latest`, or no tag at all, is whatever somebody pushed last.
# custom:
#   id: S2
#   severity: high
#   level: mandatory
#   on_unknown: warn
#   scope: resource
#   waivable: true
#   reads:
#     - {type: "kubernetes:helm.sh/*:*", path: /values/image}
#     - {type: "kubernetes:helm.sh/*:*", path: /values/*/image}
#     - {type: pod, path: /containers/*/image}
#     - {type: pod, path: /initContainers/*/image}
#     - {type: pod, path: /ephemeralContainers/*/image}
#   frameworks:
#     - "OWASP Top 10 for LLM Applications 2025: LLM03 Supply Chain"
#     - "CIS Amazon EKS Benchmark 1.7.0: 5.1"
#   remediation: >-
#     Use the image of an allowed registry, by version or digest, or have the platform's owner add the registry to
#     `registries` in policies/limits. A name without a registry is Docker Hub's.
package gpuyard.rules.supply_chain.registries

deny contains {"urn": use.urn, "path": use.path, "message": messages[use.image]} if some use in uses

uses contains {"urn": pod.urn, "path": sprintf("%v/image", [item.path]), "image": item.image} if {
	some pod in input.pods
	some item in pod.containers
	messages[item.image]
}

uses contains {"urn": release.urn, "path": item.path, "image": item.image} if {
	some release in input.releases
	some item in release.images
	messages[item.image]
}

# A fleet runs few images many times: each is judged once.
images := {item.image | some item in input.pods[_].containers} | {item.image | some item in input.releases[_].images}

messages[image] := sprintf("image %v %v", [image.reference, concat(", and ", found)]) if {
	some image in images
	found := array.concat(age(image), origin(image))
	count(found) > 0
}

origin(image) := [] if allowed(image)

else := [sprintf("comes from %v: %v allows %v", [
	image.repository,
	input.environment,
	concat(", ", input.limits.registries),
])]

age(image) := [] if image.digest != ""

else := ["has the tag latest, which moves"] if image.tag == "latest"

# A chart that is given a repository alone chooses the tag itself.
else := ["has no tag, which means latest"] if {
	image.tag == ""
	image.chart == false
}

else := []

# With a slash at its end a registry is everything below it, without one it is one repository.
allowed(image) if {
	some registry in input.limits.registries
	endswith(registry, "/")
	startswith(image.repository, registry)
}

allowed(image) if image.repository in input.limits.registries
