# METADATA
# title: Weights are not read as pickles
# description: >-
#   A pickle is a program: whoever wrote the file runs code on the server that loads it, before version 2.6 of PyTorch
#   even where only weights are asked for. safetensors holds numbers and nothing else.
# custom:
#   id: S7
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
#     formats:
#       type: texts
#       default: [pt, npcache]
#       description: Values of --load-format that read pickles.
#   frameworks:
#     - "OWASP Top 10 for LLM Applications 2025: LLM03 Supply Chain"
#     - "CWE-502: Deserialization of Untrusted Data"
#   cves:
#     - CVE-2025-32434
#   remediation: >-
#     Convert the weights to safetensors, and leave --load-format out or set it to safetensors.
package gpuyard.rules.serving.weights_format

deny contains {"urn": server.urn, "path": path, "message": message, "rests_on": [path]} if {
	some server in input.servers
	format := server.options["--load-format"]
	format in input.limits.thresholds["serving/weights_format"].formats
	path := server.places["--load-format"]
	message := sprintf("%v reads weights as %v, which runs code that the file brings", [server.engine, format])
}

deny contains {"urn": server.urn, "path": model.path, "message": message, "rests_on": [model.path]} if {
	some server in input.servers
	some model in server.models
	model.source != "hub"
	regex.match(`\.(bin|ckpt|joblib|pickle|pkl|pt|pth)$`, lower(model.name))
	message := sprintf("%v loads %v, a pickle, which runs code that the file brings", [server.engine, model.name])
}

deny contains {"urn": server.urn, "path": server.path, "message": message, "rests_on": []} if {
	some server in input.servers
	server.environment.VLLM_ALLOW_INSECURE_SERIALIZATION in {"1", "true", "True"}
	message := "VLLM_ALLOW_INSECURE_SERIALIZATION lets the server's processes take pickles from each other"
}
