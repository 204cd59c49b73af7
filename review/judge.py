"""From a recorded program to a verdict: the one way that the review, the gate and the tests take."""

from __future__ import annotations

from dataclasses import dataclass, field

from gpuyard.review import document as documents
from gpuyard.review.capacity import capacity
from gpuyard.review.changes import Change
from gpuyard.review.cost import cost
from gpuyard.review.document import Document
from gpuyard.review.evaluation.evaluate import Policies, environment_of, evaluate
from gpuyard.review.evaluation.findings import Finding
from gpuyard.review.node_groups import node_groups
from gpuyard.review.recording import Recording
from gpuyard.review.unseen import Unseen, unseen


@dataclass(frozen=True, slots=True)
class Review:
    """A stack, as it would be, and what the rules say of it."""

    document: Document
    findings: list[Finding]
    engine: str
    """The engine that answered, with its version."""
    unseen: list[Unseen]
    """Parts of the stack that hide resources from the rules."""
    changes: list[Change] | None = None
    """What a deployment would do to what is there already; None where no engine was asked."""
    failures: list[str] = field(default_factory=list)
    """Why the engine itself would not deploy, as it says it: something protected would be replaced, for example."""

    @property
    def refused(self) -> bool:
        """Whether a finding, or the engine itself, denies the deployment."""
        return bool(self.failures) or any(finding.denies for finding in self.findings)


def describe(recording: Recording, policies: Policies, *, date: str) -> Document:
    """What a recorded program would be, with its cost and capacity as of `date` (YYYY-MM-DD); no rule is asked."""
    return describe_in(recording, environment_of(recording.stack, policies), date=date)


def describe_in(recording: Recording, environment: str, *, date: str) -> Document:
    """The same, where its environment is known already."""
    document = documents.build(recording, date=date, environment=environment)
    groups = node_groups(document["resources"], document["default_providers"])
    document["capacity"] = capacity(groups, document["resources"])
    document["cost"] = cost(groups, document["resources"])
    return document


def judge(recording: Recording, policies: Policies, *, date: str) -> Review:
    """Judges a recorded program as of `date` (YYYY-MM-DD).

    Raises GateError when the rules cannot be applied as a whole.
    """
    document = describe(recording, policies, date=date)
    verdict = evaluate(document, policies)
    documents.hide(document, verdict.plain_secrets)
    return Review(document, verdict.findings, verdict.engine, unseen(document["resources"]))
