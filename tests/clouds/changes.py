"""What a change of inputs means: which parts are updated, and which only a new resource can have."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from clouds.kind import Kind
from clouds.paths import bare, covers
from clouds.wire import DEFAULTS, is_unknown, plain


@dataclass(frozen=True)
class Change:
    """One changed part."""

    path: str
    """Where, with the positions in lists, as the engine writes it: taints[0].key."""
    route: str
    """The same without positions: taints.key."""
    what: str
    """ADD, DELETE or UPDATE."""
    replaces: bool

    @property
    def top(self) -> str:
        """The input that it is in."""
        return self.route.partition(".")[0]


def changes(kind: Kind, old: Mapping[str, Any], new: Mapping[str, Any]) -> list[Change]:
    """How the new inputs of a resource differ from the old ones."""
    found = _members(kind, old, new, "", "")
    return [Change(path, route, what, kind.must_replace(route, old, new)) for path, route, what in found]


def _members(
    kind: Kind, old: Mapping[str, Any], new: Mapping[str, Any], path: str, route: str
) -> Iterator[tuple[str, str, str]]:
    for key in dict.fromkeys([*old, *new]):
        if key == DEFAULTS:
            continue
        inner = f"{route}.{key}" if route else key
        shown = f"{path}.{key}" if path else key
        if key not in new and covers(kind.kept, inner):
            continue  # what the cloud chose when it was not said stays chosen
        yield from _values(kind, bare(old.get(key)), bare(new.get(key)), shown, inner)


def _values(kind: Kind, old: Any, new: Any, path: str, route: str) -> Iterator[tuple[str, str, str]]:
    if isinstance(old, Mapping) and isinstance(new, Mapping):
        yield from _members(kind, old, new, path, route)
    elif isinstance(old, list) and isinstance(new, list):
        yield from _items(kind, old, new, path, route)
    elif isinstance(old, Mapping | None) and isinstance(new, Mapping | None):
        yield from _members(kind, old or {}, new or {}, path, route)
    elif is_unknown(new) or plain(old) != plain(new):
        yield path, route, "ADD" if old is None else "DELETE" if new is None else "UPDATE"


def _items(kind: Kind, old: list[Any], new: list[Any], path: str, route: str) -> Iterator[tuple[str, str, str]]:
    if route in kind.sets and not is_unknown(new):
        if sorted(map(_text, old)) == sorted(map(_text, new)):
            return
        shared = {_text(item) for item in old} & {_text(item) for item in new}
        old = [item for item in old if _text(item) not in shared]
        new = [item for item in new if _text(item) not in shared]
    for position in range(max(len(old), len(new))):
        yield from _values(
            kind,
            bare(old[position]) if position < len(old) else None,
            bare(new[position]) if position < len(new) else None,
            f"{path}[{position}]",
            route,
        )


def _text(item: Any) -> str:
    return json.dumps(plain(item), sort_keys=True)
