"""Rules and findings as the engine's protocol has them."""

from __future__ import annotations

from collections.abc import Iterable
from importlib.metadata import version
from typing import Any

from pulumi.runtime.proto import analyzer_pb2

from gpuyard.review.analyzer.levels import LEVELS
from gpuyard.review.evaluation.findings import Finding
from gpuyard.review.evaluation.rules import Rule

PACK = "gpuyard"
VERSION = version("gpuyard")

_SEVERITIES = {
    "critical": analyzer_pb2.POLICY_SEVERITY_CRITICAL,
    "high": analyzer_pb2.POLICY_SEVERITY_HIGH,
    "medium": analyzer_pb2.POLICY_SEVERITY_MEDIUM,
    "low": analyzer_pb2.POLICY_SEVERITY_LOW,
}


def pack(rules: Iterable[Rule]) -> Any:
    """What the engine shows of the pack and its rules."""
    return analyzer_pb2.AnalyzerInfo(
        name=PACK,
        displayName=PACK,
        version=VERSION,
        supportsConfig=True,
        description="Quotas, isolation, supply chain and cost of GPU infrastructure",
        policies=[_policy(rule) for rule in rules],
    )


def _policy(rule: Rule) -> Any:
    whole = rule.scope == "stack"
    return analyzer_pb2.PolicyInfo(
        name=rule.id,
        displayName=rule.title,
        description=rule.description,
        enforcementLevel=LEVELS[rule.level],
        severity=_SEVERITIES[rule.severity],
        policy_type=analyzer_pb2.POLICY_TYPE_STACK if whole else analyzer_pb2.POLICY_TYPE_RESOURCE,
        remediation_steps=rule.remediation,
        tags=[rule.catalogue, *rule.frameworks, *rule.cves],
    )


def diagnostic(finding: Finding, rule: Rule, level: Any) -> Any:
    """A finding, where it is, and what to do."""
    where = f" ({finding.path})" if finding.path and finding.path not in finding.message else ""
    waived = f"[{finding.waiver.said}] " if finding.waiver else ""
    message = f"{waived}{finding.message}{where}. {finding.remediation}"
    return _diagnostic(rule, message=message, urn=finding.urn, level=level)


def loosened(rule: Rule, how: str, urn: str) -> Any:
    """That a rule is applied less strictly than it is written."""
    message = f"this rule {how} here: --policy-pack-config says so, and the rule itself is {rule.level}"
    return _diagnostic(rule, message=message, urn=urn, level=analyzer_pb2.ADVISORY)


def not_asked(rules: Iterable[str]) -> list[Any]:
    """Rules that have said nothing of a resource: the engine's summary does not call it fit for them."""
    reason = "looks at other resources, or at all of them"
    return [analyzer_pb2.PolicyNotApplicable(policy_name=rule, reason=reason) for rule in rules]


def _diagnostic(rule: Rule, *, message: str, urn: str, level: Any) -> Any:
    return analyzer_pb2.AnalyzeDiagnostic(
        policyName=rule.id,
        policyPackName=PACK,
        policyPackVersion=VERSION,
        description=rule.title,
        message=message,
        enforcementLevel=level,
        urn=urn,
        severity=_SEVERITIES[rule.severity],
    )
