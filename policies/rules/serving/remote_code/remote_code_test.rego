package gpuyard.rules.serving.remote_code_test

import data.gpuyard.rules.serving.remote_code

server(options) := {
	"urn": "u",
	"path": "/spec/containers/0",
	"container": "vllm",
	"engine": "vllm",
	"options": options,
	"places": {flag: sprintf("/spec/containers/0/args/%v", [flag]) | some flag, _ in options},
	"environment": {},
	"models": [],
	"host_network": false,
}

found(servers) := findings if {
	limits := {"thresholds": {"serving/remote_code": {"models": ["moonshotai/*"]}}}
	findings := {finding | some finding in remote_code.deny} with input as {"servers": servers, "limits": limits}
}

model(name, revision) := {"role": "model", "name": name, "source": "hub", "revision": revision, "path": "/p"}

trusting(name, revision) := object.union(server({"--trust-remote-code": true}), {"models": [model(name, revision)]})

commit := "0123456789abcdef0123456789abcdef01234567"

test_a_server_that_trusts_no_code_is_allowed if found([server({}), server({"--trust-remote-code": false})]) == set()

test_a_model_of_the_limits_is_allowed_when_it_is_pinned if found([trusting("moonshotai/Kimi-K2", commit)]) == set()

test_trust_is_denied if {
	some finding in found([trusting("Qwen/Qwen3-8B", commit)])
	finding == {
		"urn": "u",
		"path": "/spec/containers/0/args/--trust-remote-code",
		"message": "vllm runs code that the repository of Qwen/Qwen3-8B brings (trust_remote_code)",
		"rests_on": ["/spec/containers/0/args/--trust-remote-code"],
	}
}

test_a_model_of_the_limits_is_denied_when_a_branch_is_its_pin if {
	count(found([trusting("moonshotai/Kimi-K2", "main")])) == 1
	count(found([trusting("moonshotai/Kimi-K2", "")])) == 1
}

test_trust_without_a_model_is_denied if {
	some finding in found([server({"--trust-remote-code": true})])
	finding.message == "vllm runs code that the repository of its model brings (trust_remote_code)"
}
