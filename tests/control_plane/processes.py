"""Programs that a test starts: each in a session of its own, with a log, and ended by its id, whatever happens."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

Answer = TypeVar("Answer")

SECONDS_TO_LEAVE = 3
"""A program that was asked to end and is still there after this time is killed."""

# Reads process ids, a line each. When its input ends, whoever wrote them is gone, and it kills them: so nothing is
# left running even when the test run itself is killed.
WATCHDOG = 'ids=; while read -r id; do ids="$ids $id"; done; [ -z "$ids" ] || kill -9 $ids 2>/dev/null'


class ProgramFailedError(Exception):
    """A program ended or did not become ready; the message has the end of its log."""


class PortTakenError(ProgramFailedError):
    """A program ended because somebody took its port between choosing and binding."""


def free_port() -> int:
    """A port of loopback that nobody listens on. Somebody may take it before it is used."""
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


def until(ask: Callable[[], Answer | None], what: str, *, seconds: float = 150, every: float = 0.05) -> Answer:
    """The first answer that is not None, False or empty; asks again for `seconds` at the most."""
    end = time.monotonic() + seconds
    while not (answer := ask()):
        if time.monotonic() > end:
            raise TimeoutError(f"{what}: not within {seconds:g} s")
        time.sleep(every)
    return answer


@dataclass(frozen=True)
class Running:
    """One program."""

    name: str
    process: subprocess.Popen[bytes]
    log: Path

    def tail(self, lines: int = 15) -> str:
        """The end of its log."""
        text = self.log.read_text(errors="replace") if self.log.exists() else ""
        return "\n".join(line[:1000] for line in text.splitlines()[-lines:])

    def check(self) -> None:
        """Raises when the program is no longer there, or listens nowhere because its port is taken."""
        if self.process.poll() is None:
            return
        said = self.tail()
        error = PortTakenError if "address already in use" in said else ProgramFailedError
        raise error(f"{self.name} ended with {self.process.returncode}; the end of {self.log}:\n{said}")

    def wait(self, ready: Callable[[], bool], seconds: float) -> None:
        """Waits until the program is ready; raises when it ended or takes longer than `seconds`."""

        def answer() -> bool:
            self.check()
            return ready()

        try:
            until(answer, f"{self.name} is ready", seconds=seconds)
        except TimeoutError as error:
            raise ProgramFailedError(f"{error}; the end of {self.log}:\n{self.tail()}") from None

    def stop(self) -> None:
        """Ends the program, by force where asking is not enough."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            with contextlib.suppress(subprocess.TimeoutExpired):
                self.process.wait(SECONDS_TO_LEAVE)
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()


class Programs:
    """Programs that end together, the last started first."""

    def __init__(self, folder: Path) -> None:
        """`folder` takes their logs, and is their home and working directory."""
        self.folder = folder
        self.running: list[Running] = []
        self._watchdog = subprocess.Popen(
            ["/bin/sh", "-c", WATCHDOG], stdin=subprocess.PIPE, start_new_session=True, cwd=folder
        )

    def start(self, name: str, command: Sequence[str | Path], environment: Mapping[str, str] | None = None) -> Running:
        """Starts a program with nothing of the user's environment but PATH."""
        log = self.folder / f"{name}.log"
        # One thread is enough for a handful of objects, and leaves the other cores to the tests.
        own = {"PATH": os.environ["PATH"], "HOME": str(self.folder), "GOMAXPROCS": "1"}
        with log.open("ab") as output:
            process = subprocess.Popen(
                [str(part) for part in command],
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                cwd=self.folder,
                env=own | dict(environment or {}),
                start_new_session=True,
            )
        assert self._watchdog.stdin is not None
        self._watchdog.stdin.write(f"{process.pid}\n".encode())
        self._watchdog.stdin.flush()
        program = Running(name, process, log)
        self.running.append(program)
        return program

    def stop(self, *programs: Running) -> None:
        """Ends these programs, or all of them, the last started first."""
        for program in reversed(programs or self.running):
            program.stop()
        self.forget_ended()

    def forget_ended(self) -> None:
        """Drops what is no longer there."""
        self.running = [program for program in self.running if program.process.poll() is None]

    def check(self) -> None:
        """Raises when one of them is no longer there."""
        for program in self.running:
            program.check()

    def close(self) -> None:
        """Ends all programs and the watchdog, which must not kill ids that the system has given to others."""
        self.stop()
        self._watchdog.kill()
        self._watchdog.wait()
        assert self._watchdog.stdin is not None
        self._watchdog.stdin.close()

    def tails(self) -> str:
        """The end of every log."""
        return "\n\n".join(f"{program.name}:\n{program.tail()}" for program in self.running)
