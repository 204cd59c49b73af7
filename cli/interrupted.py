"""What a run that was cut off was making: whether it exists is not in the state, and nobody would delete it."""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

from ruamel.yaml import YAML

from gpuyard.review.errors import InputError

PROVIDER = "pulumi:providers:"
"""Providers exist in the state alone; they are made again without harm, and so are components, which have no id."""

OBJECT = "kubernetes:"

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Creation:
    """A resource whose creation was begun, and of whose end the state does not know."""

    urn: str
    type: str
    inputs: Mapping[str, Any]

    @property
    def known_id(self) -> str | None:
        """The id that it has if it exists; None where the inputs do not tell."""
        if self.type.startswith(OBJECT) and self.type not in _ids():
            metadata = self.inputs.get("metadata", {})
            return "/".join(filter(None, (metadata.get("namespace"), metadata.get("name")))) or None
        wanted = re.findall(r"\{(\w+)\}", _ids().get(self.type, ""))
        given = {key: self.inputs.get(key) for key in wanted}
        whole = wanted and all(isinstance(value, str) for value in given.values())
        return _ids()[self.type].format_map(given) if whole else None

    @property
    def tags(self) -> Mapping[str, str]:
        """Tags by which a cloud finds it."""
        tags = self.inputs.get("tags") or {}
        return {key: value for key, value in tags.items() if isinstance(value, str)}


def creations(state: Json) -> list[Creation]:
    """What was being made, in the order in which it began. `state` is what `pulumi stack export` writes.

    Raises InputError for anything else.
    """
    found = [operation for operation in _operations(state) if operation["type"] == "creating"]
    return [
        Creation(one["resource"]["urn"], one["resource"]["type"], one["resource"].get("inputs") or {})
        for one in found
        if one["resource"].get("custom") and not one["resource"]["type"].startswith(PROVIDER)
    ]


def adopted(state: Json, ids: Mapping[str, str]) -> Json:
    """The state in which these creations, by URN, are resources with these ids. A refresh reads the rest of them, and
    drops one that does not exist after all.

    Raises InputError for a URN that was not being made, or that is a resource already.
    """
    deployment = state["deployment"]
    waiting = {one.urn: one for one in creations(state)}
    there = {resource["urn"] for resource in deployment.get("resources") or []}
    for urn in ids:
        if urn not in waiting:
            raise InputError(f"{urn}: is not being made in this state: give one of {', '.join(waiting) or 'none'}")
        if urn in there:
            raise InputError(
                f"{urn}: exists and was being replaced: delete the new one in its cloud by hand, then "
                "`pulumi refresh --clear-pending-creates`"
            )
    made = [
        {**operation["resource"], "id": ids[operation["resource"]["urn"]]}
        for operation in _operations(state)
        if operation["resource"]["urn"] in ids
    ]
    kept = [operation for operation in _operations(state) if operation["resource"]["urn"] not in ids]
    resources = [*(deployment.get("resources") or []), *made]
    return {**state, "deployment": {**deployment, "resources": resources, "pending_operations": kept}}


def _operations(state: Json) -> list[Json]:
    try:
        operations = state["deployment"].get("pending_operations") or []
        return [operation for operation in operations if operation["type"] and operation["resource"]["urn"]]
    except (TypeError, KeyError, AttributeError):
        raise InputError("this is no state of a stack: give what `pulumi stack export` writes") from None


@functools.cache
def _ids() -> Mapping[str, str]:
    found: Mapping[str, str] = YAML(typ="safe", pure=True).load(files("gpuyard.cli").joinpath("ids.yaml").read_text())
    return found
