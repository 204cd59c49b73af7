"""Where in a repository a finding is: the key of the stack file that it is about, the line of the program that
registers its resource, or the file that the program is known by."""

from __future__ import annotations

import hashlib
import os
import posixpath
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path, PurePosixPath
from typing import Any

from gpuyard.review.evaluation.findings import Finding, identity
from gpuyard.review.judge import Review
from gpuyard.review.program.keylines import Keys, key_lines
from gpuyard.review.program.project import Project

_PLATFORM = "gpuyard:index:Platform"
_WORDS = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_SOURCE = re.compile(r"(?P<file>[^:].*):(?P<line>[1-9][0-9]*)")


@dataclass(frozen=True, slots=True)
class Origin:
    """What was reviewed, as its repository knows it."""

    folder: str = ""
    """Folder of the program, relative to the root of its repository; empty where they are one."""
    file: str = "Pulumi.yaml"
    """Relative to `folder`: stands for what has no source line, such as the stack as a whole. Forges want a file."""
    stacks: Path | None = None
    """Folder of the stack files; None where what is reviewed has none."""
    stacks_in: str = ""
    """The same, relative to `folder`."""


def origin_of_program(project: Project) -> Origin:
    """Where a program is in its git repository, with the files of its stacks."""
    origin = origin_of(project.file)
    inside = os.path.relpath(project.stacks.resolve(), project.root.resolve())
    return replace(origin, stacks=project.stacks, stacks_in=PurePosixPath(inside).as_posix())


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
    """Whether the line is the one that registers the resource, or declares it."""


class Places:
    """Finds the places of one review's findings."""

    def __init__(self, review: Review, origin: Origin) -> None:
        self._resources: Mapping[str, Mapping[str, Any]] = {one["urn"]: one for one in review.document["resources"]}
        self._origin = origin
        self._stack = str(review.document["stack"])

    def resource(self, finding: Finding) -> Mapping[str, Any] | None:
        """The resource that a finding is about; None for the stack itself."""
        return self._resources.get(finding.urn)

    def place(self, finding: Finding) -> Place:
        """Where the stack file declares a finding's resource, else where it is registered; the program's own file where
        that is not known."""
        resource = self.resource(finding)
        declared = self._declared(resource)
        if declared:
            return declared
        source = _SOURCE.fullmatch(str((resource or {}).get("source") or ""))
        if source is None or PurePosixPath(source["file"]).is_absolute() or ".." in PurePosixPath(source["file"]).parts:
            return Place(self._in_repository(self._origin.file), 1, exact=False)
        return Place(self._in_repository(source["file"]), int(source["line"]), exact=True)

    def _declared(self, resource: Mapping[str, Any] | None) -> Place | None:
        """One line of the program makes a whole platform, and says nothing: its stack file does."""
        file, lines = self._stack_file
        keys = self._keys(resource)
        while keys and keys not in lines:
            keys = keys[:-1]
        return Place(self._in_repository(file), lines[keys], exact=True) if keys is not None and keys in lines else None

    def _keys(self, resource: Mapping[str, Any] | None) -> Keys | None:
        """The part of the platform that a resource is made for; None where it is no platform's.

        It is what the component right below the platform is named by, in the section that its type is named by: an
        EksNodeGroup h100 is of node_groups.
        """
        if resource is None:
            return () if any(one["type"] == _PLATFORM for one in self._resources.values()) else None
        while resource is not None and resource["type"] != _PLATFORM:
            above = self._resources.get(str(resource["parent"]))
            if above is not None and above["type"] == _PLATFORM:
                noun = _WORDS.sub("_", str(resource["type"]).rpartition(":")[2]).lower()
                for section in above["inputs"]:
                    if noun == section or f"_{noun}s".endswith(f"_{section}") or noun.endswith(f"_{section}"):
                        return section, str(resource["name"])
            resource = above
        return () if resource is not None else None

    @cached_property
    def _stack_file(self) -> tuple[str, Mapping[Keys, int]]:
        """The stack's own file, relative to the program's folder, and its lines."""
        folder, suffix = self._origin.stacks, PurePosixPath(self._origin.file).suffix
        if folder is None:
            return "", {}
        name = f"Pulumi.{PurePosixPath(self._stack).name}{suffix}"
        return f"{self._origin.stacks_in}/{name}", key_lines(folder / name)

    def fingerprint(self, finding: Finding) -> str:
        """The same for two findings that are one, in hexadecimal digits: see `identity`."""
        same = "\0".join(identity(finding, self.resource(finding)))
        return hashlib.sha256(same.encode("utf-8", "surrogatepass")).hexdigest()

    def _in_repository(self, file: str) -> str:
        return posixpath.normpath(PurePosixPath(self._origin.folder) / file)
