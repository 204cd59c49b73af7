"""Kubernetes versions as EKS lets them change."""

from __future__ import annotations

from clouds.refused import RefusedError

NEWEST = "1.36"
"""What EKS takes when no version is asked for."""

OFFERED = ("1.30", "1.31", "1.32", "1.33", "1.34", "1.35", "1.36")
"""Versions in standard or extended support on 2026-11-30."""


def refuse_step(old: str | None, new: str | None) -> None:
    """Raises RefusedError for a version that EKS does not offer, or does not go to from the old one: upgrades are by one
    minor version, and none goes back (EKS user guide, "Update existing cluster to new Kubernetes version")."""
    if new is None or new == old:
        return
    if new not in OFFERED:
        raise RefusedError("InvalidParameterException", f"unsupported Kubernetes version {new}")
    if old is not None and minor(new) != minor(old) + 1:
        message = f"Unsupported Kubernetes minor version update from {old} to {new}"
        raise RefusedError("InvalidParameterException", message)


def minor(version: str) -> int:
    """The minor version: 35 of 1.35."""
    return int(version.split(".")[1])
