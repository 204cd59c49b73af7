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
    """Resolves what the rules' METADATA says refers to something."""

    def __init__(
        self, inputs: Mapping[str, Mapping[str, Any]], parts: Mapping[str, list[Part]], refers: Iterable[Refers]
    ):
        self._refers = list(refers)
        self._by_type: dict[str, list[Refers]] = {}
        self._parts = parts
        self._inputs = inputs
        targets = {refers.to for refers in self._refers}
        self._targets = {
            target: {urn for urn, listed in parts.items() if any(part.type == target for part in listed)}
            for target in targets
        }
        self._named = {
            target: {name(inputs[urn]): urn for urn in sorted(urns) if name(inputs[urn])}
            for target, urns in self._targets.items()
        }

    def of(self, resource: Resource, unknown: list[Steps]) -> dict[str, str]:
        """URN by JSON pointer; the pointers are taken out of `unknown`, for what they name is known."""
        found: dict[str, str] = {}
        for part in self._parts[resource["urn"]]:
            for refers in self._of_type(part.type):
                place = (*part.path, *refers.steps)
                target = self._target(resource, place, refers.to, unknown)
                if target:
                    found[pointer(place)] = target
        return found

    def _of_type(self, type_: str) -> list[Refers]:
        if type_ not in self._by_type:
            self._by_type[type_] = [refers for refers in self._refers if fnmatchcase(type_, refers.type)]
        return self._by_type[type_]

    def _target(self, resource: Resource, place: Path, target: str, unknown: list[Steps]) -> str:
        value: Any = self._inputs[resource["urn"]]
        for step in place:
            value = member(value, step)
        if isinstance(value, str):
            return self._named[target].get(value, "")
        here = tuple(str(step) for step in place)
        hidden = [path for path in unknown if path[: len(here)] == here]
        depends_on: set[str] = set(resource["options"].get("depends_on") or []) & self._targets[target]
        if not hidden or len(depends_on) != 1:
            return ""
        for path in hidden:
            unknown.remove(path)
        return depends_on.pop()
