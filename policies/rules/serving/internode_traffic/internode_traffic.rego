# METADATA
# title: The nodes of one server talk where nobody else listens
# description: >-
#   What the nodes of one server tell each other is neither encrypted nor authenticated, and who can connect may run
#   code: vLLM's own guide demands a network of their own. An address of all interfaces offers it to every network of
#   the node, and pods of the host's network are held by no network policy.
# custom:
#   id: S10
#   severity: high
#   level: advisory
#   on_unknown: skip
#   scope: resource
#   waivable: true
#   reads:
#     - {type: pod, path: /containers/*/args}
#     - {type: pod, path: /containers/*/command}
#     - {type: pod, path: /initContainers/*/args}
#     - {type: pod, path: /initContainers/*/command}
#     - {type: pod, path: /hostNetwork}
#   frameworks:
#     - "NSA and CISA Kubernetes Hardening Guide 1.2: Network separation and hardening"
#   remediation: >-
#     Give the address of the pod, from status.podIP, and run the pods in a network of their own, with a network policy
#     that lets in their namespace alone.
package gpuyard.rules.serving.internode_traffic

deny contains {"urn": server.urn, "path": server.path, "message": message, "rests_on": []} if {
	some server in input.servers
	server.environment.VLLM_HOST_IP in everywhere
	message := sprintf("VLLM_HOST_IP is %v: what its nodes tell each other is offered on every interface", [server.environment.VLLM_HOST_IP])
}

deny contains {"urn": server.urn, "path": path, "message": message, "rests_on": [path]} if {
	some server in input.servers
	some flag in {"--data-parallel-address", "--dist-init-addr", "--master-addr"}
	value := server.options[flag]
	is_string(value)
	regex.replace(value, `:[0-9]+$`, "") in everywhere
	path := server.places[flag]
	message := sprintf("%v is %v: what its nodes tell each other is offered on every interface", [flag, value])
}

deny contains {"urn": server.urn, "path": server.path, "message": message, "rests_on": []} if {
	some server in input.servers
	server.host_network == true
	some flag in {"--data-parallel-address", "--dist-init-addr", "--master-addr", "--nnodes"}
	server.options[flag]
	message := sprintf("%v runs over several nodes (%v) in the host's network, where no network policy holds", [server.engine, flag])
}

everywhere := {"0.0.0.0", "::", "[::]"}
