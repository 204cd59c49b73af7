"""Programs and files that are not ours. Programs are found on PATH or in the cache: a build outlasts any test."""

from __future__ import annotations

import functools
import subprocess
import sys
from pathlib import Path

import pytest

TOOLS = Path(__file__).parents[1] / "tools"


@functools.cache
def program(name: str) -> Path:
    """A program of `tools/`, such as kubectl."""
    return _asked("programs.py", "--made", name)


@functools.cache
def files(name: str) -> Path:
    """A folder with files of a pinned Go module, such as kueue's kinds."""
    return _asked("module_files.py", name)


def _asked(tool: str, *arguments: str) -> Path:
    answer = subprocess.run([sys.executable, TOOLS / tool, *arguments], capture_output=True, text=True, check=False)
    if answer.returncode:
        pytest.fail(f"{arguments[-1]} is needed here:\n{answer.stderr}")
    return Path(answer.stdout.strip())
