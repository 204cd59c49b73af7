# METADATA
# title: Models come from known places, pinned to a commit
# description: >-
#   What a name on a hub stands for changes with every push: the weights, the tokenizer and, where it is trusted, the
#   code. A commit of 40 hexadecimal digits does not change; a branch or a tag does. Before vLLM 0.22.0 not every file
#   kept to the pin.
# custom:
#   id: S8
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
#     sources:
#       type: texts
#       default: []
#       description: >-
#         Where models may come from: `Qwen/` is an organisation of the hub, `s3://models/` a bucket, and what has no slash
#         at its end one model. Any place where this is empty.
#   frameworks:
#     - "OWASP Top 10 for LLM Applications 2025: LLM03 Supply Chain"
#   cves:
#     - CVE-2026-47155
#   remediation: >-
#     Give --revision the commit that was tested, 40 hexadecimal digits; for a KServe URI,
#     hf://organisation/model:COMMIT. Have the platform's owner add the place to the threshold `sources` where that
#     names places.
package gpuyard.rules.serving.model_source

deny contains {"urn": server.urn, "path": model.path, "message": message, "rests_on": []} if {
	some server in input.servers
	some model in server.models
	message := concat(", and ", array.concat(pin(model), origin(model)))
	message != ""
}

pin(model) := [] if model.source != "hub"

else := [] if is_commit(model.revision)

else := [sprintf("%v %v of the hub is not pinned to a commit", [model.role, model.name])] if model.revision == ""

else := [sprintf("%v %v of the hub is pinned to %v, which is no commit", [model.role, model.name, model.revision])]

is_commit(revision) if regex.match(`^[0-9a-f]{40}$`, revision)

origin(model) := [] if count(sources) == 0

else := [] if model.source in {"path", "volume"}

else := [] if known(model)

else := [sprintf("%v %v comes from none of %v", [model.role, model.name, concat(", ", sources)])]

sources := input.limits.thresholds["serving/model_source"].sources

# With a slash at its end a source is everything below it, without one it is one model.
known(model) if model.name in sources

known(model) if {
	some source in sources
	endswith(source, "/")
	startswith(model.name, source)
}
