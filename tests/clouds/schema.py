"""Checks inputs against the types that the installed SDK has for them, as the real provider's schema would."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from clouds import sdk
from clouds.wire import DEFAULTS, UNKNOWN, Secret


def misfits(token: str, inputs: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Path and reason of each input that the schema does not take."""
    yield from _block(sdk.inputs(token), inputs, "")


def _block(node: sdk.Node, value: Mapping[str, Any], path: str) -> Iterator[tuple[str, str]]:
    dot = f"{path}." if path else ""
    for name in node["required"]:
        if name not in value:
            yield f"{dot}{name}", "Missing required argument. The argument is required, but no definition was found."
    for name, item in value.items():
        if name == DEFAULTS:
            continue
        if name not in node["block"]:
            yield f"{dot}{name}", "Invalid or unknown key."
        else:
            yield from _value(node["block"][name], item, f"{dot}{name}")


def _value(node: sdk.Node, value: Any, path: str) -> Iterator[tuple[str, str]]:
    if value is UNKNOWN or value is None:
        return
    if isinstance(value, Secret):
        yield from _value(node, value.value, path)
    elif isinstance(node, str):
        if not _fits(node, value):
            yield _misfit(f"a {node}", value, path)
    elif "list" in node:
        if not isinstance(value, list):
            yield _misfit("a list", value, path)
            return
        for position, item in enumerate(value):
            yield from _value(node["list"], item, f"{path}[{position}]")
    elif not isinstance(value, Mapping):
        yield _misfit("an object", value, path)
    elif "map" in node:
        for key, item in value.items():
            yield from _value(node["map"], item, f"{path}.{key}")
    else:
        yield from _block(node, value, path)


def _fits(kind: str, value: Any) -> bool:
    match kind:
        case "boolean":
            return isinstance(value, bool) or value in ("true", "false")
        case "integer" | "number":
            return _is_number(value, whole=kind == "integer")
        case "string":
            return isinstance(value, str | int | float)  # the bridge turns numbers and truth values into texts
    return True


def _is_number(value: Any, *, whole: bool) -> bool:
    if isinstance(value, bool):
        return False
    try:
        number = float(value)
    except (TypeError, ValueError):
        return False
    return number.is_integer() or not whole


def _misfit(wanted: str, value: Any, path: str) -> tuple[str, str]:
    return path, f"Inappropriate value for attribute: {wanted} is required, given {value!r}."
