"""The policy pack as the language host runs it, from its folder: pulumi preview --policy-pack policies."""

import signal
from pathlib import Path

# The engine interrupts a plugin that is to leave, perhaps while it still loads.
signal.signal(signal.SIGINT, signal.SIG_DFL)

from gpuyard.review.analyzer.process import main  # noqa: E402

main(Path(__file__).resolve().parent.parent)
