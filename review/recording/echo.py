"""What the recorder answers: the outputs that a preview knows, and results of functions."""

from __future__ import annotations

from typing import Any

from google.protobuf import struct_pb2
from pulumi.runtime.proto import provider_pb2, resource_pb2

from .values import SECRET, SIGNATURE

_ANSWER: Any = getattr(resource_pb2, "ResourceInvokeResponse", None) or provider_pb2.InvokeResponse
"""Older SDKs answer programs as they answer providers."""

_TAGS = frozenset({"tags", "labels", "tagsAll", "annotations"})


def known_outputs(request: Any) -> Any:
    """The outputs that a preview knows.

    Kubernetes returns what it was given. The clouds fill nested blocks with values of their own, so a block is not
    known as a whole: a scalar, a list of scalars and tags come back as they are.
    """
    if request.type.startswith("kubernetes:"):
        return request.object
    known = struct_pb2.Struct()
    for name, value in request.object.fields.items():
        if _flat(value, name in _TAGS):
            known.fields[name].CopyFrom(value)
    return known


def struct(value: dict[str, Any]) -> Any:
    """Plain values as the protocol carries them."""
    made = struct_pb2.Struct()
    made.update(value)
    return made


def result(value: dict[str, Any]) -> Any:
    """The answer to a function call."""
    return _ANSWER(**{"return": struct(value)})


def unknown_result() -> Any:
    """The answer to a call in output form that is not known, or None where the SDK has no form for that."""
    return _ANSWER(unknown=True) if "unknown" in _ANSWER.DESCRIPTOR.fields_by_name else None


def _flat(value: Any, tags: bool) -> bool:
    kind = value.WhichOneof("kind")
    if kind == "struct_value":
        fields = value.struct_value.fields
        if SIGNATURE in fields:
            return bool(fields[SIGNATURE].string_value == SECRET and _flat(fields["value"], tags))
        return tags and all(_scalar(field) for field in fields.values())
    return kind != "list_value" or all(_scalar(item) for item in value.list_value.values)


def _scalar(value: Any) -> bool:
    return value.WhichOneof("kind") not in ("struct_value", "list_value")
