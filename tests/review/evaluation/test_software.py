"""Software with known holes, wherever a program names its version."""

from __future__ import annotations

from typing import Any

import pytest
from documents import document, kubernetes, resource, workload

from gpuyard.review.evaluation.prepare import prepare

Json = dict[str, Any]

DIGEST = f"sha256:{'ab' * 32}"


def software(resources: list[Json]) -> list[Json]:
    found: list[Json] = prepare(document(resources), {}).input["software"]
    return found


def of(**container: Any) -> list[tuple[str, str, bool]]:
    spec = {"containers": [{"name": "server"} | container]}
    found = software([kubernetes(workload("Deployment", spec))])
    return [(item["product"], item["version"], bool(item["holes"])) for item in found]


def released(**inputs: Any) -> list[tuple[str, str, str, bool]]:
    found = software([resource("kubernetes:helm.sh/v3:Release", "r", inputs)])
    return [(item["product"], item["version"], item["source"], bool(item["holes"])) for item in found]


@pytest.mark.parametrize(
    ("reference", "expected"),
    [
        ("vllm/vllm-openai:v0.13.0", [("vllm", "v0.13.0", True)]),
        ("vllm/vllm-openai:v0.32.0", [("vllm", "v0.32.0", False)]),
        ("mirror.example:5000/ai/vllm/vllm-openai:v0.8.4-cu128", [("vllm", "v0.8.4-cu128", True)]),
        (f"vllm/vllm-openai:v0.13.0@{DIGEST}", [("vllm", "v0.13.0", True)]),
        (f"vllm/vllm-openai@{DIGEST}", [("vllm", "", False)]),
        ("vllm/vllm-openai:nightly-0a1b2c3", [("vllm", "", False)]),
        ("vllm/vllm-openai:latest", []),
        ("vllm/vllm-openai", []),
        ("acme/vllm-openai:v0.1.0", []),
        ("evilvllm/vllm-openai:v0.1.0", []),
        ("nvcr.io/nvidia/tritonserver:25.06-py3", [("triton", "25.06-py3", True)]),
        ("nvcr.io/nvidia/tritonserver:26.07-trtllm-python-py3", [("triton", "26.07-trtllm-python-py3", False)]),
        ("rayproject/ray:2.54.0-py312-gpu", [("ray", "2.54.0-py312-gpu", True)]),
        ("lmsysorg/sglang:v0.5.10.post1-cu126", [("sglang", "v0.5.10.post1-cu126", True)]),
        ("pytorch/pytorch:2.5.1-cuda12.4-cudnn9-runtime", [("pytorch", "2.5.1-cuda12.4-cudnn9-runtime", True)]),
        ("nvcr.io/nvidia/pytorch:25.01-py3", []),
        (
            "nvcr.io/nvidia/k8s/container-toolkit:v1.17.8-ubuntu20.04",
            [("nvidia-container-toolkit", "v1.17.8-ubuntu20.04", True)],
        ),
        ("nvcr.io/nvidia/driver:580.105.08-ubuntu24.04", [("nvidia-driver", "580.105.08-ubuntu24.04", True)]),
        ("nvcr.io/nvidia/driver:595.91.07-ubuntu24.04", [("nvidia-driver", "595.91.07-ubuntu24.04", False)]),
        ("nvcr.io/nvidia/driver:570.86.15-ubuntu24.04", [("nvidia-driver", "570.86.15-ubuntu24.04", False)]),
        ("nvcr.io/nvidia/driver:580-6.8.0-generic-ubuntu24.04", []),
        ("busybox:1.36", []),
    ],
)
def test_an_image_is_known_by_the_end_of_its_name(reference: str, expected: list[Any]) -> None:
    assert of(image=reference) == expected


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["pip install vllm==0.8.4"], [("vllm", "0.8.4", True)]),
        (
            ["uv pip install 'ray[serve,llm]==2.54.0' torch==2.6.0"],
            [("ray", "2.54.0", True), ("pytorch", "2.6.0", False)],
        ),
        (["pip install vllm-flash-attn==0.1 x-ray==1.0 vllm>=0.8"], []),
    ],
)
def test_what_a_script_installs_counts(words: list[str], expected: list[Any]) -> None:
    assert of(image="python:3.12", command=["sh", "-c"], args=words) == expected


def test_charts_count_with_what_their_values_set() -> None:
    values = {"toolkit": {"version": "v1.17.3"}, "driver": {"version": "580.105.08"}}
    assert released(chart="gpu-operator", version="v26.7.0", values=values) == [
        ("gpu-operator", "v26.7.0", "chart", False),
        ("nvidia-container-toolkit", "v1.17.3", "values", True),
        ("nvidia-driver", "580.105.08", "values", True),
    ]
    assert released(chart="oci://mirror.example/charts/gpu-operator", version="v25.3.0") == [
        ("gpu-operator", "v25.3.0", "chart", True)
    ]
    assert released(chart="gpu-operator") == []
    image = {"image": {"repository": "vllm/vllm-openai", "tag": "v0.13.0"}}
    assert released(chart="app", values=image) == [("vllm", "v0.13.0", "values", True)]


def test_what_a_chart_does_not_install_does_not_count() -> None:
    driver = {"enabled": False, "repository": "nvcr.io/nvidia", "image": "driver", "version": "580.105.08"}
    assert (
        released(chart="gpu-operator", values={"driver": driver, "toolkit": {"enabled": False, "version": "v1.0.0"}})
        == []
    )
    on = driver | {"enabled": True}
    assert released(chart="gpu-operator", values={"driver": on}) == [("nvidia-driver", "580.105.08", "values", True)]


@pytest.mark.parametrize(
    ("kind", "spec", "path"),
    [
        ("RayCluster", {"rayVersion": "2.54.0"}, "/spec/rayVersion"),
        ("RayJob", {"rayClusterSpec": {"rayVersion": "2.54.0"}}, "/spec/rayClusterSpec/rayVersion"),
        ("RayService", {"rayClusterConfig": {"rayVersion": "2.54.0"}}, "/spec/rayClusterConfig/rayVersion"),
    ],
)
def test_the_version_of_a_ray_cluster_is_a_field(kind: str, spec: Json, path: str) -> None:
    manifest = {"apiVersion": "ray.io/v1", "kind": kind, "metadata": {"name": "r", "namespace": "n"}, "spec": spec}
    [item] = software([kubernetes(manifest)])
    assert (item["path"], item["source"], item["floor"]) == (path, "field", "2.55.0")


def test_the_floor_is_the_oldest_version_without_any_hole_that_is_mended() -> None:
    """0.14.1 mends the worst of 0.13.0, and has others."""
    [item] = software(
        [kubernetes(workload("Pod", {"containers": [{"name": "s", "image": "vllm/vllm-openai:v0.13.0"}]}))]
    )
    assert (item["holes"][0]["fixed"], item["floor"], item["beyond"]) == ("0.14.1", "0.32.0", "")
    [item] = software(
        [kubernetes(workload("Pod", {"containers": [{"name": "s", "image": "lmsysorg/sglang:v0.5.12"}]}))]
    )
    assert (item["floor"], item["beyond"]) == ("", "0.5.20")


def test_the_age_of_the_table_is_counted_to_the_day_of_the_review() -> None:
    given = document([]) | {"date": "2027-11-30"}
    assert prepare(given, {}).input["floors"] == {"checked": "2026-11-30", "age_days": 365}
    assert "age_days" not in prepare(given | {"date": "today"}, {}).input["floors"]
