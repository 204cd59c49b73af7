"""On which line of a stack file each part of a platform is said."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import yaml  # type: ignore[import-untyped]

from gpuyard.review.program.stackfile import PLATFORM

_LOADER: Any = getattr(yaml, "CBaseLoader", yaml.BaseLoader)
_PARTS = 2
"""Levels below the platform: a section, and what it names."""

Keys = tuple[str, ...]


def key_lines(path: Path) -> Mapping[Keys, int]:
    """The line, counted from 1, of each key of the platform: `()` is the platform's own, `("endpoints",)` that of a
    section, and `("endpoints", "chat")` that of one endpoint. Nothing of a file that has none, or is gone."""
    try:
        root = yaml.compose(path.read_text("utf-8-sig"), Loader=_LOADER)
    except (OSError, ValueError, yaml.YAMLError):
        return {}
    found: dict[Keys, int] = {}
    for name, _, config in _members(root):
        for key, line, platform in _members(config) if name == "config" else ():
            if key == PLATFORM:
                found[()] = line
                found.update(_below(platform, ()))
    return found


def _below(node: Any, keys: Keys) -> Iterator[tuple[Keys, int]]:
    for key, line, value in _members(node):
        yield (*keys, key), line
        if len(keys) + 1 < _PARTS:
            yield from _below(value, (*keys, key))


def _members(node: Any) -> Iterator[tuple[str, int, Any]]:
    if isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            if isinstance(key, yaml.ScalarNode):
                yield key.value, key.start_mark.line + 1, value
