"""Reads YAML as the Pulumi CLI does, whose library is Go's yaml.v3: YAML 1.2 with a few of 1.1's numbers.

The scanner is libyaml's, of which yaml.v3 is a translation; what a plain scalar means is decided here, by the rules of
resolve.go and of the CLI's sdk/go/common/resource/config.
"""

from __future__ import annotations

import datetime
import json
import math
import re
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

import yaml  # type: ignore[import-untyped]

MAX_DEPTH = 100
MAX_NODES = 200_000
"""After aliases are expanded: a bomb is refused before it is built."""

_LOADER: Any = getattr(yaml, "CBaseLoader", yaml.BaseLoader)
_TAGS = "tag:yaml.org,2002:"
_INT = re.compile(r"[-+]?(0[xX][0-9a-fA-F]+|0[bB][01]+|0[oO][0-7]+|0[0-7]*|[1-9][0-9]*)")
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
_POINT = re.compile(r"\.[0-9]+(_[0-9]+)*([eE][-+]?[0-9]+(_[0-9]+)*)?")
_INT64, _UINT64 = 2**63, 2**64
_LONGEST_INT = 100
"""Digits of a number that is taken for one: 64 bits have 64 at most, and Python refuses to read some thousands."""
_NAMED: dict[str, Any] = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL")),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
    **dict.fromkeys((".nan", ".NaN", ".NAN"), math.nan),
    **dict.fromkeys((".inf", ".Inf", ".INF", "+.inf", "+.Inf", "+.INF"), math.inf),
    **dict.fromkeys(("-.inf", "-.Inf", "-.INF"), -math.inf),
}
_DATE = re.compile(r"(\d{4})-(\d\d?)-(\d\d?)")
_TIME = re.compile(r"(\d{4})-(\d\d?)-(\d\d?)([Tt ])(\d\d?):(\d\d?):(\d\d?)(?:[.,](\d+))?(Z|[-+]\d\d:\d\d)?")


class YamlError(ValueError):
    """The text is not the YAML that it should be; the message names the line."""


def parse(text: str) -> Any:
    """The one document of a text, as plain values: dict, list, str, int, float, bool or None.

    Raises YamlError for what yaml.v3 refuses (keys given twice, unknown anchors, bombs), and for a second document.
    """
    try:
        return _Builder(yaml.parse(text, Loader=_LOADER)).document()
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        raise YamlError(f"{f'line {mark.line + 1}: ' if mark else ''}{error.problem or error.context}") from error
    except yaml.YAMLError as error:
        raise YamlError(" ".join(str(error).split())) from error


def scalar(text: str) -> Any:
    """What a plain scalar means."""
    if text in _NAMED:
        return _NAMED[text]
    first = text[0]
    if first not in "+-.0123456789":
        return text
    date = _date(text)
    if date is not None:
        return date
    if first == "." and not _POINT.fullmatch(text):
        return text
    plain = text.replace("_", "")
    if _INT.fullmatch(plain):
        number = _int(plain)
        if -_INT64 <= number < (_INT64 if plain[0] in "+-" else _UINT64):
            return number
    if _FLOAT.fullmatch(plain) and math.isfinite(float(plain)):
        return float(plain)
    return text


def json_text(value: Any, nested: bool = True) -> str:
    """A value as the CLI hands it to a program: structures as JSON text, as Go writes that.

    Raises ValueError for a number that JSON does not have.
    """
    if isinstance(value, dict):
        return "{" + ",".join(f"{_quoted(key)}:{json_text(value[key])}" for key in sorted(value)) + "}"
    if isinstance(value, list):
        return "[" + ",".join(json_text(item) for item in value) + "]"
    if isinstance(value, str):
        return _quoted(value) if nested else value
    if isinstance(value, int) and not isinstance(value, bool):
        # Within a structure, the CLI keeps what does not fit a signed number of 64 bits as a float.
        return json_text(float(value)) if nested and not -_INT64 <= value < _INT64 else str(value)
    if isinstance(value, float):
        return _go_float(value)
    return {None: "null", True: "true", False: "false"}[value]


def _quoted(text: str) -> str:
    quoted = json.dumps(text, ensure_ascii=False)
    for character in "<>&\u2028\u2029":
        quoted = quoted.replace(character, f"\\u{ord(character):04x}")
    return quoted


def _go_float(number: float) -> str:
    if not math.isfinite(number):
        raise ValueError(f"{number} is not a number that a program can be given")
    if number == 0:
        return "0"
    if 1e-6 <= abs(number) < 1e21:
        text = format(Decimal(repr(number)), "f")
        return text.rstrip("0").rstrip(".") if "." in text else text
    return re.sub(r"e([-+])0(\d)$", r"e\1\2", repr(number))


def _int(plain: str) -> int:
    if len(plain) > _LONGEST_INT:
        return _UINT64 * 2  # whatever it is, 64 bits do not hold it
    sign, digits = (-1, plain[1:]) if plain[0] == "-" else (1, plain.lstrip("+"))
    if len(digits) > 1 and digits[0] == "0" and digits[1] in "01234567":
        return sign * int(digits, 8)
    return sign * int(digits, 0)


def _date(text: str) -> str | None:
    """A time stamp as Go prints it, or None where yaml.v3 sees none."""
    match = _TIME.fullmatch(text) or _DATE.fullmatch(text)
    if match is None:
        return None
    parts = match.groups() + (None,) * (9 - match.re.groups)
    zone = parts[8]
    if parts[3] is not None and (parts[3] == " ") != (zone is None):
        return None
    year, month, day, hour, minute, second = (int(part or 0) for part in (*parts[:3], *parts[4:7]))
    try:
        moment = datetime.datetime(
            year or 2000, month, day, hour, minute, second
        )  # as in Go, there is a year 0, and it is a leap year
    except ValueError:
        return None
    fraction = (parts[7] or "")[:9].rstrip("0")
    offset = "+0000" if zone in (None, "Z", "+00:00", "-00:00") else str(zone).replace(":", "")
    name = "UTC" if offset == "+0000" else offset
    return f"{year:04}-{moment:%m-%d %H:%M:%S}{'.' if fraction else ''}{fraction} {offset} {name}"


class _Builder:
    """Builds values from the parser's events. An anchored value is built once and shared, but counted at each use."""

    def __init__(self, events: Iterator[Any]) -> None:
        self._events = events
        self._anchors: dict[str, tuple[Any, int]] = {}
        self._nodes = 0

    def document(self) -> Any:
        next(self._events)  # the stream starts
        if isinstance(next(self._events), yaml.StreamEndEvent):
            return None
        value = self._value(next(self._events), 0)
        next(self._events)  # the document ends
        more = next(self._events)
        if not isinstance(more, yaml.StreamEndEvent):
            raise _error(more, "a second document starts here: give one")
        return value

    def _value(self, event: Any, depth: int) -> Any:
        if isinstance(event, yaml.AliasEvent):
            if event.anchor not in self._anchors:
                raise _error(event, f"*{event.anchor} is used here, and no &{event.anchor} is complete before")
            value, size = self._anchors[event.anchor]
            self._count(event, size)
            return value
        if depth > MAX_DEPTH:
            raise _error(event, f"more than {MAX_DEPTH} levels are nested here")
        before = self._nodes
        self._count(event, 1)
        if isinstance(event, yaml.ScalarEvent):
            value = _resolved(event)
        elif isinstance(event, yaml.SequenceStartEvent):
            value = [self._value(item, depth + 1) for item in self._until(yaml.SequenceEndEvent)]
        else:
            value = self._mapping(depth + 1)
        if event.anchor is not None:
            self._anchors[event.anchor] = (value, self._nodes - before)
        return value

    def _mapping(self, depth: int) -> dict[str, Any]:
        own: dict[str, Any] = {}
        merged: dict[str, Any] = {}
        for event in self._until(yaml.MappingEndEvent):
            key = self._key(event, depth)
            value = self._value(next(self._events), depth)
            if key == "<<":
                merged = _merge(event, value) | merged
            elif key in own:
                raise _error(event, f"the key {key!r} is given twice: keep one")
            else:
                own[key] = value
        return merged | own

    def _key(self, event: Any, depth: int) -> str:
        """Keys are text. Inside a configuration value a number or a truth value becomes text, as the CLI makes it."""
        value = self._value(event, depth) if isinstance(event, yaml.ScalarEvent | yaml.AliasEvent) else None
        if isinstance(value, str):
            return value
        if depth > 2 and isinstance(value, int):
            return json_text(value)
        raise _error(event, "a key here is not text: quote it")

    def _until(self, end: type) -> Iterator[Any]:
        event = next(self._events)
        while not isinstance(event, end):
            yield event
            event = next(self._events)

    def _count(self, event: Any, nodes: int) -> None:
        self._nodes += nodes
        if self._nodes > MAX_NODES:
            raise _error(event, f"more than {MAX_NODES:,} values with aliases expanded")


def _resolved(event: Any) -> Any:
    if event.tag is None:
        return scalar(event.value) if event.implicit[0] else event.value
    tag = event.tag.removeprefix(_TAGS)
    if tag in ("str", "!"):
        return event.value
    value = scalar(event.value)
    kinds = {"int": int, "float": float, "bool": bool, "null": type(None)}
    if tag == "float" and type(value) is int:
        return float(value)
    if tag not in kinds or type(value) is not kinds[tag]:
        raise _error(event, f"{event.value!r} with the tag {tag} is not supported: leave out the tag")
    return value


def _merge(event: Any, value: Any) -> dict[str, Any]:
    """What `<<` brings; the first of several mappings wins."""
    merged: dict[str, Any] = {}
    for mapping in value if isinstance(value, list) else [value]:
        if not isinstance(mapping, dict):
            raise _error(event, "<< takes a mapping or a list of mappings")
        merged = mapping | merged
    return merged


def _error(event: Any, message: str) -> YamlError:
    return YamlError(f"line {event.start_mark.line + 1}: {message}")
