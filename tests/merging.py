"""Stacks that are told something more, as a snippet of a page tells it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def merged(value: Mapping[str, Any], change: Mapping[str, Any]) -> dict[str, Any]:
    """A part of a stack with other values; null takes a key out."""
    new = {key: part for key, part in value.items() if change.get(key, part) is not None}
    for key, part in change.items():
        if part is not None:
            new[key] = merged(value[key], part) if isinstance(part, dict) and key in value else part
    return new
