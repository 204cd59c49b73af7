package gpuyard.rules.supply_chain.image_digests_test

import data.gpuyard.rules.supply_chain.image_digests

full := "sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

image(tag, digest) := {"reference": "r.example/a", "repository": "r.example/a", "tag": tag, "digest": digest, "chart": false}

stack(images, required) := {
	"environment": "production",
	"limits": {"thresholds": {"supply_chain/image_digests": {"required": required, "moving": ["nightly", "main"]}}},
	"pods": [{"urn": "u", "containers": [{"path": sprintf("/%v", [i]), "image": given} | some i, given in images]}],
	"releases": [],
}

denied(images, required) := found if {
	found := {finding.message | some finding in image_digests.deny} with input as stack(images, required)
}

test_versions_and_digests_are_allowed if {
	denied([image("v0.32.0", ""), image("", full), image("nightly", full), image("nightly-0a1b2c3", "")], false) == set()
}

test_a_digest_is_allowed_where_it_is_demanded if denied([image("v0.32.0", full)], true) == set()

test_a_tag_that_moves_is_denied if {
	denied([image("nightly", "")], false) == {"image r.example/a has the tag nightly, which moves"}
	denied([image("Main", "")], false) == {"image r.example/a has the tag Main, which moves"}
}

test_what_is_no_digest_is_denied if {
	denied([image("v1", "sha256:abc")], false) == {"image r.example/a has the digest sha256:abc, which is none"}
}

test_a_tag_alone_is_denied_where_digests_are_demanded if {
	denied([image("v1", "")], true) == {"image r.example/a has no digest, which production demands"}
}

test_latest_is_not_judged_here if denied([image("latest", ""), image("", "")], true) == set()

test_images_of_a_chart_are_judged if {
	release := {"urn": "r", "images": [{"path": "/values/image", "image": image("nightly", "")}]}
	found := {finding.path | some finding in image_digests.deny} with input as object.union(stack([], false), {"releases": [release]})
	found == {"/values/image"}
}
