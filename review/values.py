"""Values of inputs, which may be of any type: what is of another type than is expected counts as not known."""

from __future__ import annotations

from typing import Any

MOST = 2**53
"""Above it floating point does not tell two numbers apart, and no cloud has as many of anything."""


def mapping(value: Any) -> dict[str, Any]:
    """An object; empty for what is none."""
    return value if isinstance(value, dict) else {}


def sequence(value: Any) -> list[Any]:
    """A list; empty for what is none."""
    return value if isinstance(value, list) else []


def text(value: Any) -> str | None:
    """A text; None for what is none."""
    return value if isinstance(value, str) else None


def number(value: Any) -> int | None:
    """How many, rounded down; None for what is no count, such as a negative number."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= MOST:
        return None
    return int(value)


def at(value: Any, *path: str | int) -> Any:
    """What is in objects within objects; None where the way ends before."""
    for key in path:
        value = value.get(key) if isinstance(value, dict) else None
    return value
