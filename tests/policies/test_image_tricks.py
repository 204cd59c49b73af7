"""Ways to write an image so that it looks like an allowed one: each is refused."""

from __future__ import annotations

from pathlib import Path

import pytest
from documents import document, kubernetes, pod_spec, workload

from gpuyard.review.evaluation.evaluate import evaluate, find_policies

POLICIES = find_policies(Path("/nonexistent"))
DIGEST = f"sha256:{'ab' * 32}"
IMAGES = ("supply_chain/registries", "supply_chain/image_digests")

REFUSED = {
    "a name that begins like an allowed one": "nvcr.io/nvidiaevil/tritonserver:26.07-py3",
    "a host that begins like an allowed one": "nvcr.io.evil.example/nvidia/tritonserver:26.07-py3",
    "a host that ends like an allowed one": "evil-nvcr.io/nvidia/tritonserver:26.07-py3",
    "an allowed host as somebody's name": "nvcr.io@evil.example/nvidia/tritonserver:26.07-py3",
    "an allowed registry at another port": "nvcr.io:8443/nvidia/tritonserver:26.07-py3",
    "an allowed path at another host": "evil.example/nvcr.io/nvidia/tritonserver:26.07-py3",
    "capitals in a path": "nvcr.io/NVIDIA/tritonserver:26.07-py3",
    "a letter that looks like another": "nvсr.io/nvidia/tritonserver:26.07-py3",  # noqa: RUF001 - the trick itself
    "a letter that nobody sees": "nvcr.io/\u200bnvidia/tritonserver:26.07-py3",
    "a blank before it": " nvcr.io/nvidia/tritonserver:26.07-py3",
    "an address": "https://nvcr.io/nvidia/tritonserver:26.07-py3",
    "an alias of Docker Hub": "index.docker.io/colleague/vllm:1.0",
    "another alias of Docker Hub": "registry-1.docker.io/colleague/vllm:1.0",
    "Docker Hub in capitals": "DOCKER.IO/colleague/vllm:1.0",
    "a short name": "vllm-openai:v0.32.0",
    "a short name below an allowed one": "vllmevil/vllm-openai:v0.32.0",
    "no tag": "nvcr.io/nvidia/tritonserver",
    "an empty tag": "nvcr.io/nvidia/tritonserver:",
    "latest": "nvcr.io/nvidia/tritonserver:latest",
    "a branch": "nvcr.io/nvidia/tritonserver:Main",
    "a digest that is none": "nvcr.io/nvidia/tritonserver@sha256:abc",
    "a word in the place of a digest": "nvcr.io/nvidia/tritonserver@latest",
    "a digest of capitals": f"nvcr.io/nvidia/tritonserver@{DIGEST.upper()}",
    "a digest of an image that is not allowed": f"evil.example/tritonserver:26.07-py3@{DIGEST}",
}


def found(reference: str) -> set[str]:
    pod = kubernetes(workload("Deployment", pod_spec(reference)), stack="prod")
    verdict = evaluate(document([pod], stack="prod", environment="production"), POLICIES, choice="embedded")
    return {finding.rule for finding in verdict.findings if finding.denies and finding.rule in IMAGES}


@pytest.mark.parametrize("trick", REFUSED)
def test_an_image_that_only_looks_allowed_is_refused(trick: str) -> None:
    assert found(REFUSED[trick])


@pytest.mark.parametrize(
    "reference",
    [
        "nvcr.io/nvidia/tritonserver:26.07-py3",
        f"nvcr.io/nvidia/tritonserver@{DIGEST}",
        f"nvcr.io/nvidia/tritonserver:latest@{DIGEST}",
        "vllm/vllm-openai:v0.32.0",
        "docker.io/vllm/vllm-openai:v0.32.0",
        "index.docker.io/vllm/vllm-openai:v0.32.0",
        "NVCR.io/nvidia/tritonserver:26.07-py3",
    ],
)
def test_other_ways_to_write_an_allowed_image_are_allowed(reference: str) -> None:
    assert found(reference) == set()
