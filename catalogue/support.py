"""Until when EKS supports a version of Kubernetes at its ordinary price."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from gpuyard.catalogue.tables import load


@dataclass(frozen=True, slots=True)
class EksVersion:
    """A version of Kubernetes on EKS."""

    version: str
    """Minor version, such as 1.35."""
    standard_until: str
    """The day, YYYY-MM-DD, from which it is in extended support, which is charged on top."""
    source: str
    date: str
    """The day that the source is of, YYYY-MM-DD."""


@cache
def eks_versions() -> Mapping[str, EksVersion]:
    """Every version whose support is known."""
    return load("eks_versions.csv", _version)


def eks_version(version: str) -> EksVersion | None:
    """The support of a version, or None where it is not known."""
    return eks_versions().get(version)


def _version(columns: dict[str, str]) -> tuple[str, EksVersion]:
    row = EksVersion(**columns)
    return row.version, row
