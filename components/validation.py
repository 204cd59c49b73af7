"""Turns what pydantic finds wrong with a stack into sentences: where, what was given, why it fails, what to give."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator
from typing import Any, Literal, TypeVar, get_args, get_origin

import pulumi
from pydantic import ValidationError
from pydantic.fields import FieldInfo
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

BOUNDS = {
    "greater_than_equal": "give {ge:g} or more",
    "greater_than": "give more than {gt:g}",
    "less_than_equal": "give {le:g} or less",
    "less_than": "give less than {lt:g}",
    "too_short": "give {min_length} or more",
    "too_long": "give {max_length} at the most",
    "finite_number": "give a finite number",
}
"""The same, of a value that is out of range."""

NAMED = 8
"""Keys that a message lists at the most; of more, the reader looks them up."""


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
            line for problem in error.errors(include_url=False) for line in _lines(problem, value, root, spec)
        )
        raise InvalidStack("\n".join(lines)) from None


def _lines(problem: ErrorDetails, value: Any, root: str, spec: type[Spec]) -> list[str]:
    if problem["type"] == "value_error" and not problem["loc"]:
        # The root's own rules are about several parts: each line starts with the path of one.
        return [f"{root}.{line}" for line in str(problem["ctx"]["error"]).splitlines()]
    return [_sentence(problem, value, root, spec)]


def _sentence(problem: ErrorDetails, value: Any, root: str, spec: type[Spec]) -> str:
    kind = problem["type"]
    path = _path(problem["loc"], value, missing=kind == "missing")
    where = ".".join([root, *path])
    if kind == "extra_forbidden":
        return f"{where}: this key is not known{_did_you_mean(path[-1], fields_at(spec, problem['loc']))}"
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
    if kind == "greater_than" and isinstance(problem["input"], int):
        return f"{given}: give {int(problem['ctx']['gt']) + 1} or more"
    if kind in BOUNDS:
        return f"{given}: {BOUNDS[kind].format(**problem.get('ctx', {}))}"
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


def _did_you_mean(key: str, known: list[str]) -> str:
    if near := difflib.get_close_matches(key, known, n=1):
        return f": did you mean {near[0]}?"
    if known and len(known) <= NAMED:
        return f": take it out; known here are {', '.join(known)}"
    return ": take it out, or look it up in stacks/schema.json"


def fields_at(spec: type[Spec], location: tuple[int | str, ...]) -> list[str]:
    """The keys that a spec knows beside the last one of a location, which is as pydantic gives it."""
    here = [spec]
    for step in location[:-1]:
        if below := [child for one in here if step in one.model_fields for child in _specs(one.model_fields[step])]:
            here = list(dict.fromkeys(below))
        else:
            # A key of a mapping, a place in a list, or what tells the members of a union apart.
            here = [one for one in here if step in _tags(one)] or here
    return sorted({name for one in here for name in one.model_fields})


def _specs(annotation: Any) -> Iterator[type[Spec]]:
    """Every spec that a field may hold, however deep."""
    annotation = annotation.annotation if isinstance(annotation, FieldInfo) else annotation
    if isinstance(annotation, type) and issubclass(annotation, Spec):
        yield annotation
    for part in get_args(annotation):
        yield from _specs(part)


def _tags(spec: type[Spec]) -> set[Any]:
    """The words by which a spec is told from others of a union."""
    kinds = (field.annotation for field in spec.model_fields.values() if get_origin(field.annotation) is Literal)
    return {word for kind in kinds for word in get_args(kind)}


def _lower(message: str) -> str:
    return message[0].lower() + message[1:]


def problem(path: str, check: Any, *arguments: Any) -> Iterator[str]:
    """What a check raises as ValueError, with the path of what it checked."""
    try:
        check(*arguments)
    except ValueError as error:
        yield f"{path}: {error}"
