"""Records a program in a process of its own: started by path, with the program's own interpreter.

It reads one JSON object from stdin and answers on the file descriptor that it is given, one JSON object a line:
progress, resources, and last either `end` or `error`. What the program prints cannot spoil that.
"""

from __future__ import annotations

import atexit
import contextlib
import importlib
import importlib.util
import json
import os
import runpy
import select
import signal
import sys
import threading
import time
import traceback
from pathlib import Path
from types import ModuleType
from typing import Any

HERE = Path(__file__).resolve().parent
NAME = "gpuyard.review.recording"
PRIVATE_NAME = "_gpuyard_recording"
PROGRESS_SECONDS = 0.1


def main() -> None:
    """Answers, and ends the process without waiting for the program's threads."""
    # Its own folder, which Python put there, would let a program import the recorder's modules by mistake.
    sys.path[:] = [entry for entry in sys.path if not entry or Path(entry).resolve() != HERE]
    descriptor = int(sys.argv[1])
    os.set_inheritable(descriptor, False)
    threading.Thread(target=_end_unheard, args=(descriptor,), daemon=True).start()
    with open(descriptor, "w", encoding="utf-8") as pipe:
        _answer(json.load(sys.stdin), lambda line: _write(pipe, line))
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError):
            stream.flush()
    os._exit(0)


def _end_unheard(descriptor: int) -> None:
    """Ends this process, and all that the program started in its group, once nobody reads the answer: a review that is
    killed cannot do it."""
    answer = select.poll()
    # Without any event asked for, only its reader's end is told.
    answer.register(descriptor, 0)
    answer.poll()
    os.killpg(os.getpgrp(), signal.SIGKILL)


def _write(pipe: Any, line: dict[str, Any]) -> None:
    pipe.write(json.dumps(line, sort_keys=True, separators=(",", ":")) + "\n")
    if "resource" not in line:
        pipe.flush()


def _answer(given: dict[str, Any], write: Any) -> None:
    try:
        importlib.import_module("pulumi")
    except ImportError as error:
        write({"error": {"kind": "sdk", "message": str(error)}})
        return
    _load_package()
    session_module = importlib.import_module(f"{_package_name()}.session")
    levers = importlib.import_module(f"{_package_name()}.levers")
    using = levers.ALL if given["levers"] is None else frozenset(given["levers"])
    progress = _Progress(write)
    session = session_module.Session(
        given["project"],
        given["stack"],
        given["config"],
        given["secret_keys"],
        Path(given["root"]),
        using=using,
        on_progress=progress,
    )
    progress.secrets = session.recorder.secrets
    if "collector" in session.levers:
        levers.collector()
    try:
        recording = session.run(lambda: _run_program(given))
    except BaseException as error:
        write({"error": _described(error, session), "secrets": sorted(session.recorder.secrets)})
        return
    for resource in recording.resources:
        write({"resource": resource})
    write({"end": {"log": recording.log}, "secrets": sorted(session.recorder.secrets)})


class _Progress:
    """Tells the parent now and then how far the program is, and which secrets to keep out of its output."""

    def __init__(self, write: Any) -> None:
        self.secrets: set[str] = set()
        self._write, self._told, self._next = write, set[str](), 0.0

    def __call__(self, count: int) -> None:
        now = time.monotonic()
        if now >= self._next:
            self._next = now + PROGRESS_SECONDS
            self._write({"progress": count, "secrets": sorted(self.secrets - self._told)})
            self._told |= self.secrets


def _run_program(given: dict[str, Any]) -> None:
    # As Pulumi's own entry: the folder of the program, or a file in it, run as __main__.
    sys.argv = [given["program"]]
    runpy.run_path(given["program"], run_name="__main__")


def _package_name() -> str:
    return NAME if NAME in sys.modules else PRIVATE_NAME


def _load_package() -> ModuleType:
    """This very package: under its own name where that is it, under a private one where there is none or another."""
    try:
        spec = importlib.util.find_spec(NAME)
    except ImportError:
        spec = None
    if spec is not None and spec.origin is not None and Path(spec.origin).resolve().parent == HERE:
        return importlib.import_module(NAME)
    spec = importlib.util.spec_from_file_location(
        PRIVATE_NAME, HERE / "__init__.py", submodule_search_locations=[str(HERE)]
    )
    if spec is None or spec.loader is None:
        raise ImportError(f"{HERE} cannot be loaded")
    module = importlib.util.module_from_spec(spec)
    sys.modules[PRIVATE_NAME] = module
    spec.loader.exec_module(module)
    return module


def _described(error: BaseException, session: Any) -> dict[str, Any]:
    """What happened, and where in the program's own files."""
    import pulumi

    kind, message = "raised", "".join(traceback.format_exception_only(type(error), error)).strip()
    if isinstance(error, pulumi.RunError):
        kind, message = "refused", str(error)
    elif isinstance(error, SystemExit):
        kind, message = "exit", f"sys.exit({'' if error.code is None else repr(error.code)})"
    elif type(error).__name__ in ("UnansweredError", "SameUrnError"):
        kind, message = "recorder", str(error)
    place = session.place_of(error)
    if isinstance(error, SyntaxError) and error.filename:
        name = session.recorder.sources.relative(error.filename)
        place = f"{name}:{error.lineno}" if name else place
    return {"kind": kind, "message": session.masked(message), "where": place, "pumped": session.pumped}


if __name__ == "__main__":
    main()
