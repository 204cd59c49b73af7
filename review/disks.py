"""The disks of nodes, as a launch template or a node pool says them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

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
    mappings = template.get("blockDeviceMappings")
    devices = [one.get("ebs") for one in mappings if isinstance(one, dict)] if isinstance(mappings, list) else []
    found = [
        Disk(
            _text(ebs.get("volumeType")),
            _whole(ebs.get("volumeSize")),
            _whole(ebs.get("iops")),
            _whole(ebs.get("throughput")),
        )
        for ebs in devices
        if isinstance(ebs, dict)
    ]
    return tuple(found) or (Disk(None, None),)


def of_pool(config: Mapping[str, Any]) -> tuple[Disk, ...]:
    """The boot disk of a node pool's nodes; local disks come with the machine."""
    boot = config.get("bootDisk")
    said = boot if isinstance(boot, dict) else {}
    # A value that is null is not known; one that is left out is GKE's default.
    kind = said.get("diskType", config.get("diskType", GKE_DISK_TYPE))
    gib = said.get("sizeGb", config.get("diskSizeGb", GKE_DISK_GIB))
    iops, mibps = _whole(said.get("provisionedIops")), _whole(said.get("provisionedThroughput"))
    return (Disk(_text(kind), _whole(gib), iops, mibps),)


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) else None


def _whole(value: Any) -> int | None:
    if isinstance(value, str) and value.isdecimal():
        return int(value)
    return int(value) if isinstance(value, int | float) and not isinstance(value, bool) else None
