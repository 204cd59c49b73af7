"""What a run that was cut off was making: whether it exists is not in the state, and nobody would delete it."""

from __future__ import annotations

import functools
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

from ruamel.yaml import YAML

from gpuyard.review.errors import InputError

PROVIDER = "pulumi:providers:"
"""Providers exist in the state alone; they are made again without harm, and so are components, which have no id."""

OBJECT = "kubernetes:"

CREATING = "creating"
"""The kind of operation whose end is told by no resource of the state; a refresh settles all others."""

SIGNATURE = "4dabf18193072939515e22adb298388d"
"""The key of a mapping that stands for a value: mostly a secret, whose plain text may lie beside it."""

TAGS = ("tags", "labels", "resourceLabels")

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Creation:
    """A resource whose creation was begun, and of whose end the state does not know."""

    tries: tuple[Json, ...]
    """What the state says of it, for each run that was cut off while it made it: the newest first."""
    there: str | None
    """The id of the one that the state has nevertheless, made by a later run or being replaced."""

    @property
    def urn(self) -> str:
        """Its name in the state."""
        return str(self.tries[0]["urn"])

    @property
    def ids(self) -> tuple[str, ...]:
        """Each id that the inputs tell, but for that of the one that the state has."""
        found = dict.fromkeys(_id(one) for one in self.tries)
        return tuple(one for one in found if one and one != self.there)

    @property
    def known_id(self) -> str | None:
        """The id under which it can be taken over if it exists; None where the inputs do not tell, or tell several,
        or where the state has one already."""
        return self.ids[0] if self.there is None and {_id(one) for one in self.tries} == {*self.ids[:1]} else None

    @property
    def tags(self) -> Mapping[str, str]:
        """Tags or labels by which a cloud finds it; none that is a secret."""
        inputs = _inputs(self.tries[0])
        found = [inputs[key] for key in TAGS if isinstance(inputs.get(key), dict) and SIGNATURE not in inputs[key]]
        return {key: value for tags in found for key, value in tags.items() if isinstance(value, str)}


def creations(state: Json) -> list[Creation]:
    """What was being made and may exist without being in the state, each once. `state` is what `pulumi stack export`
    writes.

    Raises InputError for anything else.
    """
    there = {
        resource["urn"]: str(resource.get("id") or "no id")
        for resource in _resources(state)
        # The one is about to be deleted, the other is deleted: either way its successor is what was being made.
        if not resource.get("delete") and not resource.get("pendingReplacement")
    }
    # The engine writes what the latest run left before what it kept from earlier ones.
    tries: dict[str, list[Json]] = {}
    for operation in _operations(state):
        resource = operation["resource"]
        if operation["type"] == CREATING and resource.get("custom") and not resource["type"].startswith(PROVIDER):
            tries.setdefault(resource["urn"], []).append(resource)
    return [
        Creation(tuple(found), there.get(urn))
        for urn, found in tries.items()
        if urn not in there or {_id(one) for one in found} != {there[urn]}
    ]


def chosen(making: Collection[Creation], ids: Mapping[str, str], absent: Collection[str]) -> dict[str, str]:
    """The ids, by URN, of what can be taken over: those given, and those known of what is not given as absent.

    Raises InputError for a URN that was not being made, that is given as both, or that the state has already.
    """
    waiting = {one.urn: one for one in making}
    for urn in (*ids, *absent):
        if urn not in waiting:
            raise InputError(f"{urn}: is not being made in this state: give one of {', '.join(waiting) or 'none'}")
        if urn in ids and urn in absent:
            raise InputError(f"{urn}: given with --id and with --absent: give one of them")
    for urn, id_ in ids.items():
        if not id_:
            raise InputError(f"--id {urn}: the id is empty: give the one that its cloud tells")
        if (there := waiting[urn].there) is not None:
            raise InputError(
                f"--id {urn} {id_}: the state has it already, as {there}: delete the other one in its cloud, "
                "and give --absent instead"
            )
    known = {one.urn: one.known_id for one in making if one.known_id and one.urn not in absent}
    return known | dict(ids)


def adopted(state: Json, ids: Mapping[str, str], absent: Collection[str] = ()) -> Json:
    """The state in which these creations, by URN, are resources with these ids, and which no longer knows of those that
    are absent. A refresh reads the rest of the former, and drops one that does not exist after all.

    Raises InputError for what is no state, or for a creation that is neither: `pulumi stack import` would forget it.
    """
    making = {one.urn: one for one in creations(state)}
    left = [urn for urn in making if urn not in ids and urn not in absent]
    if left:
        raise InputError(f"neither taken over nor absent: {', '.join(left)}")
    made = {urn: {**_try(making[urn], id_), "id": id_} for urn, id_ in ids.items()}
    resources = [
        # It is deleted, and what depends on it stands behind it: its successor takes its place.
        made.pop(one["urn"]) if one.get("pendingReplacement") and one["urn"] in made else one
        for one in _resources(state)
    ]
    kept = [one for one in _operations(state) if one["type"] != CREATING or one["resource"]["urn"] not in making]
    mended = {"resources": [*resources, *made.values()], "pending_operations": kept}
    return {**state, "deployment": {**state["deployment"], **mended}}


def _try(one: Creation, id_: str) -> Json:
    return next((found for found in one.tries if _id(found) == id_), one.tries[0])


def _id(resource: Json) -> str | None:
    """The id that it has if it exists; None where the inputs do not tell."""
    type_, inputs = resource["type"], _inputs(resource)
    if type_.startswith(OBJECT) and type_ not in _ids():
        metadata = inputs.get("metadata")
        metadata = metadata if isinstance(metadata, dict) else {}
        namespace, name = metadata.get("namespace") or "", metadata.get("name")
        told = isinstance(namespace, str) and isinstance(name, str) and name
        return "/".join(filter(None, (namespace, name))) if told else None
    wanted = re.findall(r"\{(\w+)\}", _ids().get(type_, ""))
    given = {key: inputs.get(key) for key in wanted}
    whole = wanted and all(isinstance(value, str) and value for value in given.values())
    return _ids()[type_].format_map(given) if whole else None


def _inputs(resource: Json) -> Json:
    found: Json = resource.get("inputs") or {}
    return found


def _resources(state: Json) -> list[Json]:
    found = _list(state, "resources")
    return [_resource(one, f"deployment.resources[{index}]") for index, one in enumerate(found)]


def _operations(state: Json) -> list[Json]:
    found = _list(state, "pending_operations")
    for index, one in enumerate(found):
        place = f"deployment.pending_operations[{index}]"
        if not isinstance(one, dict) or not isinstance(one.get("type"), str):
            raise InputError(f"{place}: has no type: give what `pulumi stack export` writes")
        _resource(one.get("resource"), f"{place}.resource")
    return found


def _list(state: Json, key: str) -> list[Any]:
    deployment = state.get("deployment")
    if not isinstance(deployment, dict):
        raise InputError("this is no state of a stack: give what `pulumi stack export` writes")
    found = deployment.get(key)
    if found is None:
        return []
    if not isinstance(found, list):
        raise InputError(f"deployment.{key}: is no list: give what `pulumi stack export` writes")
    return found


def _resource(given: Any, place: str) -> Json:
    if not isinstance(given, dict):
        raise InputError(f"{place}: is no resource: give what `pulumi stack export` writes")
    for key in ("urn", "type"):
        if not isinstance(given.get(key), str) or not given[key]:
            raise InputError(f"{place}.{key}: is missing or no text: give what `pulumi stack export` writes")
    if not isinstance(given.get("inputs"), dict | None):
        raise InputError(f"{place}.inputs: is no mapping: give what `pulumi stack export` writes")
    return given


@functools.cache
def _ids() -> Mapping[str, str]:
    found: Mapping[str, str] = YAML(typ="safe", pure=True).load(files("gpuyard.cli").joinpath("ids.yaml").read_text())
    return found
