"""Reads the catalogue's tables, CSV files under data/, and answers for names that they lack."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterable, Mapping
from difflib import get_close_matches
from pathlib import Path
from types import MappingProxyType
from typing import TypeVar

DATA = Path(__file__).with_name("data")

SHOWN = 64
"""Characters of an unknown name that are compared and shown; the longest name of any table is shorter."""

OPEN = "?"
"""What a column says that somebody has yet to fill in. What is not known is empty, or 0."""

Key = TypeVar("Key")
Row = TypeVar("Row")


class Malformed(ValueError):  # noqa: N818 - read as catalogue.Malformed
    """A table that is not as it must be. The message says the file, the line and what is wrong there."""


class Unknown(ValueError):  # noqa: N818 - read as catalogue.Unknown
    """A name that the catalogue lacks. The message names what was given and the nearest names."""

    nearest: list[str]
    """At most three names that the table has, the nearest first."""

    def __init__(self, kind: str, given: str, known: Iterable[str]) -> None:
        self.nearest = _nearest(given, known)
        shown = given if len(given) <= SHOWN else f"{given[:SHOWN]}…"
        super().__init__(
            f"{kind} {shown!r} is not in the catalogue: give one that is (nearest: {', '.join(self.nearest)})"
            f", or add a row for it to the tables in {DATA.parent.name}/{DATA.name}"
        )


def load(pattern: str, parse: Callable[[dict[str, str]], tuple[Key, Row]]) -> Mapping[Key, Row]:
    """Every row of the files under data/ that `pattern` matches, in the order of the files.

    Raises Malformed for a row that `parse` refuses or that is not filled in, and for a key that is there already.
    """
    rows: dict[Key, Row] = {}
    for path in sorted(DATA.glob(pattern)):
        _add(rows, path, parse)
    return MappingProxyType(rows)


def read(path: Path, parse: Callable[[dict[str, str]], tuple[Key, Row]], columns: Iterable[str]) -> Mapping[Key, Row]:
    """Every row of one file, which somebody else has written: it must have these columns.

    Raises as `load` does, and OSError for a file that cannot be read.
    """
    rows: dict[Key, Row] = {}
    try:
        _add(rows, path, parse, columns)
    except (csv.Error, UnicodeDecodeError) as error:
        raise Malformed(f"{path.name} is no CSV file in UTF-8: {error}") from error
    return MappingProxyType(rows)


def _add(
    rows: dict[Key, Row],
    path: Path,
    parse: Callable[[dict[str, str]], tuple[Key, Row]],
    needed: Iterable[str] = (),
) -> None:
    with path.open(newline="", encoding="utf-8") as file:
        lines = csv.DictReader(file, strict=True)
        missing = [column for column in needed if column not in (lines.fieldnames or [])]
        if missing:
            raise Malformed(f"{path.name} line 1: the columns {', '.join(missing)} are missing")
        for columns in lines:
            place = f"{path.name} line {lines.line_num}"
            if None in columns or None in columns.values():
                raise Malformed(f"{place}: the row has another number of columns than the header")
            if left := [column for column, value in columns.items() if value == OPEN]:
                raise Malformed(f"{place}: to be filled in: {', '.join(left)}")
            try:
                key, row = parse(columns)
            except (KeyError, ValueError) as error:
                raise Malformed(f"{place}: {error}") from error
            if key in rows:
                raise Malformed(f"{place}: {key} has a row already")
            rows[key] = row


def find(kind: str, table: Mapping[str, Row], name: str) -> Row:
    """The row called `name`; raises Unknown, which calls the row a `kind`."""
    try:
        return table[name]
    except KeyError:
        raise Unknown(kind, name, table) from None


def number(text: str) -> float | None:
    """A number, or None for an empty column: not known."""
    return float(text) if text else None


def _nearest(given: str, known: Iterable[str]) -> list[str]:
    names = {name.lower(): name for name in known}
    return [names[match] for match in get_close_matches(given[:SHOWN].lower(), names, n=3, cutoff=0)]
