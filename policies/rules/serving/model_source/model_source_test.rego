package gpuyard.rules.serving.model_source_test

import data.gpuyard.rules.serving.model_source

commit := "0123456789abcdef0123456789abcdef01234567"

messages(models, sources) := found if {
	stack := {
		"servers": [{"urn": "u", "models": models}],
		"limits": {"thresholds": {"serving/model_source": {"sources": sources}}},
	}
	found := {finding.message | some finding in model_source.deny} with input as stack
}

model(source, name, revision) := {"role": "model", "name": name, "source": source, "revision": revision, "path": "/p"}

test_a_commit_is_allowed if messages([model("hub", "Qwen/Qwen3-8B", commit)], []) == set()

test_what_is_no_hubs_needs_no_commit_and_is_allowed if {
	messages([model("bucket", "s3://models/a", ""), model("path", "/models/a", ""), model("volume", "pvc://a/b", "")], []) == set()
}

test_known_places_are_allowed if {
	messages([model("hub", "Qwen/Qwen3-8B", commit), model("bucket", "s3://models/a", "")], ["Qwen/", "s3://models/"]) == set()
	messages([model("hub", "acme/a", commit)], ["acme/a"]) == set()
	messages([model("path", "/models/a", "")], ["Qwen/"]) == set()
}

test_no_pin_is_denied if {
	messages([model("hub", "Qwen/Qwen3-8B", "")], []) == {"model Qwen/Qwen3-8B of the hub is not pinned to a commit"}
}

test_a_branch_is_denied if {
	messages([model("hub", "a/b", "main")], []) == {"model a/b of the hub is pinned to main, which is no commit"}
	count(messages([model("hub", "a/b", "0123456")], [])) == 1
}

test_another_place_is_denied if {
	messages([model("hub", "Qwenevil/b", commit)], ["Qwen/"]) == {"model Qwenevil/b comes from none of Qwen/"}
	messages([model("bucket", "s3://models-of-others/b", "")], ["s3://models/"]) == {"model s3://models-of-others/b comes from none of s3://models/"}
}

test_both_are_one_finding if {
	messages([model("hub", "a/b", "")], ["Qwen/"]) == {"model a/b of the hub is not pinned to a commit, and model a/b comes from none of Qwen/"}
}
