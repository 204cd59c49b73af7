"""Ways in that are no program: a stored document, the state of a stack, plain manifests.

Each gives what a recorded program gives, so that one way leads on from there. What judges is never taken from what is
judged: environment, limits, cost and capacity are worked out anew.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from gpuyard.review.recording import Recording
from gpuyard.review.unseen import Unseen


@dataclass(frozen=True, slots=True)
class Given:
    """A stack, as if its program had been recorded."""

    recording: Recording
    hidden: list[Unseen] = field(default_factory=list)
    """What this way does not show, and no rule can judge therefore."""
