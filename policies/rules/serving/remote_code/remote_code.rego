# METADATA
# title: No server runs code that a model brings
# description: >-
#   With trust_remote_code a server runs Python out of the model's repository, with its GPU, its credentials and its
#   network. Who may push to that repository runs code in the cluster. A model that needs it is named in the limits and
#   pinned to a commit that somebody has read.
# custom:
#   id: S6
#   severity: high
#   level: mandatory
#   on_unknown: skip
#   scope: resource
#   waivable: true
#   reads:
#     - {type: "kubernetes:helm.sh/*:*", path: /values/servingEngineSpec/modelSpec}
#     - {type: pod, path: /containers/*/args}
#     - {type: pod, path: /containers/*/command}
#     - {type: pod, path: /initContainers/*/args}
#     - {type: pod, path: /initContainers/*/command}
#     - {type: "kubernetes:ray.io/*:RayService", path: /spec/serveConfigV2}
#     - {type: "kubernetes:serving.kserve.io/*:*", path: /spec/predictor/model}
#     - {type: "kubernetes:serving.kserve.io/*:*", path: /spec/model}
#   thresholds:
#     models:
#       type: texts
#       default: []
#       description: Models that may bring code, if they are pinned to a commit; * stands for any characters but a slash.
#   frameworks:
#     - "OWASP Top 10 for LLM Applications 2025: LLM03 Supply Chain"
#     - "CWE-94: Improper Control of Generation of Code"
#   cves:
#     - CVE-2026-22807
#     - CVE-2026-27893
#   remediation: >-
#     Use a model that the server knows by itself, or have the platform's owner add it to the threshold `models` and
#     pin it with --revision.
package gpuyard.rules.serving.remote_code

import data.gpuyard.lib.match

deny contains {"urn": server.urn, "path": path, "message": message, "rests_on": [path]} if {
	some server in input.servers
	server.options["--trust-remote-code"] == true
	not exempt(server)
	path := server.places["--trust-remote-code"]
	message := sprintf("%v runs code that the repository of %v brings (trust_remote_code)", [server.engine, loaded(server)])
}

exempt(server) if {
	some model in server.models
	model.role == "model"
	regex.match(`^[0-9a-f]{40}$`, model.revision)
	match.one_of(input.limits.thresholds["serving/remote_code"].models, model.name)
}

loaded(server) := concat(", ", [model.name | some model in server.models]) if count(server.models) > 0

else := "its model"
