"""Images and charts are named completely and exactly."""

from __future__ import annotations

import re

import pytest
from packaging.version import Version

from gpuyard import catalogue
from gpuyard.catalogue import Chart, Image


@pytest.mark.parametrize("image", catalogue.images().values(), ids=lambda i: i.name)
def test_an_image_has_a_registry_a_path_and_a_fixed_tag(image: Image) -> None:
    assert re.fullmatch(r"[a-z0-9.-]+\.[a-z]+", image.registry)
    assert re.fullmatch(r"[a-z0-9._-]+(/[a-z0-9._-]+)+", image.repository)
    assert re.search(r"[0-9]+\.[0-9]+", image.tag)
    assert image.digest is None or re.fullmatch(r"sha256:[0-9a-f]{64}", image.digest)


@pytest.mark.parametrize("chart", catalogue.charts().values(), ids=lambda c: c.name)
def test_a_chart_has_a_repository_and_a_released_version(chart: Chart) -> None:
    assert re.fullmatch(r"(https|oci)://[a-z0-9.-]+(/[a-z0-9-]+)*", chart.repository)
    assert not Version(chart.version).is_prerelease


def test_the_serving_images_are_above_the_versions_with_known_holes() -> None:
    # CVE-2026-115911 is fixed in vLLM 0.32.0; CVE-2025-23319 and its chain in Triton 25.07.
    assert Version(catalogue.image("vllm").tag) >= Version("0.32.0")
    assert catalogue.image("triton").tag.split("-")[0] >= "25.07"


def test_the_gpu_operator_is_above_the_versions_with_known_holes() -> None:
    # CVE-2025-23266 is fixed in 25.3.1.
    assert Version(catalogue.chart("gpu-operator").version) >= Version("25.3.1")


@pytest.mark.parametrize("name", ["gpu-operator", "kube-prometheus-stack", "keda", "cluster-autoscaler"])
def test_the_charts_that_a_platform_installs_are_there(name: str) -> None:
    assert catalogue.chart(name).name == name
