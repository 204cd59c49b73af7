"""Pulumi's wire values as Python values and back: unknown parts and secrets keep what they are."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from google.protobuf import struct_pb2

UNKNOWN_TEXT = "04da6b54-80e4-46f7-96ec-b56ff0331ba9"
"""What the engine sends for a value that is not known yet, whatever its type."""

SIGNATURE, SECRET = "4dabf18193072939515e22adb298388d", "1b47061264138c4ac30d75fd1eb44270"
"""Key and value that make a structure the envelope of a secret. Source: pulumi, sdk/go/common/resource/sig."""

DEFAULTS = "__defaults"
"""Beside the inputs of a block: the names of those that the provider added. Source: pulumi-terraform-bridge."""


class _Unknown:
    def __repr__(self) -> str:
        return "UNKNOWN"


UNKNOWN: Final = _Unknown()


@dataclass(frozen=True)
class Secret:
    """A value that must not be shown."""

    value: Any


def decode(struct: struct_pb2.Struct) -> dict[str, Any]:
    """The members of a message; nulls are left out."""
    members = {key: _decode(value) for key, value in struct.fields.items()}
    return {key: value for key, value in members.items() if value is not None}


def _decode(value: struct_pb2.Value) -> Any:
    match value.WhichOneof("kind"):
        case "struct_value":
            members = value.struct_value.fields
            if SIGNATURE in members and members[SIGNATURE].string_value == SECRET:
                return Secret(_decode(members["value"]))
            return decode(value.struct_value)
        case "list_value":
            return [_decode(item) for item in value.list_value.values]
        case "string_value":
            return UNKNOWN if value.string_value == UNKNOWN_TEXT else value.string_value
        case "number_value":
            number = value.number_value
            return int(number) if number.is_integer() else number
        case "bool_value":
            return value.bool_value
    return None


def encode(members: Mapping[str, Any]) -> struct_pb2.Struct:
    """A message of these members."""
    struct = struct_pb2.Struct()
    struct.update({key: _encode(value) for key, value in members.items()})
    return struct


def _encode(value: Any) -> Any:
    if value is UNKNOWN:
        return UNKNOWN_TEXT
    if isinstance(value, Secret):
        return {SIGNATURE: SECRET, "value": _encode(value.value)}
    if isinstance(value, Mapping):
        return {key: _encode(item) for key, item in value.items()}
    return [_encode(item) for item in value] if isinstance(value, list) else value


def plain(value: Any) -> Any:
    """The value as a cloud stores it: no envelopes, no marks of defaults; what is unknown is None."""
    return mapped(value, lambda leaf: None if leaf is UNKNOWN else leaf)


def mapped(value: Any, leaf: Callable[[Any], Any]) -> Any:
    """The value with each leaf replaced, without envelopes and marks of defaults."""
    if isinstance(value, Secret):
        return mapped(value.value, leaf)
    if isinstance(value, Mapping):
        return {key: mapped(item, leaf) for key, item in value.items() if key != DEFAULTS}
    return [mapped(item, leaf) for item in value] if isinstance(value, list) else leaf(value)


def is_unknown(value: Any) -> bool:
    """Whether the value, or a part of it, is not known yet."""
    if isinstance(value, Secret):
        return is_unknown(value.value)
    if isinstance(value, Mapping):
        return any(is_unknown(item) for item in value.values())
    return any(is_unknown(item) for item in value) if isinstance(value, list) else value is UNKNOWN
