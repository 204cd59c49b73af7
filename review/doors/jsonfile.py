"""Reads a JSON file that somebody hands over, with one clear error for each way in which it can be wrong."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NoReturn

from gpuyard.review.errors import InputError

MOST_BYTES = 256_000_000
"""Looked at before anything is parsed: 10,000 resources have a tenth of it."""

DEEPEST = 100
"""As manifests may be nested: the engines read little more."""


def load(path: Path, remedy: str) -> Any:
    """The value of a file; `remedy` says what to give instead.

    Raises InputError for a file that cannot be read, is too large, is not UTF-8, is no JSON, says one key twice, or has
    a number or a text that JSON does not have.
    """
    try:
        with path.open("rb") as file:
            data = file.read(MOST_BYTES + 1)
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror}): {remedy}") from error
    if len(data) > MOST_BYTES:
        raise InputError(f"{path}: is over {MOST_BYTES:,} bytes: {remedy}")
    try:
        text = data.decode("utf-8-sig")
        value = json.loads(text, parse_constant=_no_number, object_pairs_hook=_once)
        # A number as 1e999 and half of a character are read without a word, and no report can hold them.
        json.dumps(value, allow_nan=False, ensure_ascii=False).encode()
    except (UnicodeDecodeError, UnicodeEncodeError) as error:
        raise InputError(f"{path}: is not UTF-8, or has half a character ({error.reason}): {remedy}") from error
    except json.JSONDecodeError as error:
        raise InputError(f"{path}:{error.lineno}: is no JSON ({error.msg}): {remedy}") from error
    except ValueError as error:
        raise InputError(f"{path}: {error}: {remedy}") from error
    except RecursionError as error:
        raise InputError(f"{path}: is nested too deep to be read: {remedy}") from error
    if not _within(value):
        raise InputError(f"{path}: is nested too deep to be read, more than {DEEPEST} levels: {remedy}")
    return value


def _within(value: Any) -> bool:
    level = [value]
    for _ in range(DEEPEST):
        level = [
            member
            for one in level
            if isinstance(one, dict | list)
            for member in (one.values() if isinstance(one, dict) else one)
        ]
        if not level:
            return True
    return False


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        keys = [key for key, _ in pairs]
        raise ValueError(f"says {next(key for key in keys if keys.count(key) > 1)!r} twice in one object")
    return found


def _no_number(text: str) -> NoReturn:
    raise ValueError(f"has the number {text}, which JSON does not have")
