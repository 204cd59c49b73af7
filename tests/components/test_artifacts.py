from __future__ import annotations

import pulumi
import pytest
from pydantic import ValidationError
from registered import registered

from gpuyard.components.artifacts import RELEASE_SECONDS, ArtifactsSpec, image, release_inputs
from gpuyard.components.kubernetes import declare, token

UPSTREAM, MIRROR = ArtifactsSpec(), ArtifactsSpec(images="mirror.example/ai", charts="oci://mirror.example/charts")


def test_a_mirror_keeps_the_path_and_the_version_of_an_image() -> None:
    upstream, mirrored = image("vllm", UPSTREAM), image("vllm", MIRROR)
    assert upstream.startswith("docker.io/vllm/vllm-openai:")
    assert mirrored == upstream.replace("docker.io/", "mirror.example/ai/")


def test_a_chart_comes_from_its_repository_or_from_the_mirror() -> None:
    upstream = release_inputs("keda", "keda", {"a": 1}, UPSTREAM)
    assert (upstream["chart"], upstream["name"], upstream["namespace"]) == ("keda", "keda", "keda")
    assert upstream["repositoryOpts"]["repo"].startswith("https://")
    mirrored = release_inputs("keda", "keda", {}, MIRROR)
    assert mirrored["chart"] == "oci://mirror.example/charts/keda"
    assert "repositoryOpts" not in mirrored, "an OCI chart is found by its address alone"
    assert mirrored["version"] == upstream["version"]


def test_a_release_that_others_need_is_waited_for_longer_than_helm_does_by_itself() -> None:
    awaited = release_inputs("keda", "keda", {}, UPSTREAM)
    assert awaited["timeout"] == RELEASE_SECONDS > 300
    assert "skipAwait" not in awaited
    agents = release_inputs("dcgm-exporter", "gpu-operator", {}, UPSTREAM, awaited=False)
    assert agents["skipAwait"] is True
    assert "timeout" not in agents


@pytest.mark.parametrize("given", [{"images": "https://mirror.example"}, {"charts": "mirror.example/charts"}])
def test_an_address_of_a_wrong_kind_is_refused(given: dict[str, str]) -> None:
    with pytest.raises(ValidationError):
        ArtifactsSpec(**given)


@pytest.mark.parametrize(
    ("api", "kind", "expected"),
    [
        ("v1", "Namespace", "kubernetes:core/v1:Namespace"),
        ("apps/v1", "Deployment", "kubernetes:apps/v1:Deployment"),
        ("keda.sh/v1alpha1", "ScaledObject", "kubernetes:keda.sh/v1alpha1:ScaledObject"),
    ],
)
def test_an_object_has_the_type_of_its_typed_class(api: str, kind: str, expected: str) -> None:
    assert token({"apiVersion": api, "kind": kind}) == expected


def test_an_object_is_owned_by_its_stack_whenever_it_is_made() -> None:
    # The engine's own owner is a random name: made again after a run that was cut off, an object would have two.
    manifest = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "fraud", "annotations": {"a": "b"}}}
    [made] = registered(lambda: declare("fraud", manifest, pulumi.ResourceOptions()))
    owner = {"pulumi.com/patchFieldManager": "gpuyard/test"}
    assert made["inputs"] == {**manifest, "metadata": {"name": "fraud", "annotations": {"a": "b"} | owner}}
    assert "pulumi.com/patchFieldManager" not in manifest["metadata"]["annotations"], "the manifest stays as it was"
