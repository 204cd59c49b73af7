package gpuyard.rules.supply_chain.registries_test

import data.gpuyard.rules.supply_chain.registries

stack(images) := {
	"environment": "production",
	"limits": {"registries": ["nvcr.io/nvidia/", "docker.io/vllm/", "ghcr.io/acme", "docker.io/library/busybox"]},
	"pods": [{"urn": "u", "containers": [{"path": sprintf("/%v", [i]), "image": given} | some i, given in images]}],
	"releases": [],
}

denied(images) := found if {
	found := {finding.path | some finding in registries.deny} with input as stack(images)
}

image(repository, tag, digest) := {
	"reference": repository,
	"repository": repository,
	"tag": tag,
	"digest": digest,
	"chart": false,
}

test_versions_from_allowed_registries_are_allowed if {
	denied([image("nvcr.io/nvidia/tritonserver", "26.07-py3", ""), image("docker.io/vllm/vllm-openai", "v0.32.0", "")]) == set()
}

test_a_digest_is_a_version if {
	denied([image("nvcr.io/nvidia/a", "", "sha256:ab"), image("nvcr.io/nvidia/a", "latest", "sha256:ab")]) == set()
}

test_a_repository_by_its_whole_name_is_allowed if denied([image("docker.io/library/busybox", "1.37", "")]) == set()

test_another_registry_is_denied if denied([image("quay.io/nvidia/a", "1", "")]) == {"/0/image"}

test_a_name_that_begins_like_an_allowed_one_is_denied if {
	denied([image("ghcr.io/acmeevil/a", "1", ""), image("ghcr.io/acme/a", "1", ""), image("nvcr.io/nvidiaevil/a", "1", "")]) == {
		"/0/image",
		"/1/image",
		"/2/image",
	}
}

test_latest_is_denied_by_name_and_by_silence if {
	denied([image("nvcr.io/nvidia/a", "latest", ""), image("nvcr.io/nvidia/a", "", "")]) == {"/0/image", "/1/image"}
}

test_one_image_gives_one_finding_that_says_all if {
	messages := {finding.message | some finding in registries.deny} with input as stack([image("evil/a", "", "")])
	messages == {concat(" ", [
		"image evil/a has no tag, which means latest, and comes from evil/a: production allows",
		"nvcr.io/nvidia/, docker.io/vllm/, ghcr.io/acme, docker.io/library/busybox",
	])}
}

test_values_of_a_chart_are_judged_but_may_leave_the_tag_to_it if {
	ours := object.union(image("nvcr.io/nvidia/a", "", ""), {"chart": true})
	others := object.union(image("quay.io/a/b", "", ""), {"chart": true})
	moving := object.union(image("nvcr.io/nvidia/a", "latest", ""), {"chart": true})
	releases := [{"urn": "r", "images": [{"path": sprintf("/%v", [i]), "image": given} | some i, given in [ours, others, moving]]}]
	found := {finding.path | some finding in registries.deny} with input as object.union(stack([]), {"releases": releases})
	found == {"/1", "/2"}
}

test_a_container_without_an_image_is_allowed if {
	pods := [{"urn": "u", "containers": [{"path": "/0", "container": {"name": "c"}}]}]
	count(registries.deny) == 0 with input as object.union(stack([]), {"pods": pods})
}
