"""Thresholds of rules: what a rule compares with, named and typed in its METADATA, set per environment by limits."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, StrictBool, StrictFloat, StrictInt, StrictStr, model_validator

Kind = Literal["integer", "number", "boolean", "text", "texts"]
Value = StrictBool | StrictInt | StrictFloat | StrictStr | list[StrictStr]

Name = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]{0,59}$")]
RuleId = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]*/[a-z][a-z0-9_]*$")]
Given = dict[RuleId, dict[Name, Value]]
"""Values by rule and name, as limits give them."""

_KINDS = {
    "integer": "a whole number",
    "number": "a number",
    "boolean": "true or false",
    "text": "a text",
    "texts": "a list of texts",
}


class Threshold(BaseModel):
    """One value that a rule compares with."""

    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)

    type: Kind
    default: Value
    """Where the limits say nothing."""
    description: Annotated[str, Field(min_length=1)]
    """What it is, with its unit."""

    @model_validator(mode="after")
    def _default_of_the_type(self) -> Self:
        if not fits(self.default, self.type):
            raise ValueError(f"default is {self.default!r}, and the type says {_KINDS[self.type]}")
        return self


def fits(value: Any, kind: Kind) -> bool:
    """Whether a value has the type of a threshold."""
    match kind:
        case "boolean":
            return isinstance(value, bool)
        case "integer":
            return isinstance(value, int) and not isinstance(value, bool)
        case "number":
            return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
        case "text":
            return isinstance(value, str)
        case "texts":
            return isinstance(value, list) and all(isinstance(text, str) for text in value)


def shown(value: Any) -> str:
    """A value, for people."""
    return f"[{', '.join(value)}]" if isinstance(value, list) else json.dumps(value)


def filled(known: Mapping[str, Mapping[str, Threshold]], *given: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """Every threshold of every rule that has one: by rule and name, the last value given, or the default."""
    found = {rule: {name: one.default for name, one in of.items()} for rule, of in known.items() if of}
    for values in given:
        for rule, own in values.items():
            found.setdefault(rule, {}).update(own)
    return found


def wrong(known: Mapping[str, Mapping[str, Threshold]], given: Mapping[str, Mapping[str, Any]]) -> Iterator[str]:
    """What is wrong with values that limits give, a sentence each: a typing error must not leave a rule as it was."""
    for rule, values in given.items():
        if rule not in known:
            yield f"thresholds/{rule}: there is no such rule: `gpuyard explain` lists them"
            continue
        for name, value in values.items():
            threshold = known[rule].get(name)
            if threshold is None:
                names = ", ".join(known[rule]) or "none"
                yield f"thresholds/{rule}/{name}: the rule has no such threshold: it has {names}"
            elif not fits(value, threshold.type):
                yield f"thresholds/{rule}/{name}: {value!r} is given: give {_KINDS[threshold.type]}"
