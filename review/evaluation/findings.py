"""What a rule has found, and when two findings are the same one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

SEVERITIES = ("critical", "high", "medium", "low")

Level = Literal["mandatory", "advisory"]
Status = Literal["violation", "undetermined", "waived"]


@dataclass(frozen=True, slots=True)
class Operation:
    """One step of a patch, as JSON Patch (RFC 6902) has it."""

    op: Literal["add", "replace", "remove"]
    path: str
    """JSON pointer into the resource's inputs."""
    value: Any = None
    """None for remove."""


@dataclass(frozen=True, slots=True)
class Waived:
    """Why a finding does not deny."""

    kind: Literal["waiver", "break-glass"]
    ticket: str
    approver: str
    reason: str
    until: str
    """The last day, YYYY-MM-DD; of break-glass the moment, YYYY-MM-DDTHH:MM:SSZ."""
    status: Status
    """What the finding would be without it."""

    @property
    def said(self) -> str:
        """`waiver OPS-7 by jane until 2026-12-31: why`."""
        return f"{self.kind} {self.ticket} by {self.approver} until {self.until}: {self.reason}"


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that is wrong, or that cannot be decided yet, at one place of one resource."""

    rule: str
    """Id of the rule, which is its path: `quota/machines`."""
    severity: str
    level: Level
    """A mandatory finding denies the deployment, an advisory one warns."""
    status: Status
    """undetermined: a value that the rule reads is not known before the deployment. waived: see `waiver`."""
    urn: str
    """The resource; the stack's own URN where the rule judges the stack as a whole."""
    path: str
    """JSON pointer into the resource's inputs, or into the resource document where `urn` is the stack's."""
    message: str
    """The value, the limit and why it is wrong, and by which waiver it does not deny, or no longer. Never a secret."""
    remediation: str
    patch: tuple[Operation, ...] = ()
    """What would cure it, where the rule knows: to the inputs of the resource."""
    waiver: Waived | None = None
    """By what it is waived; None for any other status."""
    known: bool = False
    """Whether it was there before the change that is reviewed, and only new ones deny."""

    @property
    def denies(self) -> bool:
        """Whether the stack must not deploy."""
        return self.level == "mandatory" and self.status != "waived" and not self.known


def order(finding: Finding) -> tuple[object, ...]:
    """Sorting key: what denies first, then by severity, rule and place."""
    return (
        not finding.denies,
        SEVERITIES.index(finding.severity),
        finding.rule,
        finding.urn,
        finding.path,
        finding.status,
        finding.message,
    )


def identity(finding: Finding, resource: Mapping[str, Any] | None) -> tuple[str, str, str, str]:
    """What makes two findings the same: rule, type, Kubernetes name or URN, and path; never the message.

    `resource` is the one that the finding's URN names; None for the stack itself. A Kubernetes object keeps its
    identity when the program gives it another Pulumi name or parent.
    """
    type_ = str(resource["type"]) if resource else ""
    return finding.rule, type_, _kubernetes_name(resource) or finding.urn, finding.path


def _kubernetes_name(resource: Mapping[str, Any] | None) -> str:
    if resource is None or not str(resource["type"]).startswith("kubernetes:"):
        return ""
    inputs = resource["inputs"]
    metadata = inputs.get("metadata") if isinstance(inputs, dict) else None
    name = metadata.get("name") if isinstance(metadata, dict) else None
    if not isinstance(metadata, dict) or not isinstance(name, str):
        return ""
    return f"{metadata.get('namespace') or ''}/{name}"
