"""From a real preview to a verdict: what the engine plans, judged as a recording is."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from gpuyard.review.errors import GateError, InputError
from gpuyard.review.evaluation.evaluate import Policies
from gpuyard.review.gate import REFUSAL
from gpuyard.review.judge import Review, judge
from gpuyard.review.live.listener import Listener, listening
from gpuyard.review.live.preview import Preview, preview
from gpuyard.review.program.project import Project
from gpuyard.review.program.record import record_program

LIVE_SECONDS = 1800.0
"""A preview asks clouds and clusters, which may be slow."""


def live_review(
    project: Project, stack: str, policies: Policies, tell: Callable[[int], None], *, date: str, timeout_s: float
) -> Review:
    """Judges what a preview of a stack plans, as of `date` (YYYY-MM-DD), and says what it would change.

    Raises InputError where the preview fails for another reason than the program's own gate, GateError where it
    cannot be read as a whole.
    """
    with listening(policies) as (pack, listener):
        seen = preview(stack, project.root, pack=pack, timeout_s=timeout_s, on_progress=tell)
    depends_on: Mapping[str, Sequence[str]] | None = listener.depends_on
    if depends_on is None:
        depends_on = _of_a_refused(project, stack, seen, listener)
    review = judge(listener.recording(depends_on), policies, date=date)
    return replace(review, changes=seen.changes)


def _of_a_refused(project: Project, stack: str, seen: Preview, listener: Listener) -> Mapping[str, Sequence[str]]:
    """Dependencies of a program that its own gate has failed, after all of it was planned: those of a recording."""
    if not any(error.endswith(REFUSAL) for error in seen.errors):
        raise InputError("--live: pulumi preview fails:\n" + "\n".join(seen.errors))
    recording = record_program(project, stack)
    recorded = {resource["urn"]: resource["options"].get("depends_on", ()) for resource in recording.resources}
    if missing := sorted({*recorded} - listener.urns):
        raise GateError(f"--live: the preview ended before {missing[0]} and {len(missing) - 1} more were planned")
    return recorded
