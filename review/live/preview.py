"""Runs `pulumi preview` of a stack, as its user would, and reads what the engine says."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import subprocess
import threading
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from gpuyard.review.changes import Change, changes
from gpuyard.review.errors import GateError, InputError

GRACE_SECONDS = 15.0
"""For the engine to end by itself, and its plugins with it, once it is asked to."""

KEPT_LINES = 40
"""The end of what the CLI prints beside its events that is kept."""

Event = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Preview:
    """What a preview came to."""

    changes: list[Change]
    errors: list[str]
    """What the engine, a provider or the program reported as an error, or the end of what the CLI printed where none
    did; empty where the preview passed."""


@dataclass
class _Heard:
    steps: list[Event] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    summary: bool = False


def preview(
    stack: str, project: Path, *, pack: Path, timeout_s: float, on_progress: Callable[[int], None] | None = None
) -> Preview:
    """Previews a stack of the project in a folder, with a policy pack, for at most so many seconds.

    `on_progress` is told how many resources were seen so far. Raises InputError where the CLI is missing or does not
    get as far as the program, and GateError where it takes too long or its events cannot be read.
    """
    program = shutil.which("pulumi")
    if program is None:
        raise InputError("--live: there is no `pulumi` on PATH: install the Pulumi CLI, or review without --live")
    command = [program, "preview", "--stack", stack, "--cwd", str(project), "--policy-pack", str(pack), "--json"]
    heard = _Heard()
    said: deque[str] = deque(maxlen=KEPT_LINES)
    code = _run(
        [*command, "--non-interactive", "--color", "never", "--suppress-permalink"], heard, said, timeout_s, on_progress
    )
    if not heard.summary and code == 0:
        raise GateError("pulumi preview ended well without a summary: its events cannot be read")
    errors = (heard.errors or [*said] or [f"exit code {code}, and not a word"]) if code else []
    if not heard.steps:
        raise InputError("--live: pulumi preview does not get as far as the program:\n" + "\n".join(errors))
    try:
        return Preview(changes(heard.steps), errors)
    except ValueError as error:
        raise GateError(f"--live: {error}") from None


def _run(
    command: Sequence[str],
    heard: _Heard,
    said: deque[str],
    timeout_s: float,
    on_progress: Callable[[int], None] | None,
) -> int:
    # Events one a line as they come; without it there is one digest at the end, and none of a failed preview.
    environment = os.environ | {"PULUMI_ENABLE_STREAMING_JSON_PREVIEW": "true", "PULUMI_SKIP_UPDATE_CHECK": "true"}
    with subprocess.Popen(
        command,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        errors="replace",
        start_new_session=True,
    ) as process:
        assert process.stdout is not None  # noqa: S101
        assert process.stderr is not None  # noqa: S101
        late = threading.Event()

        def end() -> None:
            late.set()
            _end(process)

        timer = threading.Timer(timeout_s, end)
        beside = threading.Thread(
            target=lambda: said.extend(line.rstrip() for line in process.stderr or ()), daemon=True
        )
        timer.start()
        beside.start()
        try:
            for line in process.stdout:
                if not _hear(line, heard):
                    said.append(line.rstrip())
                elif on_progress:
                    on_progress(len(heard.steps))
            code = process.wait()
        finally:
            timer.cancel()
            _end(process)
            beside.join(GRACE_SECONDS)
    if late.is_set():
        raise GateError(f"--live: pulumi preview is not done after {timeout_s:g} s: give more by --timeout")
    return code


def _hear(line: str, heard: _Heard) -> bool:
    """Takes in one line of the CLI's; False where it is no event."""
    try:
        event = json.loads(line)
    except ValueError:
        return False
    if not isinstance(event, dict) or "sequence" not in event:
        return False
    if step := event.get("resourcePreEvent"):
        heard.steps.append(step["metadata"])
    if (said := event.get("diagnosticEvent")) and said["severity"] == "error":
        heard.errors.append(said["message"].strip())
    heard.summary = heard.summary or "summaryEvent" in event
    return True


def _end(process: subprocess.Popen[str]) -> None:
    """Ends the engine: asked first, so that it ends its plugins; then with all that it started."""
    if process.poll() is not None:
        return
    process.send_signal(signal.SIGINT)
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(GRACE_SECONDS)
    if process.poll() is None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
