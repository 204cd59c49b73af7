package gpuyard.rules.serving.media_domains_test

import data.gpuyard.rules.serving.media_domains

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
	limits := {"thresholds": {"serving/media_domains": {"models": ["*-vl-*"]}}}
	findings := {finding | some finding in media_domains.deny} with input as {"servers": servers, "limits": limits}
}

serving(name) := object.union(server({}), {"models": [{"role": "model", "name": name, "source": "hub", "revision": "", "path": "/m"}]})

test_a_model_of_text_is_allowed if found([server({}), serving("Qwen/Qwen3-8B")]) == set()

test_named_domains_are_allowed if {
	found([server({"--limit-mm-per-prompt": "{}", "--allowed-media-domains": "images.example.com"})]) == set()
	found([server({"--mm-processor-kwargs": "{}", "--language-model-only": true})]) == set()
}

test_another_server_is_not_judged if found([object.union(serving("a/b-VL-c"), {"engine": "tgi"})]) == set()

test_a_model_that_sees_is_denied if {
	some finding in found([serving("Qwen/Qwen3-VL-8B")])
	finding.path == "/spec/containers/0"
	finding.message == "vllm fetches media from any address that a request names: it serves Qwen/Qwen3-VL-8B, and --allowed-media-domains is left out"
}

test_a_flag_of_media_is_denied if count(found([server({"--limit-mm-per-prompt": "{}"})])) == 1
