"""Where in a repository a finding is: its source line, or the file that the program is known by."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from gpuyard.review.evaluation.findings import Finding, identity
from gpuyard.review.judge import Review

_SOURCE = re.compile(r"(?P<file>[^:].*):(?P<line>[1-9][0-9]*)")


@dataclass(frozen=True, slots=True)
class Origin:
    """What was reviewed, as its repository knows it."""

    folder: str = ""
    """Folder of the program, relative to the root of its repository; empty where they are one."""
    file: str = "Pulumi.yaml"
    """Relative to `folder`: stands for what has no source line, such as the stack as a whole. Forges want a file."""


def origin_of(project: Path) -> Origin:
    """Where a Pulumi.yaml is in its git repository; outside of one, its folder counts as the root."""
    folder = project.parent.resolve()
    root = next((above for above in (folder, *folder.parents) if (above / ".git").exists()), folder)
    inside = folder.relative_to(root).as_posix()
    return Origin("" if inside == "." else inside, project.name)


@dataclass(frozen=True, slots=True)
class Place:
    """A line of a file of the repository."""

    file: str
    """Relative to the repository's root, with `/`."""
    line: int
    """Counted from 1; 1 where only the file is known."""
    exact: bool
    """Whether the line is the one that registers the resource."""


class Places:
    """Finds the places of one review's findings."""

    def __init__(self, review: Review, origin: Origin) -> None:
        self._resources: Mapping[str, Mapping[str, Any]] = {one["urn"]: one for one in review.document["resources"]}
        self._origin = origin

    def resource(self, finding: Finding) -> Mapping[str, Any] | None:
        """The resource that a finding is about; None for the stack itself."""
        return self._resources.get(finding.urn)

    def place(self, finding: Finding) -> Place:
        """Where a finding's resource is registered; the program's own file where that is not known."""
        resource = self.resource(finding)
        source = _SOURCE.fullmatch(str((resource or {}).get("source") or ""))
        if source is None or PurePosixPath(source["file"]).is_absolute() or ".." in PurePosixPath(source["file"]).parts:
            return Place(self._in_repository(self._origin.file), 1, exact=False)
        return Place(self._in_repository(source["file"]), int(source["line"]), exact=True)

    def fingerprint(self, finding: Finding) -> str:
        """The same for two findings that are one, in hexadecimal digits: see `identity`."""
        same = "\0".join(identity(finding, self.resource(finding)))
        return hashlib.sha256(same.encode("utf-8", "surrogatepass")).hexdigest()

    def _in_repository(self, file: str) -> str:
        return (PurePosixPath(self._origin.folder) / file).as_posix()
