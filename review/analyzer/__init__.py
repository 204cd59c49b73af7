"""The policy pack: judges each resource while Pulumi's engine registers it, by the rules and limits of the review."""

from __future__ import annotations

import signal
import sys
from pathlib import Path


def main(directory: Path | None = None) -> None:
    """Serves the engine that has started this program, until it goes.

    `directory` is where the program's own policies are: by default that of the nearest Pulumi.yaml, for the engine
    starts an executable where the program is.
    """
    # The engine interrupts a plugin that is to leave, perhaps while it still loads; Python's answer is a traceback.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    try:
        from gpuyard.review.analyzer.process import run
    except (ImportError, SyntaxError) as error:
        sys.exit(f"{sys.executable} cannot load gpuyard: {error}: name a Python that has it in GPUYARD_PYTHON")

    run(directory)
