"""What a deployment would do to what is there already, as the engine's own preview says."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from importlib.resources import files
from typing import Any, Literal

from ruamel.yaml import YAML

Operation = Literal["create", "update", "replace", "delete", "read", "import", "refresh", "same"]

_OPERATIONS: dict[str, Operation] = {
    "create": "create",
    "update": "update",
    "replace": "replace",
    "create-replacement": "replace",
    "delete-replaced": "replace",
    "import-replacement": "replace",
    "read-replacement": "replace",
    "discard-replaced": "replace",
    "delete": "delete",
    "discard": "delete",
    "remove-pending-replace": "delete",
    "read": "read",
    "import": "import",
    "refresh": "refresh",
    "same": "same",
}
"""The engine's steps. A replacement is several: the new one is made, the old one deleted.
Source: pulumi, sdk/go/common/apitype/history.go, OpType."""

_STRONGEST: tuple[Operation, ...] = ("replace", "delete", "create", "import", "update", "read", "refresh", "same")
"""A resource with several steps is what the first of these says."""


@dataclass(frozen=True, slots=True)
class Change:
    """What would happen to one resource."""

    urn: str
    operation: Operation
    because: tuple[str, ...] = ()
    """Inputs that differ; of a replacement those that force it."""
    lost: str = ""
    """What goes with the resource when it is replaced or deleted; empty where that is nothing but itself."""

    @property
    def type(self) -> str:
        """Pulumi type of the resource."""
        return _type(self.urn)

    @property
    def name(self) -> str:
        """Pulumi name of the resource."""
        return self.urn.rpartition("::")[2]


def changes(steps: Iterable[Mapping[str, Any]]) -> list[Change]:
    """The changes that the steps of a preview add up to, by URN; `steps` is the metadata of the engine's events.

    Raises ValueError for a step that is not known: what cannot be read is not shown as harmless.
    """
    by_urn: dict[str, list[Mapping[str, Any]]] = {}
    for step in steps:
        if step["op"] not in _OPERATIONS:
            raise ValueError(f"the engine's step {step['op']!r} of {step['urn']} is not known")
        by_urn.setdefault(step["urn"], []).append(step)
    return [_change(urn, by_urn[urn]) for urn in sorted(by_urn)]


def counted(found: Sequence[Change]) -> dict[Operation, int]:
    """How many resources each operation is about, in the order of `_STRONGEST`, without those that are 0."""
    counts = {operation: sum(change.operation == operation for change in found) for operation in _STRONGEST}
    return {operation: count for operation, count in counts.items() if count}


def losses(found: Sequence[Change]) -> list[Change]:
    """The changes that take something away which is more than the resource itself."""
    return [change for change in found if change.lost]


def _change(urn: str, steps: Sequence[Mapping[str, Any]]) -> Change:
    operations = {_OPERATIONS[step["op"]] for step in steps}
    operation = next(one for one in _STRONGEST if one in operations)
    keys: dict[str, None] = {}
    for step in steps:
        # `keys` are those that force a replacement, `diffs` all that differ.
        keys |= dict.fromkeys(step.get("keys") or step.get("diffs") or _detailed(step))
    lost = lost_with(_type(urn)) if operation in ("replace", "delete") else ""
    return Change(urn, operation, tuple(keys), lost)


def _detailed(step: Mapping[str, Any]) -> list[str]:
    """Paths of what differs, which providers may say instead; where some force a replacement, these."""
    paths: Mapping[str, Mapping[str, Any]] = step.get("detailedDiff") or {}
    forcing = [path for path, how in paths.items() if str(how.get("diffKind", "")).endswith("-replace")]
    return forcing or list(paths)


def _type(urn: str) -> str:
    return urn.split("::")[2].rpartition("$")[2]


def lost_with(type_: str) -> str:
    """What goes with a resource of a type when it is replaced or deleted; empty where that is nothing but itself."""
    return next((lost for pattern, lost in _losses() if fnmatchcase(type_, pattern)), "")


@functools.cache
def _losses() -> list[tuple[str, str]]:
    rows = YAML(typ="safe", pure=True).load(files("gpuyard.review").joinpath("losses.yaml").read_text())
    return [(pattern, row["lost"]) for row in rows for pattern in row["types"]]
