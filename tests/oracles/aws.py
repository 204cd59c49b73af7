"""Checks recorded AWS resources (Pulumi's camelCase inputs) against botocore's own models of the services.

Names, types, enums, required members, ranges and patterns are botocore's; only the walk over a shape, and what Pulumi
calls by another name, are ours. What the models leave open is in `aws_rules`.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator, Mapping
from typing import Any

import botocore.session
from oracles.aws_calls import CALLS, UNMODELLED, Call
from oracles.aws_rules import rule_problems

__all__ = ["CALLS", "UNMODELLED", "problems"]

Resource = Mapping[str, Any]


def problems(resource: Resource) -> list[str]:
    """What AWS would refuse in one recorded resource; nothing for resources that are not AWS's.

    A null is a value that is not known yet: it counts as given, and is checked no further.
    """
    kind = resource["type"]
    if not kind.startswith("aws:") or kind in UNMODELLED:
        return []
    if kind not in CALLS:
        return [f"{kind} is neither checked nor said to be outside the models"]
    inputs = {key: value for key, value in resource["inputs"].items() if key != "region" and not key.startswith("__")}
    # The rules read what the models have found well-formed.
    return [*_model_problems(CALLS[kind], inputs)] or [*rule_problems(kind, inputs)]


def _model_problems(call: Call, inputs: dict[str, Any]) -> Iterator[str]:
    sent = {key: value for key, value in inputs.items() if key not in (*call.elsewhere, *call.attributes)}
    if call.attributes:
        given = {key: inputs[name] for name, key in call.attributes.items() if name in inputs}
        sent["attributes"] = {key: None if value is None else str(value) for key, value in given.items()}
    if call.named:
        sent.setdefault(call.named, "name")
    if call.tags and "tags" in sent:
        key_name, value_name = ("TagKey", "TagValue") if call.service == "kms" else ("Key", "Value")
        tags = [{key_name: key, value_name: value} for key, value in (sent.pop("tags") or {}).items()]
        sent[call.tags] = [{"Tags": tags}] if call.tags == "TagSpecifications" else tags
    shape = _service(call.service).operation_model(call.operation).input_shape
    if call.member:
        shape = shape.members[call.member]
    yield from _check(shape.member if shape.type_name == "list" else shape, sent, "", call.renames)


@functools.cache
def _service(name: str) -> Any:
    return botocore.session.get_session().get_service_model(name)


def _check(shape: Any, value: Any, path: str, renames: Mapping[str, str]) -> Iterator[str]:
    if value is None:
        return
    match shape.type_name:
        case "structure":
            yield from _structure(shape, value, path, renames)
        case "list":
            if not isinstance(value, list):
                yield f"{path}: a list is expected, given {value!r}"
                return
            yield from _size(shape, len(value), path)
            for index, item in enumerate(value):
                yield from _check(shape.member, item, f"{path}/{index}", renames)
        case "map":
            if not isinstance(value, dict):
                yield f"{path}: a map is expected, given {value!r}"
                return
            yield from _size(shape, len(value), path)
            for key, item in value.items():
                yield from _check(shape.key, key, f"{path}/{key}", renames)
                yield from _check(shape.value, item, f"{path}/{key}", renames)
        case "string":
            yield from _string(shape, value, path)
        case "integer" | "long":
            yield from _number(shape, value, path)
        case "boolean":
            if str(value).lower() not in ("true", "false"):
                yield f"{path}: true or false is expected, given {value!r}"


def _structure(shape: Any, value: Any, path: str, renames: Mapping[str, str]) -> Iterator[str]:
    if not isinstance(value, dict):
        yield f"{path}: {shape.name} is a structure, given {value!r}"
        return
    members = {_squash(member): member for member in shape.members}
    given: dict[str, Any] = {}
    for key, item in value.items():
        member = next((members[name] for name in _spellings(renames.get(key, key)) if name in members), None)
        if member is None:
            yield f"{path}/{key}: {shape.name} has no such member"
            continue
        given[member] = item
        target = shape.members[member]
        if key == "tags" and target.type_name == "list" and isinstance(item, dict):
            item = [{"Key": tag, "Value": text} for tag, text in item.items()]
        if target.type_name == "list" and target.member.type_name == "structure" and isinstance(item, dict):
            item = [item]  # the provider has one block where the API has a list of one
        if target.type_name == "structure" and isinstance(item, list) and len(item) == 1:
            item = item[0]  # and the other way round
        yield from _check(target, item, f"{path}/{key}", renames)
    for member in shape.required_members:
        if member not in given:
            yield f"{path}: {shape.name} needs {member}"


def _string(shape: Any, value: Any, path: str) -> Iterator[str]:
    if not isinstance(value, str):
        yield f"{path}: a text is expected, given {value!r}"
        return
    if shape.enum and value not in shape.enum:
        yield f"{path}: {value!r} is not one of {', '.join(shape.enum)}"
    pattern = shape.metadata.get("pattern")
    if pattern and not re.fullmatch(_python(pattern), value):
        yield f"{path}: {value!r} does not match {pattern}"
    yield from _size(shape, len(value), path)


def _number(shape: Any, value: Any, path: str) -> Iterator[str]:
    # Pulumi's wire has floats only, and the provider takes some numbers as texts.
    text = str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)
    if not re.fullmatch(r"-?[0-9]+", text):
        yield f"{path}: a whole number is expected, given {value!r}"
        return
    yield from _size(shape, int(text), path)


def _size(shape: Any, size: int, path: str) -> Iterator[str]:
    low, high = shape.metadata.get("min"), shape.metadata.get("max")
    if low is not None and size < low:
        yield f"{path}: {size} is under {low}"
    if high is not None and size > high:
        yield f"{path}: {size} is over {high}"


def _python(pattern: str) -> str:
    """A pattern of the models in Python's dialect, which has no classes of Unicode."""
    return pattern.replace(r"\p{L}", r"\w").replace(r"\p{Z}", r"\s").replace(r"\p{N}", r"\d")


def _spellings(key: str) -> Iterator[str]:
    """A name as the API may write it: the provider makes plurals of lists and singulars of blocks."""
    yield _squash(key)
    for suffix in ("s", "es"):
        yield _squash(key) + suffix
        if key.endswith(suffix):
            yield _squash(key[: -len(suffix)])
    if key.endswith("ies"):
        yield _squash(key[:-3] + "y")


def _squash(name: str) -> str:
    return re.sub(r"[^a-z0-9]", "", name.lower())
