"""Turns what pydantic finds wrong with a stack into sentences: where, what was given, why it fails, what to give."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator
from typing import Any, TypeVar

import pulumi
from pydantic import ValidationError
from pydantic_core import ErrorDetails

from gpuyard.components.spec import HINTS, Spec

S = TypeVar("S", bound=Spec)

TYPES = {bool: "a yes/no value", int: "a number", float: "a number", str: "a text", list: "a list", dict: "a mapping"}
HIDDEN = re.compile(r"token|secret|password|key|url", re.IGNORECASE)
LONGEST = 60
"""Characters of a given value that a message repeats."""

REMEDIES = {
    "string_type": "give a text in quotes",
    "int_type": "give a whole number, without quotes",
    "int_from_float": "give a whole number",
    "float_type": "give a number, without quotes",
    "bool_type": "give true or false, without quotes",
    "dict_type": "give a mapping of keys to values",
    "model_type": "give a mapping of keys to values",
    "model_attributes_type": "give a mapping of keys to values, such as {kind: spot}",
    "list_type": "give a list",
}


class InvalidStack(pulumi.RunError):
    """A stack file that says something impossible; the message has one line a problem."""


def validate(spec: type[S], value: Any, root: str) -> S:
    """The spec of a plain value. `root` is how its owner calls the value, such as gpuyard:platform.

    Raises InvalidStack with every problem found.
    """
    try:
        return spec.model_validate(value)
    except ValidationError as error:
        # A wrong type is reported once for each member of a union; the place and the sentence are the same.
        lines = dict.fromkeys(
            line for problem in error.errors(include_url=False) for line in _lines(problem, value, root)
        )
        raise InvalidStack("\n".join(lines)) from None


def _lines(problem: ErrorDetails, value: Any, root: str) -> list[str]:
    if problem["type"] == "value_error" and not problem["loc"]:
        # The root's own rules are about several parts: each line starts with the path of one.
        return [f"{root}.{line}" for line in str(problem["ctx"]["error"]).splitlines()]
    return [_sentence(problem, value, root)]


def _sentence(problem: ErrorDetails, value: Any, root: str) -> str:
    kind = problem["type"]
    path = _path(problem["loc"], value, missing=kind == "missing")
    where = ".".join([root, *path])
    if kind == "extra_forbidden":
        return f"{where}: this key is not known{_did_you_mean(path[-1])}"
    if kind == "missing":
        return f"{where}: is missing, and has no default: give it"
    if kind in ("value_error", "assertion_error"):
        return f"{where}: {problem['ctx']['error']!s}"
    if kind == "union_tag_invalid":
        context = problem["ctx"]
        choices, key = (context[name].replace("'", "") for name in ("expected_tags", "discriminator"))
        return f"{where}: {key} is {context['tag']!r}: give one of {choices}"
    if kind == "union_tag_not_found":
        key = problem["ctx"]["discriminator"].replace("'", "")
        return f"{where}: {key} is missing: say which kind this is"
    given = f"{where}: {_given(problem['input'], path)} given"
    if kind == "string_pattern_mismatch" and problem["ctx"]["pattern"] in HINTS:
        return f"{given}: give {HINTS[problem['ctx']['pattern']]}"
    return f"{given}: {REMEDIES[kind]}" if kind in REMEDIES else f"{given}; {_lower(problem['msg'])}"


def _path(location: tuple[int | str, ...], value: Any, *, missing: bool) -> list[str]:
    """The keys of the stack file on the way: pydantic puts the tag of a union, or [key], between them."""
    path: list[str] = []
    for position, step in enumerate(location):
        known = isinstance(value, dict) and step in value
        if known or (isinstance(step, int) and isinstance(value, list)):
            value = value[step]
            path.append(str(step))
        elif missing and position == len(location) - 1:
            path.append(str(step))
    return path


def _given(value: Any, path: list[str]) -> str:
    kind = TYPES.get(type(value), type(value).__name__)
    if isinstance(value, dict | list):
        return kind
    if value is None:
        return "nothing is"
    if path and HIDDEN.search(path[-1]):
        return kind
    text = repr(value)
    return f"{text if len(text) <= LONGEST else text[:LONGEST] + '…'} ({kind.split(' ', 1)[1]})"


def _did_you_mean(key: str) -> str:
    known = sorted({name for spec in _specs(Spec) for name in spec.model_fields} - {key})
    near = difflib.get_close_matches(key, known, n=1)
    return f": did you mean {near[0]}?" if near else ": take it out, or look it up in stacks/schema.json"


def _specs(spec: type[Spec]) -> list[type[Spec]]:
    return [spec, *(found for child in spec.__subclasses__() for found in _specs(child))]


def _lower(message: str) -> str:
    return message[0].lower() + message[1:]


def problem(path: str, check: Any, *arguments: Any) -> Iterator[str]:
    """What a check raises as ValueError, with the path of what it checked."""
    try:
        check(*arguments)
    except ValueError as error:
        yield f"{path}: {error}"
