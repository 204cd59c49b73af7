"""Reads the values of the engine's protocol: a protobuf Struct whose parts may be unknown or secret.

Needs nothing but what it is given, so that it runs in any program's own environment.
"""

from __future__ import annotations

import functools
import json
import math
from collections.abc import Iterable
from typing import Any

UNKNOWN = "04da6b54-80e4-46f7-96ec-b56ff0331ba9"
"""Stands for a value that is not known before the update. Source: UnknownStringValue, pulumi sdk/go/common/resource."""

UNKNOWN_OTHERS = frozenset(
    {
        "1c4a061d-8072-4f0a-a4cb-0ff528b18fe7",  # a truth value
        "3eeb2bf0-c639-47a8-9e75-3b44932eb421",  # a number
        "6a19a0b0-7e62-4c92-b797-7f8e31da9cc2",  # a list
        "dd056dcd-154b-4c76-9bd3-c8f88648b5ff",  # a mapping
        "030794c1-ac77-496b-92df-f27374a8bd58",  # an asset
        "e48ece36-62e2-4504-bad9-02848725956a",  # an archive
    }
)
"""The same, where a provider knows of what kind the value will be. Source: sdk/go/common/resource/sig."""

SIGNATURE = "4dabf18193072939515e22adb298388d"
"""The key of a mapping that is more than a mapping. Source of this and the next: SigKey, same place."""

SECRET = "1b47061264138c4ac30d75fd1eb44270"  # noqa: S105  a type mark of the protocol
ASSET = "c44067f5952c0a294b673a41bacd8c17"
ARCHIVE = "0def7320c3a5731c473e5ecbe6d01bc7"
RESOURCE = "5cf8f73096256a8f31e491e813e4eb8e"
OUTPUT = "d0e6a833031e9bbcd3f4e8bde6ca49a4"

MASK = "[secret]"
"""Stands for a secret in text, as in the Pulumi CLI's own output."""

_LONG_LINE = 8
"""A shorter line of a secret is a bracket or a word that other texts have too."""

_SHORT = 64
"""Longer strings are seldom equal, so they are not looked up."""

Path = tuple[Any, ...]
"""The way to a value, innermost key first: `(key, way to its parent)`; `()` is the whole."""


def pointer(path: Path) -> str:
    """The JSON pointer (RFC 6901) of a way."""
    parts: list[str] = []
    while path:
        parts.append(str(path[0]).replace("~", "~0").replace("/", "~1"))
        path = path[1]
    return "".join("/" + part for part in reversed(parts))


class Reader:
    """Reads Structs; equal strings of all of them are kept once."""

    def __init__(self) -> None:
        self._strings: dict[str, str] = {}

    def read(self, struct: Any) -> tuple[dict[str, Any], list[str], list[str]]:
        """A Struct as JSON values, and the pointers of what is unknown in it (null there) and of what is secret.

        Raises ValueError for a number that JSON does not have.
        """
        marks: tuple[list[str], list[str]] = ([], [])
        fields = struct.fields
        inputs = {self._once(key): self._value(fields[key], (key, ()), marks) for key in sorted(fields)}
        return inputs, sorted(set(marks[0])), sorted(set(marks[1]))

    def _value(self, value: Any, path: Path, marks: tuple[list[str], list[str]]) -> Any:
        kind = value.WhichOneof("kind")
        if kind == "string_value":
            text = value.string_value
            if UNKNOWN in text or text in UNKNOWN_OTHERS:
                marks[0].append(pointer(path))
                return None
            return self._once(text) if len(text) <= _SHORT else text
        if kind == "struct_value":
            fields = value.struct_value.fields
            if SIGNATURE in fields:
                return self._special(fields, path, marks)
            return {self._once(key): self._value(fields[key], (key, path), marks) for key in sorted(fields)}
        if kind == "list_value":
            return [self._value(item, (index, path), marks) for index, item in enumerate(value.list_value.values)]
        if kind == "number_value":
            return _number(value.number_value, path)
        return value.bool_value if kind == "bool_value" else None

    def _special(self, fields: Any, path: Path, marks: tuple[list[str], list[str]]) -> Any:
        signature = fields[SIGNATURE].string_value
        unknown, secret = marks
        if signature == SECRET or (signature == OUTPUT and "secret" in fields and fields["secret"].bool_value):
            secret.append(pointer(path))
        if signature in (SECRET, OUTPUT):
            if "value" in fields:
                return self._value(fields["value"], path, marks)
            unknown.append(pointer(path))
            return None
        rest = {key: self._value(fields[key], (key, path), marks) for key in sorted(fields) if key != SIGNATURE}
        if signature == RESOURCE and rest.get("id") == "":
            unknown.append(pointer(("id", path)))
            rest["id"] = None
        if signature in (ASSET, ARCHIVE):
            return {"asset" if signature == ASSET else "archive": rest}
        return rest

    def _once(self, text: str) -> str:
        return self._strings.setdefault(text, text)


def _number(number: float, path: Path) -> int | float:
    if number.is_integer():
        return int(number)
    if not math.isfinite(number):
        raise ValueError(f"{pointer(path)} is {number}, which JSON does not have: give a finite number")
    return number


def strings(value: Any) -> list[str]:
    """Every string within a value, keys of mappings left out."""
    if isinstance(value, str):
        return [value]
    if isinstance(value, dict):
        return [text for item in value.values() for text in strings(item)]
    if isinstance(value, list):
        return [text for item in value for text in strings(item)]
    return []


def masked(text: str, secrets: Iterable[str]) -> str:
    """The text without any of the secrets, longest first, so that no part of one is left."""
    written = {form for secret in secrets for form in _forms(secret)}
    for form in sorted(written, key=len, reverse=True):
        text = text.replace(form, MASK)
    return text


@functools.cache
def _forms(secret: str) -> frozenset[str]:
    """A secret, each longer line of it (a text may indent it), and all of these as Python and JSON quote them."""
    forms = {secret, *(line.strip() for line in secret.splitlines() if len(line.strip()) >= _LONG_LINE)}
    for form in tuple(forms):
        quoted = repr(form)[1:-1].replace("\\'", "'")
        forms |= {quoted, quoted.replace("'", "\\'")}
        forms |= {json.dumps(form, ensure_ascii=plain)[1:-1] for plain in (True, False)}
    return frozenset(forms)


def at(inputs: Any, path: str) -> Any:
    """The value at a JSON pointer. Raises KeyError or IndexError where there is none."""
    for part in path.split("/")[1:]:
        key = part.replace("~1", "/").replace("~0", "~")
        inputs = inputs[int(key)] if isinstance(inputs, list) else inputs[key]
    return inputs
