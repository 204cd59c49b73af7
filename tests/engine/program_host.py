"""Runs one Pulumi program in this process: the part of the language host that its child does.

Arguments, settings and exit codes are those of the official `pulumi-language-python-exec`.
"""

from __future__ import annotations

import argparse
import asyncio
import logging
import os
import runpy
import sys
import traceback
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pulumi
import pulumi.runtime

SHOWN = 32
"""Exit code of a program whose error its user has seen."""

THREADS = 4
"""A call to the engine for each resource that is made at once, and room for those that wait."""


def main() -> None:
    """Runs the program that the command line names."""
    given = _arguments()
    pulumi.runtime.set_all_config(pulumi.runtime.get_config_env(), pulumi.runtime.get_config_secret_keys_env())
    pulumi.runtime.configure(
        pulumi.runtime.Settings(
            project=given.project,
            stack=given.stack,
            monitor=given.monitor,
            engine=given.engine,
            parallel=given.parallel,
            dry_run=given.dry_run == "true",
            organization=given.organization,
            root_directory=given.root_directory,
        )
    )
    # As if the program had been started directly.
    sys.argv = [given.program, *given.arguments]
    sys.path.pop(0)
    if given.pwd:
        os.chdir(given.pwd)
    loop = asyncio.new_event_loop()
    asyncio.set_event_loop(loop)
    executor = ThreadPoolExecutor(max(given.parallel, 1) * THREADS)
    loop.set_default_executor(executor)
    # Futures that nobody waits for are how a program ends that failed.
    logging.getLogger("asyncio").setLevel(logging.CRITICAL)
    code = 1
    try:
        loop.run_until_complete(pulumi.runtime.run_in_stack(lambda: runpy.run_path(given.program, run_name="__main__")))
        code = 0
    except pulumi.RunError as error:
        pulumi.log.error(str(error))
    except Exception:
        pulumi.log.error(f"Program failed with an unhandled exception:\n{_trace(Path(given.program))}")
        code = SHOWN
    finally:
        executor.shutdown(wait=True)
        loop.close()
        sys.stdout.flush()
        sys.stderr.flush()
    sys.exit(code)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    for name in ("project", "stack", "monitor", "engine", "pwd", "dry_run", "organization", "root_directory"):
        parser.add_argument(f"--{name}")
    parser.add_argument("--parallel", type=int)
    parser.add_argument("program")
    parser.add_argument("arguments", nargs="*")
    return parser.parse_args()


def _trace(program: Path) -> str:
    """The traceback from the user's own program on: what lies above it is not theirs."""
    own = (program if program.suffix else program / "__main__.py").resolve()
    frames = traceback.extract_tb(sys.exc_info()[2])
    first = next((i for i, frame in enumerate(frames) if Path(frame.filename).resolve() == own), 0)
    return traceback.format_exc(limit=first - len(frames))


if __name__ == "__main__":
    main()
