"""An interrupted command: it says nothing, and nothing that it started goes on."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from command import CONFIG_MAP, GPUYARD, SECONDS, environment, program

WAITS = """
import os, pathlib, time
pathlib.Path({started!r}).write_text(str(os.getpid()))
while True:
    time.sleep(0.01)
"""

OPA = """#!{python}
import os, pathlib, socket, sys
host, port = next(a for a in sys.argv if a.startswith("--addr=")).removeprefix("--addr=").split(":")
with socket.create_server((host, int(port))) as server:
    asked = server.accept()
    pathlib.Path({started!r}).write_text(str(os.getpid()))
    while True:
        server.accept()
"""
"""Takes connections, and never answers."""


def interrupted(where: Path, started: Path, number: int, **more: str) -> tuple[int, str, int]:
    """How the command ends that gets a signal once `started` is there; the process that it had started."""
    with subprocess.Popen(
        [*GPUYARD, "review", "--program", str(where)],
        env=environment(**more),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        # Where the tests run in the background, they may ignore it, and so would what they start.
        preexec_fn=lambda: number == signal.SIGKILL or signal.signal(number, signal.SIG_DFL),
    ) as process:
        until(lambda: started.exists() and started.read_text().strip() != "")
        process.send_signal(number)
        out, err = process.communicate(timeout=SECONDS)
    assert out == b""
    return process.returncode, err.decode(), int(started.read_text())


def until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + SECONDS
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def ended(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return True
    return False


@pytest.mark.parametrize(
    ("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129), (signal.SIGKILL, -9)]
)
def test_an_interrupt_ends_the_program_that_is_recorded(tmp_path: Path, number: int, code: int) -> None:
    started = tmp_path / "started"
    where = program(tmp_path, WAITS.format(started=str(started)))
    answer, err, child = interrupted(where, started, number)
    assert (answer, err.strip()) == (code, "")
    until(lambda: ended(child))


def test_an_interrupt_ends_the_opa_that_was_started(tmp_path: Path) -> None:
    started, programs = tmp_path / "started", tmp_path / "programs"
    programs.mkdir()
    (programs / "opa").write_text(OPA.format(python=sys.executable, started=str(started)))
    (programs / "opa").chmod(0o755)
    path = f"{programs}{os.pathsep}{os.environ['PATH']}"
    answer, err, child = interrupted(program(tmp_path, CONFIG_MAP), started, signal.SIGINT, PATH=path)
    assert (answer, err.strip()) == (130, "")
    until(lambda: ended(child))
