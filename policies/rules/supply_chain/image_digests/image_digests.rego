# METADATA
# title: Images are named by what does not move
# description: >-
#   A tag such as nightly or main is another image tomorrow, and a digest that is none names nothing. Where the limits
#   demand digests, a tag alone is not enough: whoever may push to the registry may put another image under it.
# custom:
#   id: S1
#   severity: high
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
#   thresholds:
#     required:
#       type: boolean
#       default: false
#       description: Whether every image must have a digest.
#     moving:
#       type: texts
#       default: [nightly, main, master, edge, dev, devel, develop, canary, rolling, snapshot, stable]
#       description: Tags that are pushed again and again.
#   frameworks:
#     - "OWASP Top 10 for LLM Applications 2025: LLM03 Supply Chain"
#   remediation: >-
#     Name the version, or the digest, sha256 and 64 hexadecimal digits, that the registry shows for it.
package gpuyard.rules.supply_chain.image_digests

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

thresholds := input.limits.thresholds["supply_chain/image_digests"]

messages[image] := sprintf("image %v %v", [image.reference, problem(image)]) if {
	some image in images
	problem(image)
}

problem(image) := sprintf("has the digest %v, which is none", [image.digest]) if {
	digest := image.digest
	digest != ""
	not is_digest(digest)
}

else := sprintf("has the tag %v, which moves", [image.tag]) if {
	image.digest == ""
	lower(image.tag) in thresholds.moving
}

# Of `latest`, or no tag, registries speaks; a chart that is given no tag chooses one, and its digest, itself.
else := sprintf("has no digest, which %v demands", [input.environment]) if {
	thresholds.required
	image.digest == ""
	image.tag != ""
	image.tag != "latest"
}

is_digest(digest) if regex.match(`^sha256:[a-f0-9]{64}$|^sha512:[a-f0-9]{128}$`, digest)
