"""The shape of the JSON report, as typed models, and the JSON schema that follows from them.

A later version may add fields; what is here keeps its name and its meaning within one `format`.
"""

from __future__ import annotations

from typing import Any, Literal

from pydantic import JsonValue, TypeAdapter
from pydantic.json_schema import SkipJsonSchema

from gpuyard.review.report.document_schema import Document, Part

DIALECT = "https://json-schema.org/draft/2020-12/schema"


class Operation(Part):
    """One step of a patch of a resource's inputs, as JSON Patch (RFC 6902) has it."""

    op: Literal["add", "replace", "remove"]
    path: str
    value: JsonValue
    """Null for remove."""


class Waived(Part):
    """Why a finding does not deny."""

    kind: Literal["waiver", "break-glass"]
    ticket: str
    approver: str
    reason: str
    until: str
    """The last day, YYYY-MM-DD; of break-glass the moment, YYYY-MM-DDTHH:MM:SSZ."""
    status: Literal["violation", "undetermined", "waived"]
    """What the finding would be without it."""


class Finding(Part):
    """One thing that is wrong, or that cannot be decided yet."""

    rule: str
    severity: Literal["critical", "high", "medium", "low"]
    level: Literal["mandatory", "advisory"]
    """A mandatory finding denies the deployment, unless it is waived."""
    status: Literal["violation", "undetermined", "waived"]
    urn: str
    """The resource, or the stack."""
    path: str
    """JSON pointer into the resource's inputs, or into the document where `urn` is the stack's."""
    message: str
    remediation: str
    patch: list[Operation]
    """What would cure it, where the rule knows."""
    waiver: Waived | None
    known: bool
    """Whether it was there before the change that is reviewed, and only new ones deny."""
    fingerprint: str
    """SHA-256 that stays the same as long as it is the same finding, whatever its message says."""


class Quota(Part):
    """One quota as the reports show it."""

    level: str
    """account, cluster or budget."""
    what: str
    need: str
    limit: str
    """`?` where it is not known."""
    note: str
    used: float | None
    """The need as a part of the limit; null where one is not known, or there is no limit."""


class Unseen(Part):
    """A part of the stack that no rule has judged."""

    urn: str
    what: str


class Change(Part):
    """What a deployment would do to one resource that is there."""

    urn: str
    operation: Literal["create", "update", "replace", "delete", "read", "import", "refresh", "same"]
    because: list[str]
    """Inputs that differ; of a replacement those that force it."""
    lost: str
    """What goes with it; empty where that is nothing but itself."""


class Commits(Part):
    """What was compared, as its repository calls it."""

    ref: str
    """What the caller named: whose rules, limits and waivers have judged."""
    rules: str
    """Its commit."""
    base: str
    """The commit that is compared with."""
    head: str
    proposed: list[str]
    """Files of rules, limits, waivers, prices and quotas that the change would change: they have judged nothing."""
    notes: list[str]


class Delta(Part):
    """A number before and after; before is null where there was no review."""

    base: float | None
    head: float


class Deltas(Part):
    """US dollars a month, known prices only."""

    min: Delta
    initial: Delta
    max: Delta


class Comparison(Part):
    """What a change changes."""

    commits: Commits
    why: str
    """Why there is no review of the base; empty where there is one."""
    only_new: bool
    """Whether only new findings deny."""
    new: list[str]
    """Fingerprints of findings that the base does not have."""
    fixed: list[Finding]
    """Findings of the base that are gone."""
    unchanged: list[str]
    """Fingerprints of findings that both have."""
    changes: list[Change]
    cost: Deltas
    accelerators: Delta
    """That scalers may grow to."""


class Report(Part):
    """One stack's review."""

    format: Literal["gpuyard.report/1"]
    verdict: Literal["may deploy", "refused"]
    engine: str
    """What judged it, with its version."""
    rules: list[str]
    """The rules that judged: one without a finding has passed."""
    findings: list[Finding]
    undecided: list[Finding]
    """What is decided at the deployment only, and neither denied nor warned of before."""
    quotas: list[Quota]
    unseen: list[Unseen]
    document: Document
    changes: list[Change] | SkipJsonSchema[None] = None
    """With --live: what differs from what is there."""
    failures: list[str] | SkipJsonSchema[None] = None
    """With --live: why the engine itself would not deploy."""
    comparison: Comparison | SkipJsonSchema[None] = None
    """With --base: what the change changes."""


def report_schema() -> dict[str, Any]:
    """The JSON schema of what `gpuyard review --format json` prints."""
    schema = TypeAdapter(list[Report]).json_schema()
    return {"$schema": DIALECT, "title": "gpuyard review --format json", **schema}
