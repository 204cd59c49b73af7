package gpuyard.rules.serving.weights_format_test

import data.gpuyard.rules.serving.weights_format

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
	limits := {"thresholds": {"serving/weights_format": {"formats": ["pt", "npcache"]}}}
	findings := {finding | some finding in weights_format.deny} with input as {"servers": servers, "limits": limits}
}

loading(source, name) := object.union(server({}), {"models": [{"role": "model", "name": name, "source": source, "revision": "", "path": "/m"}]})

test_safetensors_are_allowed_by_name_and_by_silence if {
	found([server({}), server({"--load-format": "safetensors"}), server({"--load-format": "runai_streamer"})]) == set()
}

test_a_folder_and_a_model_of_the_hub_are_allowed if {
	found([loading("bucket", "s3://models/llama"), loading("hub", "acme/tiny.pt"), loading("path", "/models/a.safetensors")]) == set()
}

test_a_pickle_is_denied_by_its_format if {
	some finding in found([server({"--load-format": "pt"})])
	finding.message == "vllm reads weights as pt, which runs code that the file brings"
	finding.path == "/spec/containers/0/args/--load-format"
}

test_a_pickle_is_denied_by_its_name if {
	some finding in found([loading("bucket", "s3://models/classifier.PKL")])
	finding.message == "vllm loads s3://models/classifier.PKL, a pickle, which runs code that the file brings"
}

test_pickles_between_processes_are_denied if {
	count(found([object.union(server({}), {"environment": {"VLLM_ALLOW_INSECURE_SERIALIZATION": "1"}})])) == 1
	found([object.union(server({}), {"environment": {"VLLM_ALLOW_INSECURE_SERIALIZATION": "0"}})]) == set()
}
