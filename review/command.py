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
    {
        *("--disable-integrity-checking", "--emoji", "-e", "--fully-qualify-stack-names", "-Q", "--logflow"),
        *("--logtostderr", "--non-interactive"),
    }
)
_WITH_VALUE = frozenset(
    {
        *(
            "--color",
            "--cwd",
            "-C",
            "--memprofilerate",
            "--otel-traces",
            "--profiling",
            "--tracing",
            "--tracing-header",
        ),
        *("--verbose", "-v", "--stack", "-s"),
    }
)
"""Options that may stand before the command, and take the next word where they have no `=`. Source: pulumi,
pkg/cmd/pulumi/pulumi.go; `--stack` is the command's own, and may stand there too."""

_GENERATIONS = 32
_SECONDS = 5


def creates_nothing() -> bool:
    """Whether the running program is started by a command under which nothing is created or changed.

    False where that cannot be told, as in an inline program of the Automation API. It is not seen where the nearest
    pulumi above is another than the one that runs this program: an inline program that deploys something else, started
    by what runs under `pulumi destroy --run-program`, is not gated.
    """
    return any(subcommand(words, exact=exact) in HARMLESS for words, exact in _nearest(PULUMI))


def subcommand(words: Sequence[str], *, exact: bool = True) -> str | None:
    """The command in a command line of pulumi; None where there is none that can be told from an option's value.

    Unless the words are `exact`, a value may be split into several, any of which may look like the command.
    """
    split = False
    rest = iter(words[1:])
    for word in rest:
        if not word.startswith("-"):
            others = [other for other in rest if not other.startswith("-")]
            return None if split and others else word
        if word in _WITHOUT_VALUE:
            continue
        split = not exact
        if word in _WITH_VALUE:
            next(rest, None)
        elif not _holds_its_value(word):
            return None
    return None


def _holds_its_value(option: str) -> bool:
    """Whether an option takes no other word, whatever it is: `--color=never`, `-v9`, `-eQ`."""
    return "=" in option or (len(option) > len("-v") and not option.startswith("--"))


def _nearest(program: str) -> Iterator[tuple[list[str], bool]]:
    """The command line of the nearest process above this one that runs a program, if any, and whether it is exact."""
    pid = os.getppid()
    for _ in range(_GENERATIONS):
        found = _process(pid)
        if found is None:
            return
        pid, words, exact = found
        if words and Path(words[0]).name == program:
            yield words, exact
            return


def _process(pid: int) -> tuple[int, list[str], bool] | None:
    """The parent of a process, its command line, and whether that is exact: `ps` does not say where a word ends.

    None where there is no such process, or nothing tells.
    """
    if pid <= 1:
        return None
    folder = PROC / str(pid)
    try:
        if folder.is_dir():
            # The name, in parentheses, may hold anything.
            parent = int((folder / "stat").read_text().rpartition(")")[2].split()[1])
            return parent, (folder / "cmdline").read_text().split("\0")[:-1], True
        asked = ["ps", "-o", "ppid=", "-o", "command=", "-p", str(pid)]
        answer = subprocess.run(asked, capture_output=True, text=True, timeout=_SECONDS, check=True)
        parent_, *words = answer.stdout.split()
        return int(parent_), words, False
    except (OSError, ValueError, subprocess.SubprocessError):
        return None
