"""How a report leaves: whole or not at all."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

import click
from rich.console import Console

from gpuyard.review.errors import GateError, InputError

FILE_WIDTH = 140
"""Columns of a report where no terminal is near, as in CI."""

NARROWEST = 80
"""Columns that a table of costs needs. A narrower terminal folds the lines itself; a table would cut off numbers."""

format_option = click.option(
    "--format",
    "format_",
    type=click.Choice(["terminal", "json"]),
    default="terminal",
    show_default=True,
    help="What is printed.",
)


def for_terminal(draw: Callable[[Console], None]) -> str:
    """What is drawn, for stdout as it is: the terminal's width and colours; plain text for a pipe."""
    stdout = Console()
    # A pipe often ends at a terminal too (`| less`), and that is where stderr still goes.
    known = stdout.is_terminal or Console(stderr=True).is_terminal or "COLUMNS" in os.environ
    return _drawn(draw, max(stdout.width, NARROWEST) if known else FILE_WIDTH, styled=stdout.is_terminal)


def for_file(draw: Callable[[Console], None]) -> str:
    """What is drawn, as plain text of one width: the same wherever it is made."""
    return _drawn(draw, FILE_WIDTH, styled=False)


def emit(text: str) -> None:
    """Writes a whole text to stdout, in UTF-8 wherever it goes.

    Raises GateError where it cannot be written: a report that nobody can read decides nothing.
    """
    try:
        sys.stdout.buffer.write(text.encode("utf-8", "replace"))
        sys.stdout.flush()
    except BrokenPipeError:
        # Whoever reads has seen enough (`| head`), and the verdict stands. Python would complain as it ends.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except OSError as error:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise GateError(f"the report cannot be written to stdout: {error.strerror}") from error


def clear(folder: Path, names: Iterable[str]) -> None:
    """Makes a folder ready for files: those of an earlier run must not pass for this one's.

    Raises InputError for a folder that cannot be used.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name in names:
            (folder / name).unlink(missing_ok=True)
        if not os.access(folder, os.W_OK | os.X_OK):
            raise PermissionError(None, "no permission to write")
    except OSError as error:
        raise _unusable(folder, error) from error


def write(folder: Path, texts: Mapping[str, str]) -> None:
    """Writes all files of a folder: each appears when all of them are whole. Raises InputError."""
    parts = {name: folder / f".{name}.{os.getpid()}" for name in texts}
    try:
        for name, text in texts.items():
            parts[name].write_text(text, encoding="utf-8")
        for name, part in parts.items():
            part.replace(folder / name)
    except OSError as error:
        raise _unusable(folder, error) from error
    finally:
        for part in parts.values():
            part.unlink(missing_ok=True)


def _drawn(draw: Callable[[Console], None], width: int, *, styled: bool) -> str:
    text = io.StringIO()
    draw(Console(file=text, width=width, force_terminal=styled, highlight=False))
    # Tables pad their last column.
    return "\n".join(line.rstrip(" ") for line in text.getvalue().split("\n"))


def _unusable(folder: Path, error: OSError) -> InputError:
    return InputError(f"--out {folder}: {error.strerror}: give a folder that can be written to")
