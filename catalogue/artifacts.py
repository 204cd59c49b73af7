"""Container images and Helm charts at the versions that gpuyard is written for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from gpuyard.catalogue.tables import find, load


@dataclass(frozen=True, slots=True)
class Image:
    """A container image as its publisher offers it."""

    name: str
    registry: str
    """Host of the registry, such as docker.io."""
    repository: str
    """Path inside the registry."""
    tag: str
    digest: str | None
    """`sha256:…` of the image for all its architectures; None where no publisher's statement of it was found."""
    source: str
    date: str
    """The day that the version is of or was looked up on, YYYY-MM-DD."""


@dataclass(frozen=True, slots=True)
class Chart:
    """A Helm chart as its publisher offers it."""

    name: str
    repository: str
    """URL of the chart repository, without a slash at its end."""
    version: str
    source: str
    date: str
    """The day that the version was released, YYYY-MM-DD."""


@cache
def images() -> Mapping[str, Image]:
    """Every image by its name."""
    return load("images.csv", _image)


@cache
def charts() -> Mapping[str, Chart]:
    """Every chart by its name."""
    return load("charts.csv", _chart)


def image(name: str) -> Image:
    """The image called `name`; raises Unknown."""
    return find("image", images(), name)


def chart(name: str) -> Chart:
    """The chart called `name`; raises Unknown."""
    return find("chart", charts(), name)


def _image(columns: dict[str, str]) -> tuple[str, Image]:
    row = Image(
        name=columns["name"],
        registry=columns["registry"],
        repository=columns["repository"],
        tag=columns["tag"],
        digest=columns["digest"] or None,
        source=columns["source"],
        date=columns["date"],
    )
    return row.name, row


def _chart(columns: dict[str, str]) -> tuple[str, Chart]:
    row = Chart(columns["name"], columns["repository"], columns["version"], columns["source"], columns["date"])
    return row.name, row
