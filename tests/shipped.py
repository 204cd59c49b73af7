"""The shipped stacks, reviewed once a worker."""

from __future__ import annotations

import functools
from pathlib import Path

from gpuyard.review.evaluation.evaluate import find_policies
from gpuyard.review.judge import Review, judge
from gpuyard.review.program.record import find_project, record_program

ROOT = Path(__file__).parents[1]
DATE = "2026-11-30"
"""The day of every review here: reports carry it."""


@functools.cache
def reviewed(stack: str) -> Review:
    project = find_project(ROOT)
    return judge(record_program(project, stack), find_policies(ROOT), date=DATE)
