"""Which command of Pulumi runs a program.

The engine tells a program whether it is a preview, and nothing more: under `pulumi destroy --run-program` and `pulumi
refresh --run-program` it runs as it does under `pulumi up`, and the engine keeps to itself that it creates nothing. The
command that has started the program says it.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path

PULUMI = "pulumi"
PROC = Path("/proc")
"""Linux' own list of processes; elsewhere `ps` is asked."""

HARMLESS = frozenset({"destroy", "down", "dn", "refresh"})
"""Commands, with their aliases, under which no resource is created or changed, whatever a program declares.
Source: pulumi, pkg/cmd/pulumi/operations, and resource/deploy/step_generator.go."""

_WITHOUT_VALUE = frozenset(
    {"--emoji", "-e", "--non-interactive", "--logflow", "--logtostderr", "--fully-qualify-stack-names", "-Q"}
)
_WITH_VALUE = frozenset({"--cwd", "-C", "--color", "--verbose", "-v", "--tracing", "--profiling"})
"""Options that may stand before the command."""

_GENERATIONS = 32
_SECONDS = 5


def creates_nothing() -> bool:
    """Whether the running program is started by a command under which nothing is created or changed.

    False where that cannot be told, as in an inline program of the Automation API.
    """
    return any(subcommand(words) in HARMLESS for words in _nearest(PULUMI))


def subcommand(words: Sequence[str]) -> str | None:
    """The command in a command line of pulumi; None where there is none that can be told from an option's value."""
    rest = iter(words[1:])
    for word in rest:
        if not word.startswith("-"):
            return word
        if word in _WITH_VALUE:
            next(rest, None)
        elif word not in _WITHOUT_VALUE and word.partition("=")[0] not in _WITH_VALUE:
            return None
    return None


def _nearest(program: str) -> Iterator[list[str]]:
    """The command line of the nearest process above this one that runs a program; at most one."""
    pid = os.getppid()
    for _ in range(_GENERATIONS):
        found = _process(pid)
        if found is None:
            return
        pid, words = found
        if words and Path(words[0]).name == program:
            yield words
            return


def _process(pid: int) -> tuple[int, list[str]] | None:
    """The parent of a process, and its command line; None where there is no such process, or nothing tells."""
    if pid <= 1:
        return None
    folder = PROC / str(pid)
    try:
        if folder.is_dir():
            # The name, in parentheses, may hold anything.
            parent = int((folder / "stat").read_text().rpartition(")")[2].split()[1])
            return parent, (folder / "cmdline").read_text().split("\0")[:-1]
        asked = ["ps", "-o", "ppid=", "-o", "command=", "-p", str(pid)]
        answer = subprocess.run(asked, capture_output=True, text=True, timeout=_SECONDS, check=True)
        parent_, *words = answer.stdout.split()
        return int(parent_), words
    except (OSError, ValueError, subprocess.SubprocessError):
        return None
