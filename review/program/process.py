"""Runs a program's recorder in a process of its own, and ends that process whatever it does."""

from __future__ import annotations

import contextlib
import json
import os
import selectors
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

CHILD = Path(__file__).resolve().parents[1] / "recording" / "child.py"

KEPT_BYTES = 16_384
"""The end of what a program prints that is kept, of each of its two streams."""

GRACE_SECONDS = 5.0
"""For a program's own work at exit, after its recording is complete."""

_LAST = (b'{"end":', b'{"error":')
"""How the last line of a complete answer starts."""

_TICK_SECONDS = 0.1
_LAST_TICK_SECONDS = 0.005
"""Once a process has closed its streams, it ends at once."""

_READ_BYTES = 1 << 20

_LEFT_OUT = ("PULUMI_ACCESS_TOKEN", "PULUMI_CONFIG", "PYTHONHOME", "VIRTUAL_ENV")
"""Variables that could carry a secret of the stack into the program (all whose names start so), or another Python."""


class StoppedError(Exception):
    """Whoever waits for a process no longer wants its answer."""


@dataclass
class Output:
    """What a process said."""

    lines: list[bytes] = field(default_factory=list)
    """Its answer, a JSON object a line; empty where it gave none."""
    printed: str = ""
    """The end of its stdout and stderr."""
    status: int | None = None
    """Its exit status, negative for a signal; None where it was ended for taking too long."""


def run(
    python: Path,
    directory: Path,
    given: Mapping[str, Any],
    seconds: float,
    on_line: Callable[[bytes], bool],
    stop: threading.Event,
) -> Output:
    """Runs the recorder of a program, at most for so many seconds.

    `on_line` sees each line of the answer as it comes, and says whether to keep it. Whatever the program started in
    its process group is ended with it. Raises OSError where the interpreter does not start, and StoppedError soon
    after `stop` is set.
    """
    answer, write_end = os.pipe()
    try:
        process = subprocess.Popen(
            [str(python), str(CHILD), str(write_end)],
            cwd=directory,
            env=_environment(python),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            pass_fds=[write_end],
            start_new_session=True,
        )
    except OSError:
        os.close(answer)
        raise
    finally:
        os.close(write_end)
    try:
        with os.fdopen(answer, "rb", buffering=0) as pipe:
            output = _Conversation(process, pipe, on_line, stop).hold(json.dumps(dict(given)).encode(), seconds)
        ended = _has_ended(process)
    finally:
        _end(process)
    output.status = process.returncode if ended else None
    return output


def _environment(python: Path) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith(_LEFT_OUT)}
    environment = python.parent.parent
    if (environment / "pyvenv.cfg").exists():
        kept["VIRTUAL_ENV"] = str(environment)
        kept["PATH"] = f"{python.parent}{os.pathsep}{kept.get('PATH', os.defpath)}"
    # A program that walks over a set of strings registers the same in every run.
    return kept | {"PYTHONHASHSEED": "0"}


class _Conversation:
    """Reads all streams of a process at once, so that none of them fills up and stops it."""

    def __init__(
        self, process: subprocess.Popen[bytes], answer: Any, on_line: Callable[[bytes], bool], stop: threading.Event
    ) -> None:
        self._process, self._answer, self._on_line, self._stop = process, answer, on_line, stop
        self._rest = b""
        self._printed: dict[Any, bytes] = {}
        self._lines: list[bytes] = []
        self._complete = False

    def hold(self, given: bytes, seconds: float) -> Output:
        deadline = time.monotonic() + seconds
        unsent = memoryview(given)
        with selectors.DefaultSelector() as selector:
            selector.register(self._answer, selectors.EVENT_READ)
            for stream in (self._process.stdout, self._process.stderr):
                selector.register(stream, selectors.EVENT_READ)  # type: ignore[arg-type]
            selector.register(self._process.stdin, selectors.EVENT_WRITE)  # type: ignore[arg-type]
            graced = False
            while (remaining := deadline - time.monotonic()) > 0:
                if self._stop.is_set():
                    raise StoppedError
                # Asked before its streams are: what it wrote before its end is there to read, however soon it ended.
                ended = _has_ended(self._process)
                ready = selector.select(min(remaining, _TICK_SECONDS if selector.get_map() else _LAST_TICK_SECONDS))
                for key, _ in ready:
                    if key.fileobj is self._process.stdin:
                        unsent = self._send(selector, unsent)
                    elif not self._read(key.fd, key.fileobj):
                        selector.unregister(key.fileobj)
                if ended and not ready:
                    break
                if not graced and (self._complete or ended):
                    # What the process left behind may hold its streams open for ever.
                    deadline, graced = min(deadline, time.monotonic() + GRACE_SECONDS), True
        printed = b"".join(self._printed.values()).decode("utf-8", "replace")
        return Output(self._lines, printed)

    def _send(self, selector: selectors.BaseSelector, unsent: memoryview) -> memoryview:
        stdin: Any = self._process.stdin
        os.set_blocking(stdin.fileno(), False)
        try:
            sent = os.write(stdin.fileno(), unsent)
        except BlockingIOError:
            return unsent
        except BrokenPipeError:
            sent = len(unsent)
        if sent == len(unsent):
            selector.unregister(stdin)
            stdin.close()
        return unsent[sent:]

    def _read(self, descriptor: int, stream: Any) -> bool:
        data = os.read(descriptor, _READ_BYTES)
        if stream is self._answer:
            *lines, self._rest = (self._rest + data).split(b"\n")
            self._complete = self._complete or any(line.startswith(_LAST) for line in lines)
            self._lines += [line for line in lines if self._on_line(line)]
        else:
            self._printed[stream] = (self._printed.get(stream, b"") + data)[-KEPT_BYTES:]
        return bool(data)


def _has_ended(process: subprocess.Popen[bytes]) -> bool:
    """Whether a process has ended, without taking its status: until that is taken, its group keeps its number."""
    if not hasattr(os, "waitid"):
        return process.poll() is not None
    return process.returncode is not None or (
        os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None
    )


def _end(process: subprocess.Popen[bytes]) -> None:
    if process.returncode is None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    for stream in (process.stdin, process.stdout, process.stderr):
        if stream is not None:
            stream.close()
