"""Keeps secrets out of whatever is printed or written."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from gpuyard.review.evaluation.objects import member, steps
from gpuyard.review.evaluation.plain_secrets import tokens
from gpuyard.review.evaluation.pods import CONTAINERS

HIDDEN = "(secret)"
LONG = 4
"""A secret shorter than this is masked only where it stands as a word: `1` is part of too many numbers."""


IN_PATHS = 16
"""A path is made of names, and a secret that is as short as a name may be one: `0`, `value`, `production`."""

_NEVER = r"(?!)"


class Mask:
    """Masks the values that a document marks secret, `more` such values, and every text that looks like a token."""

    def __init__(self, resources: Iterable[Mapping[str, Any]], more: Iterable[str] = ()) -> None:
        values = {text for resource in resources for text in _secrets(resource)}
        values |= {text for text in more if text.strip()}
        # A message may quote a value as JSON does. The longest first: one secret may be a part of another.
        written = values | {json.dumps(value)[1:-1] for value in values}
        ordered = sorted(written, key=lambda value: (-len(value), value))
        self._values = _any(ordered)
        self._long = _any([value for value in ordered if len(value) >= IN_PATHS])

    def __call__(self, text: str) -> str:
        """A message without any secret."""
        return tokens().any_format.sub(HIDDEN, self._values.sub(HIDDEN, text))

    def path(self, text: str) -> str:
        """A path without any secret; a short one that reads like a step of the path is none."""
        return tokens().any_format.sub(HIDDEN, self._long.sub(HIDDEN, text))


def _any(values: list[str]) -> re.Pattern[str]:
    return re.compile("|".join(_pattern(value) for value in values) or _NEVER)


def _pattern(value: str) -> str:
    return re.escape(value) if len(value) >= LONG else rf"(?<!\w){re.escape(value)}(?!\w)"


def _secrets(resource: Mapping[str, Any]) -> Iterator[str]:
    for pointer in resource["secret"]:
        value: Any = resource["inputs"]
        way = steps(pointer)
        for step in way:
            value = member(value, step)
        if isinstance(value, list) and way and way[-1] in CONTAINERS:
            # Marked as a whole for one text in it: masked names and numbers would only make messages unreadable.
            yield from (text for text in scalars(value, names=False) if isinstance(text, str))
        else:
            yield from map(str, scalars(value))


def scalars(value: Any, *, names: bool = True) -> Iterator[str | int | float]:
    """Texts and numbers anywhere in a value; without those that are only the name of something, unless `names`."""
    if isinstance(value, str):
        if value.strip():
            yield value
    elif isinstance(value, int | float) and not isinstance(value, bool):
        yield value
    elif isinstance(value, dict):
        for key, inner in value.items():
            if names or key != "name":
                yield from scalars(inner, names=names)
    elif isinstance(value, list):
        for inner in value:
            yield from scalars(inner, names=names)
