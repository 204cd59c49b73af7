"""The report as SARIF 2.1.0, for code scanning: a run a stack, a rule a guardrail, a result a finding.

Source: OASIS, Static Analysis Results Interchange Format (SARIF) 2.1.0, errata 1.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib.metadata import version
from typing import Any
from urllib.parse import quote

from gpuyard.review import document as documents
from gpuyard.review.evaluation.findings import Finding
from gpuyard.review.evaluation.rules import Rule
from gpuyard.review.judge import Review
from gpuyard.review.report.difference import is_new
from gpuyard.review.report.origin import Origin, Places

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"

SECURITY_SEVERITY = {"critical": "9.5", "high": "8.0", "medium": "5.5", "low": "2.5"}
"""In the middle of the bands that code scanning reads. Source: GitHub, SARIF support for code scanning: over 9.0 is
critical, 7.0 to 8.9 high, 4.0 to 6.9 medium, 0.1 to 3.9 low."""

Json = dict[str, Any]


def to_sarif(reviews: list[Review], origin: Origin = Origin()) -> str:  # noqa: B008 - it is frozen
    """One log for all reviews; equal reviews give equal bytes. Paths are relative to the repository's root."""
    return documents.dumps({"$schema": SCHEMA, "version": "2.1.0", "runs": [_run(one, origin) for one in reviews]})


def _run(review: Review, origin: Origin) -> Json:
    document, places = review.document, Places(review, origin)
    rules = sorted({*review.rules, *(finding.rule for finding in review.findings)})
    index = {rule: position for position, rule in enumerate(rules)}
    driver = {
        "name": "gpuyard",
        "version": version("gpuyard"),
        "rules": [_rule(rule, review.rules.get(rule)) for rule in rules],
    }
    return {
        "tool": {"driver": driver},
        # Code scanning keeps what it was told of each category apart, so one stack's run does not close another's.
        "automationDetails": {"id": f"gpuyard/{document['project']}/{document['stack']}/"},
        "columnKind": "unicodeCodePoints",
        "originalUriBaseIds": {"SRCROOT": {"description": {"text": "The root of the repository."}}},
        "invocations": [{"executionSuccessful": True, "exitCode": int(review.refused)}],
        "results": [
            _result(finding, index[finding.rule], places) | _state(finding, review) for finding in review.findings
        ],
        "properties": {
            "date": document["date"],
            "engine": review.engine,
            "environment": document["environment"],
            "stack": document["stack"],
            "verdict": "refused" if review.refused else "may deploy",
        },
    }


def _rule(rule_id: str, rule: Rule | None) -> Json:
    """A finding that no rule of the pack gives, such as one about a waiver, is a rule of its name alone."""
    if rule is None:
        return {"id": rule_id}
    tags = ["gpu", rule_id.partition("/")[0], *rule.frameworks, *rule.cves]
    return {
        "id": rule_id,
        "name": rule_id,
        "shortDescription": {"text": rule.title},
        "fullDescription": {"text": rule.description},
        "help": {"text": rule.remediation},
        "defaultConfiguration": {"level": "error" if rule.level == "mandatory" else "warning"},
        "properties": {
            "catalogue": rule.catalogue,
            "onUnknown": rule.on_unknown,
            "problem.severity": "error" if rule.level == "mandatory" else "warning",
            "security-severity": SECURITY_SEVERITY[rule.severity],
            "tags": list(dict.fromkeys(tags)),
        },
    }


def _result(finding: Finding, rule_index: int, places: Places) -> Json:
    fingerprint = places.fingerprint(finding)
    result = {
        "ruleId": finding.rule,
        "ruleIndex": rule_index,
        "level": level(finding),
        "message": {"text": f"{finding.message}. {finding.remediation}"},
        "locations": [_location(finding, places)],
        # Code scanning knows findings again by the second name; lines say nothing where one line makes a whole stack.
        "partialFingerprints": {"gpuyardIdentity/v1": fingerprint, "primaryLocationLineHash": fingerprint},
        "properties": {
            "denies": finding.denies,
            "level": finding.level,
            "path": finding.path,
            "severity": finding.severity,
            "status": finding.status,
        },
    }
    if finding.status == "waived":
        result["suppressions"] = [_suppression(finding)]
    return result


def _state(finding: Finding, review: Review) -> Json:
    """Whether the change brings it, where there is something to compare with."""
    if review.comparison is None or review.comparison.base is None:
        return {}
    return {"baselineState": "new" if is_new(finding, review) else "unchanged"}


def level(finding: Finding) -> str:
    """error, warning or note: what is not decided is a step below what is wrong."""
    status = finding.waiver.status if finding.waiver else finding.status
    if status == "undetermined":
        return "warning" if finding.level == "mandatory" else "note"
    return "error" if finding.level == "mandatory" else "warning"


def _suppression(finding: Finding) -> Json:
    return {
        "kind": "external",
        "status": "accepted",
        "justification": finding.waiver.said if finding.waiver else "waived",
    }


def _location(finding: Finding, places: Places) -> Json:
    place, resource = places.place(finding), places.resource(finding)
    physical: Json = {"artifactLocation": {"uri": quote(place.file), "uriBaseId": "SRCROOT"}}
    # A region is required by code scanning, also where only the file is known.
    physical["region"] = {"startLine": place.line}
    return {"physicalLocation": physical, "logicalLocations": [_logical(finding, resource)]}


def _logical(finding: Finding, resource: Mapping[str, Any] | None) -> Json:
    name = resource["name"] if resource else finding.urn.rpartition("::")[2]
    return {"name": name, "fullyQualifiedName": f"{finding.urn}{finding.path}", "kind": "resource"}
