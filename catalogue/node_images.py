"""EKS's images of nodes: which machines each is for, and which driver of NVIDIA a release of it brings."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cache

from gpuyard.catalogue.hardware import Machine
from gpuyard.catalogue.tables import load

RELEASE = re.compile(r"^(?:1\.[0-9]{2}\.[0-9]{1,2}-|v)?(20[0-9]{6})\Z|^v?([0-9]+(?:\.[0-9]+){2})(?:-[0-9a-f]{8})?\Z")
"""A release as EKS and Karpenter call it: 1.35.6-20260714 or v20260714 of AL2023, 1.56.0-6154605b or v1.56.0 of
Bottlerocket."""


@dataclass(frozen=True, slots=True)
class NodeImage:
    """A family of images of EKS."""

    name: str
    """As the EKS API calls it, an AMI type."""
    system: str
    """al2023 or bottlerocket."""
    architecture: str
    """amd64 or arm64."""
    resource: str | None
    """What pods ask for on its machines; None for machines without accelerators."""
    machines: tuple[str, ...]
    """Patterns of the machines that it is for."""
    source: str
    date: str
    """The day that the source was read, YYYY-MM-DD."""


@dataclass(frozen=True, slots=True)
class NodeDriver:
    """The driver that nodes come with."""

    cloud: str
    """The cloud whose image brings it; operator where the GPU Operator does, and `image` is its chart's version."""
    image: str
    """Node image, `*` for any characters."""
    machines: str
    """The machines that get it of this image, `*` for any characters."""
    kubernetes: str
    """Minor version of the cluster; `*` is any."""
    first: str
    """The first release of the image that has it, a day or a version; empty for all that there were."""
    last: str
    """The last one; empty where it is the latest, and later ones have it too as far as is known."""
    driver: str
    """A version, or its branch where new images bring newer ones of it."""
    source: str
    date: str
    """The day that the source is of, YYYY-MM-DD."""


def eks_image(machine: Machine, system: str) -> str | None:
    """EKS's family of images for a machine; None where it has none that is known here."""
    return next(
        (
            image.name
            for image in eks_images().values()
            if (image.system, image.architecture, image.resource) == (system, machine.architecture, machine.resource)
            and any(fnmatchcase(machine.name, pattern) for pattern in image.machines)
        ),
        None,
    )


def node_driver(
    cloud: str, image: str, kubernetes: str, *, machine: str = "", release: str | None = None
) -> str | None:
    """The driver that a node image brings to a machine in a cluster of a minor version, or None where that is not
    known. Without a release, of the latest; a release that is not understood has none.

    `cloud` is operator for the driver of the GPU Operator, and `image` then its chart's version.
    """
    fits = (
        row
        for row in node_drivers().values()
        if row.cloud == cloud
        and row.kubernetes in ("*", kubernetes)
        and fnmatchcase(machine, row.machines)
        and fnmatchcase(image.upper(), row.image.upper())
        and _has(row, release)
    )
    return next((row.driver for row in fits), None)


@cache
def eks_images() -> Mapping[str, NodeImage]:
    """Every family of images, by name."""
    return load("eks_images.csv", _image)


@cache
def node_drivers() -> Mapping[tuple[str, ...], NodeDriver]:
    """Every node image whose driver is known, by cloud, image, machines, Kubernetes version and releases. Where several
    hold, the first counts."""
    return load("node_drivers.csv", _driver)


def _has(row: NodeDriver, release: str | None) -> bool:
    """Whether a release is one of the row's."""
    if release is None:
        return not row.last
    read = RELEASE.match(release)
    if not read:
        return False
    this = _order(read[1] or read[2])
    return (not row.first or _order(row.first) <= this) and (not row.last or this <= _order(row.last))


def _order(release: str) -> tuple[int, ...]:
    return tuple(map(int, release.split(".")))


def _image(columns: dict[str, str]) -> tuple[str, NodeImage]:
    row = NodeImage(
        name=columns["name"],
        system=columns["system"],
        architecture=columns["architecture"],
        resource=columns["resource"] or None,
        machines=tuple(columns["machines"].split()),
        source=columns["source"],
        date=columns["date"],
    )
    return row.name, row


def _driver(columns: dict[str, str]) -> tuple[tuple[str, ...], NodeDriver]:
    row = NodeDriver(**columns)
    return (row.cloud, row.image, row.machines, row.kubernetes, row.first, row.last), row
