"""Members of nested values by dotted paths, such as vpcConfig.subnetIds. A path names every item of a list alike."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from clouds.wire import Secret


def bare(value: Any) -> Any:
    """The value without the envelope that makes it a secret."""
    return value.value if isinstance(value, Secret) else value


def at(value: Any, path: str) -> Any:
    """The member at a path; None where there is none."""
    for step in path.split("."):
        value = bare(value)
        value = value.get(step) if isinstance(value, Mapping) else None
    return bare(value)


def every(value: Any, path: str) -> Iterator[Any]:
    """Each value at a path: the items, where a step or the end is a list."""
    step, _, rest = path.partition(".")
    value = bare(value)
    found = bare(value.get(step)) if isinstance(value, Mapping) else None
    for item in found if isinstance(found, list) else [found]:
        if item is None:
            continue
        if rest:
            yield from every(item, rest)
        else:
            yield bare(item)


def put(value: dict[str, Any], path: str, member: Any) -> None:
    """Sets the member at a path; makes the blocks on the way."""
    *blocks, last = path.split(".")
    for step in blocks:
        value[step] = value = dict(bare(value.get(step)) or {})
    value[last] = member


def merged(over: Mapping[str, Any], under: Mapping[str, Any]) -> dict[str, Any]:
    """Both, member by member; where both say something, the first does."""
    result = copy.deepcopy(dict(over))
    for key, item in under.items():
        if key not in result:
            result[key] = copy.deepcopy(item)
        elif isinstance(result[key], Mapping) and isinstance(item, Mapping):
            result[key] = merged(result[key], item)
    return result


def covers(paths: Iterable[str], path: str) -> bool:
    """Whether a path, or one that it lies in, is among the paths."""
    return any(path == one or path.startswith(f"{one}.") for one in paths)
