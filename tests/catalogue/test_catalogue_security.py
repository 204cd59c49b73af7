from __future__ import annotations

import re

import pytest
from packaging.version import Version

from gpuyard import catalogue
from gpuyard.catalogue import Floor, floors, security

DEPLOYED = {
    "gpu-operator": lambda: catalogue.chart("gpu-operator").version,
    "nvidia-container-toolkit": lambda: catalogue.image("nvidia-container-toolkit").tag,
    "triton": lambda: catalogue.image("triton").tag,
    "vllm": lambda: catalogue.image("vllm").tag,
}
"""What gpuyard itself installs, by product."""


@pytest.mark.parametrize("product", DEPLOYED)
def test_nothing_that_is_deployed_has_a_known_hole(product: str) -> None:
    version = security.version_of(DEPLOYED[product]())
    assert version is not None
    assert security.holes(product, version) == ()


@pytest.mark.parametrize("floor", floors().values(), ids=lambda floor: f"{floor.product}-{floor.cves[0]}")
def test_a_row_says_which_holes_it_is_for_and_who_says_so(floor: Floor) -> None:
    assert floor.cves
    assert all(re.fullmatch(r"CVE-20[0-9]{2}-[0-9]{4,}", cve) for cve in floor.cves)
    assert re.search(r"CVE record|GHSA-|PYSEC-|NVIDIA/product-security@[0-9a-f]{7} 20[0-9]{2}/[0-9]{4}", floor.source)
    assert re.fullmatch(r"20[0-9]{2}-[0-9]{2}-[0-9]{2}", floor.date)
    assert floor.since is None or floor.since < (floor.fixed or floor.through)


def test_every_product_of_the_table_is_known_by_a_chart_or_an_image() -> None:
    assert {floor.product for floor in floors().values()} == set(security.software().values())


def test_what_gives_containers_their_gpus_has_a_floor() -> None:
    assert {"gpu-operator", "nvidia-container-toolkit", "nvidia-driver"} <= {
        floor.product for floor in floors().values()
    }


@pytest.mark.parametrize(
    ("tag", "version"),
    [
        ("v0.32.0", "0.32.0"),
        ("0.8.5.post1", "0.8.5.post1"),
        ("v0.20.2rc0", "0.20.2rc0"),
        ("v0.14.0-cu130", "0.14.0"),
        ("26.07-py3", "26.7"),
        ("2.6.0+cu124", "2.6.0"),
        ("580.126.09-ubuntu22.04", "580.126.9"),
        ("latest", None),
        ("nightly-0a1b2c3", None),
        ("0a1b2c3d", None),
        ("", None),
        ("1" * 200, None),
    ],
)
def test_a_tag_says_its_version_before_what_the_image_is_built_on(tag: str, version: str | None) -> None:
    found = security.version_of(tag)
    assert found == (Version(version) if version else None)


@pytest.mark.parametrize(
    ("product", "version", "cves"),
    [
        ("vllm", "0.8.2", {"CVE-2025-32444", "CVE-2026-41523", "CVE-2026-47155", "CVE-2026-105757"}),
        ("vllm", "0.31.0", {"CVE-2026-115911"}),
        ("triton", "26.05", {"CVE-2026-47627"}),
        ("gpu-operator", "25.3.1", {"CVE-2025-23266", "CVE-2025-23267", "CVE-2026-24260"}),
        ("ray", "2.54.0", {"CVE-2026-41486"}),
        ("sglang", "0.5.20", {"CVE-2026-93034"}),
        ("sglang", "0.5.21", set()),
        ("nvidia-driver", "595.58.03", {"CVE-2026-24187", "CVE-2026-24190"}),
    ],
)
def test_a_version_has_the_holes_of_the_ranges_that_it_is_in(product: str, version: str, cves: set[str]) -> None:
    assert {cve for floor in security.holes(product, Version(version)) for cve in floor.cves} == cves
