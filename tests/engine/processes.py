"""What an engine starts, wherever it went: found by a variable that all of it inherits. Reads /proc, as Linux has it."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

MARK = "GPUYARD_TEST_ENGINE"
"""The variable. Its value is the engine's folder."""

SECONDS_TO_LEAVE = 20
"""After a run, for what the engine started. The engine gives a plugin five seconds, one plugin after the other."""

WATCHDOG = r"""
cat
for environment in /proc/[0-9]*/environ; do
    if grep --quiet --null-data --line-regexp --fixed-strings "$1" "$environment"; then
        process=${environment#/proc/}
        kill -9 "${process%/environ}"
    fi
done
"""


class Watchdog:
    """Ends what an engine started when the tests are gone, and with them the other end of its input."""

    def __init__(self, folder: Path) -> None:
        quiet = subprocess.DEVNULL
        command = ["/bin/sh", "-c", WATCHDOG, "watchdog", f"{MARK}={folder}"]
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=quiet, stderr=quiet, start_new_session=True
        )

    def close(self) -> None:
        """Ends it, because there is nothing left to watch."""
        self._process.kill()
        self._process.wait()
        assert self._process.stdin
        self._process.stdin.close()


def marked(folder: Path) -> list[int]:
    """Ids of the processes that an engine started, directly or not, and that have not ended."""
    mark = f"{MARK}={folder}".encode()
    return [process for process, environment in _environments() if mark in environment.split(b"\0")]


def wait_for_marked(folder: Path) -> list[int]:
    """Waits for them to end by themselves; returns the ids of those that stayed, after it has ended them."""
    deadline = time.monotonic() + SECONDS_TO_LEAVE
    while marked(folder):
        if time.monotonic() > deadline:
            return kill_marked(folder)
        time.sleep(0.02)
    return []


def kill_marked(folder: Path) -> list[int]:
    """Ends them, by their ids, until none is left; returns the ids."""
    ended: list[int] = []
    deadline = time.monotonic() + SECONDS_TO_LEAVE
    while found := marked(folder):
        assert time.monotonic() < deadline, f"these processes cannot be ended: {found}"
        for process in found:
            with contextlib.suppress(ProcessLookupError):
                os.kill(process, signal.SIGKILL)
        ended += found
        time.sleep(0.01)
    return ended


def _environments() -> Iterator[tuple[int, bytes]]:
    """Every process of this machine that is ours to see, with its environment."""
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit() and int(folder.name) != os.getpid():
            # Others' processes cannot be read, and any may end meanwhile; one that ended and waits has none.
            with contextlib.suppress(OSError):
                yield int(folder.name), (folder / "environ").read_bytes()
