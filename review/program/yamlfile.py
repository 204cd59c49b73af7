"""Reads a YAML file that a user wrote, with one clear error for each way in which it can be wrong."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from gpuyard.review.errors import InputError
from gpuyard.review.program.goyaml import YamlError, parse

MAX_BYTES = 1_000_000
"""Looked at before anything is parsed."""

_BYTE_ORDER_MARKS = {b"\xff\xfe": "UTF-16", b"\xfe\xff": "UTF-16"}


def load(path: Path) -> Any:
    """The values of a YAML file; None for a file without any.

    Raises InputError for a file that cannot be read, is too large, is not UTF-8 or is not YAML.
    """
    try:
        with path.open("rb") as file:
            data = file.read(MAX_BYTES + 1)
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror}): make it a readable file") from error
    if len(data) > MAX_BYTES:
        raise InputError(f"{path}: is over {MAX_BYTES:,} bytes, which no stack needs: split it, or move data elsewhere")
    try:
        return parse(_text(path, data))
    except YamlError as error:
        raise InputError(f"{path}: {error}") from error


def _text(path: Path, data: bytes) -> str:
    encoding = _BYTE_ORDER_MARKS.get(data[:2])
    if encoding:
        raise InputError(f"{path}: is {encoding}: save it as UTF-8")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise InputError(
            f"{path}: line {line} has the byte 0x{data[error.start]:02x}, which is not UTF-8: save the file as UTF-8"
        ) from error
