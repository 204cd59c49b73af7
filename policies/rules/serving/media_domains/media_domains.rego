# METADATA
# title: Servers fetch media from named domains only
# description: >-
#   A request to a model that sees or hears may name an address, and the server fetches it: the cloud's metadata, a
#   service inside the cluster, or whatever else the pod reaches. --allowed-media-domains holds it to the hosts that
#   are named.
# custom:
#   id: S11
#   severity: medium
#   level: advisory
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
#       default: ["*-vl", "*-vl-*", "*internvl*", "*llava*", "*pixtral*", "*-vision-*", "*-omni-*"]
#       description: Models that take media, by the last part of their name in small letters.
#   frameworks:
#     - "CWE-918: Server-Side Request Forgery"
#   remediation: >-
#     Give --allowed-media-domains the hosts that media come from, or --language-model-only where no media are taken.
package gpuyard.rules.serving.media_domains

import data.gpuyard.lib.match

deny contains {"urn": server.urn, "path": server.path, "message": message, "rests_on": []} if {
	some server in input.servers
	server.engine == "vllm"
	reason := takes_media(server)
	not held(server)
	message := sprintf("vllm fetches media from any address that a request names: %v, and --allowed-media-domains is left out", [reason])
}

held(server) if server.options["--allowed-media-domains"]

held(server) if server.options["--language-model-only"]

takes_media(server) := sprintf("%v is set", [flag]) if {
	flag := min({given |
		some given, _ in server.options
		regex.match(`^--(limit-mm-per-prompt|media-io-kwargs|allowed-local-media-path|mm-.*)$`, given)
	})
}

else := sprintf("it serves %v", [name]) if {
	name := min({model.name |
		some model in server.models
		match.one_of(input.limits.thresholds["serving/media_domains"].models, lower(last(model.name)))
	})
}

last(name) := regex.replace(name, `^.*/`, "")
