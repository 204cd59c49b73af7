"""From a real preview to a verdict: what the engine plans, judged as a recording is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from gpuyard.review.errors import GateError, InputError
from gpuyard.review.evaluation.evaluate import Policies
from gpuyard.review.gate import REFUSAL
from gpuyard.review.judge import Review, judge
from gpuyard.review.live.listener import Listener, listening
from gpuyard.review.live.preview import preview
from gpuyard.review.program.project import Project
from gpuyard.review.program.record import record_program
from gpuyard.review.recording import Recording


def live_review(
    project: Project, stack: str, policies: Policies, tell: Callable[[int], None], *, date: str, timeout_s: float
) -> Review:
    """Judges what a preview of a stack plans, as of `date` (YYYY-MM-DD), and says what it would change.

    Raises InputError where the preview fails before all is planned, for another reason than the program's own gate;
    GateError where it cannot be read as a whole.
    """
    with listening(policies) as (pack, listener):
        seen = preview(stack, project.root, pack=pack, timeout_s=timeout_s, on_progress=tell)
    if listener.depends_on is not None:
        recording, failures = listener.recording(listener.depends_on), seen.errors
    elif any(error.endswith(REFUSAL) for error in seen.errors):
        recorded = record_program(project, listener.stack, timeout_s=timeout_s, on_progress=tell)
        recording, failures = _whole(listener, recorded), []
    else:
        raise InputError("--live: pulumi preview fails:\n" + "\n".join(seen.errors))
    return replace(judge(recording, policies, date=date), changes=seen.changes, failures=failures)


def _whole(listener: Listener, recorded: Recording) -> Recording:
    """What was heard of a program that its own gate has failed, after all of it was planned: the engine then says no
    dependencies, and a recording does."""
    depends_on = {resource["urn"]: resource["options"].get("depends_on", ()) for resource in recorded.resources}
    if missing := sorted({*depends_on} - listener.urns):
        raise GateError(f"--live: the preview ended before {missing[0]} and {len(missing) - 1} more were planned")
    return listener.recording(depends_on)
