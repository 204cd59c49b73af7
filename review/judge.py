"""From a recorded program to a verdict: the one way that the review, the gate and the tests take."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from gpuyard.review import document as documents
from gpuyard.review.capacity import capacity
from gpuyard.review.changes import Change
from gpuyard.review.charges import of_group, of_resource
from gpuyard.review.comparison import Comparison, deltas
from gpuyard.review.compatibility import compatibility
from gpuyard.review.cost import cost
from gpuyard.review.days import check_day
from gpuyard.review.document import Document
from gpuyard.review.evaluation.evaluate import Policies, environment_of, evaluate
from gpuyard.review.evaluation.findings import Finding
from gpuyard.review.evaluation.rules import Rule
from gpuyard.review.node_group import NodeGroup
from gpuyard.review.node_groups import node_groups
from gpuyard.review.prices import CATALOGUE, Prices, prices
from gpuyard.review.quotas import Snapshot, check_given, snapshots
from gpuyard.review.recording import Recording, Resource
from gpuyard.review.unseen import Unseen, unseen
from gpuyard.review.volumes import of_objects
from gpuyard.review.windows import windows


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
    limits: dict[str, Any] = field(default_factory=dict)
    """The limits that the rules compared with."""
    rules: Mapping[str, Rule] = field(default_factory=dict)
    """By id, the rules that have judged."""
    undecided: list[Finding] = field(default_factory=list)
    """What is decided at the deployment only, and neither denied nor warned of before."""
    comparison: Comparison | None = None
    """What the change changes; None where no base was given."""

    @property
    def refused(self) -> bool:
        """Whether a finding, or the engine itself, denies the deployment."""
        return bool(self.failures) or any(finding.denies for finding in self.findings)


def describe(recording: Recording, policies: Policies, *, date: str) -> Document:
    """What a recorded program would be, with its cost and capacity as of `date` (YYYY-MM-DD); no rule is asked.

    Raises InputError for a day before that of what gpuyard knows.
    """
    known = snapshots(policies.quotas)
    environment, own = environment_of(recording.stack, policies), prices(policies.prices)
    document = describe_in(recording, environment, date=date, quotas=known, prices=own)
    check_day(date, document["cost"]["lines"] if own == CATALOGUE else ())
    if policies.quotas and policies.quotas.is_file():
        check_given(policies.quotas, known[0], document["capacity"]["groups"])
    return document


def describe_in(
    recording: Recording,
    environment: str,
    *,
    date: str,
    quotas: Sequence[Snapshot] = (),
    prices: Prices = CATALOGUE,
) -> Document:
    """The same, where its environment, the quotas of its accounts and the prices are known already."""
    document = documents.build(recording, date=date, environment=environment)
    resources, defaults = document["resources"], document["default_providers"]
    groups = node_groups(resources, defaults)
    document["capacity"] = capacity(groups, document["resources"], quotas, date)
    document["capacity"]["windows"] = [window for resource in resources for window in windows(resource, date)]
    charges = _charges(groups, resources, defaults, date)
    document["cost"] = cost(groups, resources, date=date, prices=prices, charges=charges)
    document["compatibility"] = compatibility(groups, document["resources"])
    return document


def _charges(
    groups: Sequence[NodeGroup], resources: Sequence[Resource], defaults: Mapping[str, Any], date: str
) -> list[dict[str, Any]]:
    """What a stack costs beside its machines, in the order of the document; disks of nodes come first."""
    by_urn: dict[str, Any] = {**defaults, **{resource["urn"]: resource for resource in resources}}
    return [
        *(charge for group in groups for charge in of_group(group)),
        *(charge for resource in resources for charge in of_resource(resource, by_urn, date)),
        *of_objects(resources, by_urn),
    ]


def judge(recording: Recording, policies: Policies, *, date: str, base: Document | None = None) -> Review:
    """Judges a recorded program as of `date` (YYYY-MM-DD); `base` is what it was before the change that is reviewed.

    Raises GateError when the rules cannot be applied as a whole.
    """
    document = describe(recording, policies, date=date)
    beside = {bound: asdict(delta) for bound, delta in deltas(base, document).items()} if base else {}
    verdict = evaluate({**document, "comparison": {"cost": beside} if beside else {}}, policies)
    documents.hide(document, verdict.plain_secrets)
    return Review(
        document,
        verdict.findings,
        verdict.engine,
        unseen(document["resources"]),
        limits=verdict.limits,
        rules=verdict.rules,
        undecided=verdict.undecided,
    )
