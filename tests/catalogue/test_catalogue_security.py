from __future__ import annotations

import re

import pytest
from packaging.version import Version

from gpuyard import catalogue
from gpuyard.catalogue import Floor, floors


def version(of: Floor) -> Version:
    """The catalogue's version of what a floor is about. NVIDIA's tags end with what the image is built on: 26.07-py3."""
    found = catalogue.chart(of.name).version if of.kind == "chart" else catalogue.image(of.name).tag
    return Version(re.sub(r"-[a-z]+[0-9]*$", "", found))


@pytest.mark.parametrize("floor", floors().values(), ids=lambda floor: floor.name)
def test_nothing_that_is_deployed_is_older_than_the_version_without_known_holes(floor: Floor) -> None:
    assert version(floor) >= Version(floor.version), f"{floor.name} has {', '.join(floor.cves)}"


def test_a_floor_says_which_holes_it_is_for() -> None:
    for floor in floors().values():
        assert floor.cves
        assert all(re.fullmatch(r"CVE-20[0-9]{2}-[0-9]{4,}", cve) for cve in floor.cves)
        assert floor.source


def test_what_gives_containers_their_gpus_has_a_floor() -> None:
    assert ("image", "nvidia-container-toolkit") in floors()
    assert ("chart", "gpu-operator") in floors()
