"""Software of which holes are known: in which versions they are, and by which charts and images it is deployed."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Literal

from packaging.version import InvalidVersion, Version

from gpuyard.catalogue.tables import load

SEVERITIES = ("critical", "high", "medium", "low", "unknown")

LONGEST = 128
"""Characters of a tag, as registries allow; a longer text is no version."""

_VERSION = re.compile(r"v?(\d+(?:\.\d+)*(?:[.-]?(?:rc|post|dev|a|b)\d+)?)(?=$|[-_+])", re.IGNORECASE | re.ASCII)
"""What a tag begins with; the rest says what the image is built on: v0.32.0-cu130, 26.07-py3."""


@dataclass(frozen=True, slots=True)
class Floor:
    """Holes of a product, and the versions that have them."""

    product: str
    since: Version | None
    """The first version that has them; None for all before the fix."""
    fixed: Version | None
    """The first version without them."""
    through: Version | None
    """The last one of which it is known that it has them, where no version is known to be without."""
    cves: tuple[str, ...]
    severity: str
    """Of the worst of them, as the source says; `unknown` where it says none."""
    source: str
    date: str
    """The day that the source was read, YYYY-MM-DD."""
    fixed_text: str
    """As its publisher writes that version: 26.06."""

    def affects(self, version: Version) -> bool:
        """Whether a version has the holes."""
        if self.since and version < self.since:
            return False
        return version < self.fixed if self.fixed else self.through is not None and version <= self.through


@cache
def floors() -> Mapping[tuple[str, str, str], Floor]:
    """Every row by product, CVEs and the version that mends them."""
    return load("security_floors.csv", _floor)


@cache
def checked() -> str:
    """The newest day on which a row was checked, YYYY-MM-DD."""
    return max(floor.date for floor in floors().values())


@cache
def software() -> Mapping[tuple[str, str], str]:
    """Products by kind, `chart` or `image`, and name: of an image, the end of its repository, which mirrors keep."""
    return load("software.csv", lambda columns: ((columns["kind"], columns["name"]), columns["product"]))


def software_of(kind: Literal["chart", "image"], name: str) -> str | None:
    """The product of a chart, by its name, or of an image, by its repository; None for any other."""
    if kind == "chart":
        return software().get((kind, name))
    return software().get((kind, "/".join(name.rsplit("/", 2)[-2:])))


def version_of(text: str) -> Version | None:
    """The version that a tag or a field says; None where it says none, as `latest` and `nightly-0a1b2c3` do."""
    found = _VERSION.match(text) if len(text) <= LONGEST else None
    try:
        return Version(found[1]) if found else None
    except InvalidVersion:
        return None


@cache
def holes(product: str, version: Version) -> tuple[Floor, ...]:
    """The holes of one version, the worst first."""
    found = [floor for floor in floors().values() if floor.product == product and floor.affects(version)]
    return tuple(sorted(found, key=lambda floor: (SEVERITIES.index(floor.severity), floor.cves)))


def _floor(columns: dict[str, str]) -> tuple[tuple[str, str, str], Floor]:
    row = Floor(
        product=columns["product"],
        since=_version(columns["since"]),
        fixed=_version(columns["fixed"]),
        through=_version(columns["through"]),
        cves=tuple(columns["cves"].split()),
        severity=columns["severity"],
        source=columns["source"],
        date=columns["date"],
        fixed_text=columns["fixed"],
    )
    if bool(row.fixed) == bool(row.through):
        raise ValueError("a row says either `fixed` or `through`")
    if row.severity not in SEVERITIES:
        raise ValueError(f"severity is {row.severity}, and must be one of {', '.join(SEVERITIES)}")
    return (row.product, columns["cves"], columns["fixed"]), row


def _version(text: str) -> Version | None:
    return Version(text) if text else None
