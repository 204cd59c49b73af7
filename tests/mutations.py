"""Programs of which any part is missing, or of another type."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any

from raw_programs import PROGRAMS
from refused_programs import BROKEN

from gpuyard.review.evaluation.objects import pointer

Json = dict[str, Any]
Way = tuple[str | int, ...]
Mutation = tuple[str, int, Way, Any]
"""Program, number of the resource (-1 for what a document says beside them), the way to a place, and what is put there."""

ALL = PROGRAMS | BROKEN
REMOVED = object()
PUT_THERE: list[Any] = [REMOVED, None, "x", 7, -0.5, True, [], {}, [None], {"a": None}]


def places(value: Any, path: Way = ()) -> Iterator[Way]:
    if isinstance(value, dict):
        for key, member in value.items():
            yield from places(member, (*path, key))
    elif isinstance(value, list):
        for i, member in enumerate(value):
            yield from places(member, (*path, i))
    if path:
        yield path


def mutations() -> list[Mutation]:
    """Every place in the inputs of every resource, and in cost and capacity, with everything that is put there."""
    found = []
    for name, make in ALL.items():
        document = make()
        for i, resource in enumerate(document["resources"]):
            found += [(name, i, path, new) for path in places(resource["inputs"]) for new in PUT_THERE]
        parts = {key: document[key] for key in ("cost", "capacity", "compatibility") if key in document}
        found += [(name, -1, path, new) for path in places(parts) for new in PUT_THERE]
    return found


def mutated(name: str, index: int, path: Way, new: Any) -> Json:
    document = copy.deepcopy(ALL[name]())
    resource = document["resources"][index] if index >= 0 else {"unknown": []}
    at: Any = document if index < 0 else resource["inputs"]
    for step in path[:-1]:
        at = at[step]
    if new is REMOVED:
        del at[path[-1]]
    else:
        at[path[-1]] = copy.deepcopy(new)
    if new is None:
        resource["unknown"].append(pointer(path))
    return document
