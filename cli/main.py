"""The `gpuyard` command's outermost part: whatever happens, an exit code that says so, and never a pass by mistake."""

from __future__ import annotations

import os
import signal
import sys
import traceback
from types import FrameType
from typing import NoReturn

UNDECIDED = 3
INTERRUPTED = 128 + signal.SIGINT
TRACEBACK = "GPUYARD_TRACEBACK"
"""Environment variable that shows the traceback of an error inside gpuyard. It may quote values of the program."""


def main() -> NoReturn:
    """Runs the command and ends the process."""
    for number in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) != signal.SIG_IGN:  # nohup's
            signal.signal(number, _terminated)
    sys.exit(_code())


def _code() -> int:
    try:
        # Here, so that an installation that is not whole is an error like any other.
        from gpuyard.cli.commands import run

        return run()
    except KeyboardInterrupt:
        return INTERRUPTED
    except BaseException as error:
        if isinstance(error, SystemExit) and isinstance(error.code, int) and error.code > 0:
            return error.code  # Ours for a signal, click's for a reader that is gone; a 0 would pass for a verdict.
        # The message of an error that nobody expected may quote a secret, so it is shown on demand only.
        if os.environ.get(TRACEBACK):
            traceback.print_exc()
        where = _where(error)
        print(f"the gate could not decide: an error inside gpuyard, {type(error).__name__} in {where}", file=sys.stderr)
        print(f"set {TRACEBACK}=1 to see all of it, and please report it", file=sys.stderr)
        return UNDECIDED


def _where(error: BaseException) -> str:
    """The innermost place that is gpuyard's own."""
    frames = [(frame.f_globals.get("__name__", ""), line) for frame, line in traceback.walk_tb(error.__traceback__)]
    name, line = next((one for one in reversed(frames) if one[0].startswith("gpuyard.")), frames[-1])
    return f"{name}:{line}"


def _terminated(number: int, _: FrameType | None) -> NoReturn:
    """Raises, so that what was started is ended too: the default would leave it running."""
    raise SystemExit(128 + number)
