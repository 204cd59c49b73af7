"""Which resource of the program a value names.

The name of a thing that does not exist yet is unknown before the deployment, yet the program says what it means: the
resource depends on it. So a node group is joined to its launch template though the template has no id.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any

from gpuyard.review.evaluation.objects import Path, member, metadata, pointer
from gpuyard.review.evaluation.rules import Refers

Resource = Mapping[str, Any]
Steps = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Part:
    """A thing inside a resource that METADATA can name: the resource itself, an object in it, a pod in that."""

    type: str
    path: Path


def name(inputs: Mapping[str, Any]) -> str:
    """The name that a resource gives itself; empty where Pulumi or the cloud chooses it."""
    found = inputs.get("name", metadata(inputs).get("name"))
    return found if isinstance(found, str) else ""


class References:
    """Resolves what the rules' METADATA says refers to something, among the resources that are added."""

    def __init__(self, refers: Iterable[Refers]) -> None:
        self._refers = list(refers)
        self._by_type: dict[str, list[Refers]] = {}
        self._named: dict[str, dict[str, str]] = {refers.to: {} for refers in self._refers}
        """By target type, URNs by name."""
        self._targets: dict[str, dict[str, str]] = {refers.to: {} for refers in self._refers}
        """By target type, names by URN; empty where nobody knows the name yet."""

    def add(self, urn: str, parts: Iterable[Part], called: str) -> None:
        """Adds a resource, by the name that it gives itself or that its provider has chosen for it."""
        for type_ in {part.type for part in parts} & self._targets.keys():
            self._targets[type_][urn] = called
            if called:
                # Of two with one name the last by URN, whichever comes first.
                self._named[type_][called] = max(urn, self._named[type_].get(called, ""))

    def of(self, resource: Resource, inputs: Any, parts: Iterable[Part], unknown: list[Steps]) -> dict[str, str]:
        """URN by JSON pointer; the pointers are taken out of `unknown`, for what they name is known."""
        found: dict[str, str] = {}
        for part in parts:
            for refers in self._of_type(part.type):
                place = (*part.path, *refers.steps)
                target = self._target(resource, _at(inputs, place), place, refers.to, unknown)
                if target:
                    found[pointer(place)] = target
        return found

    def open(self, inputs: Any, parts: Iterable[Part], unknown: Iterable[Steps]) -> set[Refers]:
        """What may name one of the resources so far, and only a dependency tells which: a value that is not known, or a
        name that is none of theirs where one of theirs is not known.

        What a resource depends on is there before it.
        """
        found: set[Refers] = set()
        for part in parts:
            for refers in self._of_type(part.type):
                place, names = (*part.path, *refers.steps), self._targets[refers.to].values()
                value = _at(inputs, place)
                if isinstance(value, str):
                    unsettled = "" in names and not self._by_name(value, refers.to)
                else:
                    unsettled = bool(names) and any(_hides(place, path) for path in unknown)
                if unsettled:
                    found.add(refers)
        return found

    def _of_type(self, type_: str) -> list[Refers]:
        if type_ not in self._by_type:
            self._by_type[type_] = [refers for refers in self._refers if fnmatchcase(type_, refers.type)]
        return self._by_type[type_]

    def _by_name(self, value: str, target: str) -> str:
        """Clouds take a name or a path that ends with it: projects/p/locations/l/clusters/NAME."""
        named = self._named[target]
        return named.get(value) or named.get(value.rpartition("/")[2], "")

    def _target(self, resource: Resource, value: Any, place: Path, target: str, unknown: list[Steps]) -> str:
        if isinstance(value, str):
            return self._by_name(value, target)
        hidden = [path for path in unknown if _hides(place, path)]
        depends_on: set[str] = set(resource["options"].get("depends_on") or []) & self._targets[target].keys()
        if not hidden or len(depends_on) != 1:
            return ""
        for path in hidden:
            unknown.remove(path)
        return depends_on.pop()


def _at(inputs: Any, place: Path) -> Any:
    for step in place:
        inputs = member(inputs, step)
    return inputs


def hidden(path: Steps, unknown: Iterable[Steps]) -> bool:
    """Whether a value, what holds it, or a part of it is not known."""
    return any(path[: len(one)] == one or one[: len(path)] == path for one in unknown)


def _hides(place: Path, unknown: Steps) -> bool:
    """Whether what is not known is the value at a place, or a part of it."""
    return unknown[: len(place)] == tuple(str(step) for step in place)
