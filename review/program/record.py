"""Records a Pulumi program for a stack, from outside: in its own process, with its own interpreter."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from gpuyard.review.errors import InputError
from gpuyard.review.program import process, stackfile
from gpuyard.review.program.project import Project, find_project
from gpuyard.review.recording import Recording, Resource
from gpuyard.review.recording.values import UNKNOWN, masked

__all__ = ["ProgramError", "Project", "find_project", "record_program"]

TIMEOUT_SECONDS = 300.0
"""A program that is not recorded after so long never will be: 10,000 resources take a twentieth of it."""

_PRINTED_LINES = 15
_HIDDEN = "a review never decrypts secrets, so read them by the *_secret methods of pulumi.Config"


class ProgramError(InputError):
    """A program cannot be recorded as it is. The message names the program, the place, the reason and the remedy."""


def record_program(
    project: Project,
    stack: str,
    *,
    timeout_s: float = TIMEOUT_SECONDS,
    on_progress: Callable[[int], None] | None = None,
    levers: tuple[str, ...] | None = None,
    stop: threading.Event | None = None,
) -> Recording:
    """Records a program; nothing is created, and no secret is decrypted.

    Args:
        project: the project, from `find_project`.
        stack: name of a stack that has a file.
        timeout_s: seconds after which the program is ended.
        on_progress: told now and then how many resources are recorded so far.
        levers: what makes it fast, of `recording/levers.py`; all that are proven when left out.
        stop: ends the program from another thread.

    Raises InputError for a wrong stack file, ProgramError for a program that cannot be recorded, and
    process.StoppedError soon after `stop` is set.
    """
    stop = stop or threading.Event()
    start = time.perf_counter()
    config = stackfile.read(project, stack)
    given = {
        "project": project.name,
        "stack": stack,
        "config": dict(config.values),
        "secret_keys": list(config.secret_keys),
        "root": str(project.root),
        "program": str(project.program),
        "levers": None if levers is None else list(levers),
    }
    listener = _Listener(on_progress)
    try:
        output = process.run(project.python, project.directory, given, timeout_s, listener, stop)
    except OSError as error:
        reason = error.strerror or error
        raise ProgramError(f"{project.python}: does not start ({reason}): repair the virtual environment") from error
    last = listener.last
    if last is not None and "end" in last:
        resources: list[Resource] = [json.loads(line)["resource"] for line in output.lines]
        shown = {key: value for key, value in config.values.items() if key not in config.secret_keys}
        return Recording(project.name, stack, resources, last["end"]["log"], time.perf_counter() - start, shown)
    if last is not None and last["error"].get("pumped") and levers is None:
        # The pump runs callbacks earlier than the SDK does, and one may have met a name that was not there yet.
        remaining = timeout_s - (time.perf_counter() - start)
        plain = record_program(
            project, stack, timeout_s=max(remaining, 1), on_progress=on_progress, levers=(), stop=stop
        )
        return replace(plain, seconds=time.perf_counter() - start)
    failure = _failure(project, last, output.status, timeout_s)
    raise ProgramError(masked(failure + _ending(output.printed), listener.secrets))


class _Listener:
    """Sees each line of the recorder's answer; keeps resources for later, when the process and its memory are gone."""

    def __init__(self, on_progress: Callable[[int], None] | None) -> None:
        self.last: dict[str, Any] | None = None
        self.secrets: set[str] = set()
        self._on_progress = on_progress

    def __call__(self, line: bytes) -> bool:
        if line.startswith(b'{"resource":'):
            return True
        message = json.loads(line)
        self.secrets.update(message.get("secrets", ()))
        if "progress" not in message:
            self.last = message
        elif self._on_progress is not None:
            self._on_progress(message["progress"])
        return False


def _failure(project: Project, last: dict[str, Any] | None, status: int | None, seconds: float) -> str:
    """What went wrong, where, and what to do."""
    program = project.program
    if last is None:
        if status is None:
            return (
                f"{program}: is not done after {seconds:g} s, and was ended: it loops or waits; let it end by itself, "
                "or allow it more seconds"
            )
        how = f"by signal {-status}" if status < 0 else f"with status {status}"
        return f"{program}: its process ended {how} before it was recorded: let the program run to its end"
    error = last["error"]
    kind, message = error["kind"], str(error["message"]).replace(UNKNOWN, "<secret>")
    if kind == "sdk":
        return (
            f"{project.python}: the program's environment has no usable pulumi ({message}): install the pulumi package"
        )
    place = f"{project.root / error['where']}" if error["where"] else f"{program}"
    hidden = f": {_HIDDEN}" if UNKNOWN in error["message"] else ""
    if kind == "refused":
        return f"{message}{hidden}"
    if kind == "exit":
        return f"{place}: the program called {message}: let it run to its end, or raise pulumi.RunError with the reason"
    if kind == "recorder":
        return f"{place}: {message}"
    return f"{place}: the program raised {message}{hidden}"


def _ending(printed: str) -> str:
    lines = [line.rstrip() for line in printed.splitlines() if line.strip()][-_PRINTED_LINES:]
    return "\nThe program's output ended with:\n" + "\n".join(f"  {line}" for line in lines) if lines else ""
