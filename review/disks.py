"""The disks of nodes, as a launch template, a node pool or an EC2NodeClass says them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from gpuyard.review.quantities import GIB, amount
from gpuyard.review.values import at, mapping, number, sequence, text

GKE_DISK_GIB = 100
GKE_DISK_TYPE = "pd-balanced"
"""What a node of GKE has when its pool says nothing. Source: GKE, node pool: diskSizeGb, diskType."""


@dataclass(frozen=True, slots=True)
class Disk:
    """One disk of each node of a group."""

    kind: str | None
    """As its cloud calls it: gp3, pd-balanced; None is not known."""
    gib: int | None
    """Size in GiB; None is not known."""
    iops: int | None = None
    """Operations a second that were asked for; None is what comes with the disk."""
    mibps: int | None = None
    """MiB a second that were asked for; None is what comes with the disk."""


def of_template(template: Mapping[str, Any]) -> tuple[Disk, ...]:
    """The volumes of a launch template; of one that names none, they are the image's, and not known."""
    return _of_devices(template.get("blockDeviceMappings"), _whole)


def of_node_class(node_class: Mapping[str, Any]) -> tuple[Disk, ...]:
    """The volumes of an EC2NodeClass; of one that names none, they are Karpenter's, and not known."""
    return _of_devices(at(node_class, "spec", "blockDeviceMappings"), _in_gib)


def of_pool(config: Mapping[str, Any]) -> tuple[Disk, ...]:
    """The boot disk of a node pool's nodes; local disks come with the machine."""
    said = mapping(config.get("bootDisk"))
    # A value that is null is not known; one that is left out is GKE's default.
    kind = said.get("diskType", config.get("diskType", GKE_DISK_TYPE))
    gib = said.get("sizeGb", config.get("diskSizeGb", GKE_DISK_GIB))
    iops, mibps = _whole(said.get("provisionedIops")), _whole(said.get("provisionedThroughput"))
    return (Disk(text(kind), _whole(gib), iops, mibps),)


def _of_devices(mappings: Any, size: Callable[[Any], int | None]) -> tuple[Disk, ...]:
    found = [
        Disk(
            text(ebs.get("volumeType")),
            size(ebs.get("volumeSize")),
            _whole(ebs.get("iops")),
            _whole(ebs.get("throughput")),
        )
        for ebs in (mapping(one).get("ebs") for one in sequence(mappings))
        if isinstance(ebs, dict)
    ]
    return tuple(found) or (Disk(None, None),)


def _whole(value: Any) -> int | None:
    """A number, which some inputs give as a text."""
    return number(float(value) if isinstance(value, str) and value.isdecimal() else value)


def _in_gib(quantity: Any) -> int | None:
    known = amount(quantity)
    return None if known is None else int(known // GIB)
