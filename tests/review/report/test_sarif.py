"""SARIF: what code scanning reads of it, and the official schema."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from broken_stack import broken
from jsonschema import Draft4Validator
from made import files

from gpuyard.review.comparison import Commits, compared
from gpuyard.review.evaluation.findings import identity
from gpuyard.review.report.origin import Origin
from gpuyard.review.report.sarif import to_sarif

Json = dict[str, Any]


def run(origin: Origin = Origin()) -> Json:  # noqa: B008
    (found,) = json.loads(to_sarif([broken()], origin))["runs"]
    return found


@pytest.mark.modules
def test_a_report_full_of_findings_is_valid_by_the_official_schema() -> None:
    schema = json.loads((files("sarif") / "sarif-schema-2.1.0.json").read_text())
    Draft4Validator.check_schema(schema)
    validator = Draft4Validator(schema)
    two = json.loads(to_sarif([broken(), replace(broken(), findings=[], rules={})]))
    assert [*map(str, validator.iter_errors(two))] == []
    two["runs"][0]["results"][0]["level"] = "bad"
    assert not validator.is_valid(two), "the schema says something"


def test_every_rule_that_judged_is_a_rule_once_and_each_result_points_to_its_own() -> None:
    found = run()
    rules = found["tool"]["driver"]["rules"]
    assert [rule["id"] for rule in rules] == sorted({*broken().rules})
    assert len(found["results"]) == len(broken().findings) > 100
    assert all(rules[result["ruleIndex"]]["id"] == result["ruleId"] for result in found["results"])


def test_a_fingerprint_is_the_findings_own_and_stays_when_its_message_and_line_change() -> None:
    prints = [result["partialFingerprints"]["gpuyardIdentity/v1"] for result in run()["results"]]
    review = broken()
    by_urn = {one["urn"]: one for one in review.document["resources"]}
    assert len(set(prints)) == len({identity(finding, by_urn.get(finding.urn)) for finding in review.findings}) > 100
    moved = [one | {"source": "other.py:99"} for one in review.document["resources"]]
    changed = replace(
        review,
        document=review.document | {"resources": moved},
        findings=[replace(finding, message="said in other words") for finding in review.findings],
    )
    (again,) = json.loads(to_sarif([changed]))["runs"]
    assert [result["partialFingerprints"]["gpuyardIdentity/v1"] for result in again["results"]] == prints


def test_what_is_waived_is_suppressed_with_ticket_approver_and_end() -> None:
    suppressed = [result for result in run()["results"] if "suppressions" in result]
    assert [result["properties"]["status"] for result in suppressed] == ["waived"]
    (suppression,) = suppressed[0]["suppressions"]
    assert suppression == {
        "kind": "external",
        "status": "accepted",
        "justification": "waiver OPS-7 by jane until 2026-12-31: the vendor's fix comes with release 7",
    }
    assert suppressed[0]["level"] == "error", "as it would be without the waiver"


@pytest.mark.parametrize(
    ("level", "status", "said"),
    [
        ("mandatory", "violation", "error"),
        ("advisory", "violation", "warning"),
        ("mandatory", "undetermined", "warning"),
        ("advisory", "undetermined", "note"),
    ],
)
def test_what_is_not_decided_is_a_step_below_what_is_wrong(level: Any, status: Any, said: str) -> None:
    finding = replace(broken().findings[0], level=level, status=status)
    (found,) = json.loads(to_sarif([replace(broken(), findings=[finding])]))["runs"]
    (result,) = found["results"]
    assert (result["level"], result["properties"]["status"]) == (said, status)


def test_a_place_is_relative_to_the_repository_and_the_stack_itself_is_its_project_file() -> None:
    review = broken()
    odd = ["/etc/passwd:1", "../up.py:1", "a b.py:3", "no line", "x.py:0", 7]
    urns = [one["urn"] for one in review.document["resources"]]
    places = dict(zip(urns, odd, strict=False))
    resources = [one | {"source": places.get(one["urn"], "__main__.py:7")} for one in review.document["resources"]]
    document = review.document | {"resources": resources}
    findings = [replace(review.findings[0], urn=urn) for urn in [*urns[: len(odd) + 1], "urn:pulumi:dev::shop::x::y"]]
    said = replace(review, document=document, findings=findings)
    (found,) = json.loads(to_sarif([said], Origin("infra/gpus")))["runs"]
    at = [result["locations"][0]["physicalLocation"] for result in found["results"]]
    shown = [(one["artifactLocation"]["uri"], one["region"]["startLine"]) for one in at]
    unknown = ("infra/gpus/Pulumi.yaml", 1)
    assert shown == [unknown, unknown, ("infra/gpus/a%20b.py", 3), unknown, unknown, unknown,
                     ("infra/gpus/__main__.py", 7), unknown]  # fmt: skip
    logical = found["results"][0]["locations"][0]["logicalLocations"][0]
    assert logical["fullyQualifiedName"].startswith(findings[0].urn)


def test_a_finding_says_whether_the_change_brings_it_where_there_is_a_base() -> None:
    base = replace(broken(), findings=broken().findings[1:])
    review = compared(broken(), base, Commits("main", "a" * 40, "a" * 40, "b" * 40))
    (found,) = json.loads(to_sarif([review]))["runs"]
    states = [result["baselineState"] for result in found["results"]]
    assert states == ["new", *["unchanged"] * len(base.findings)]
    assert "baselineState" not in run()["results"][0]


def test_runs_of_several_stacks_do_not_close_each_others_alerts() -> None:
    other = replace(broken(), document=broken().document | {"stack": "prod"})
    runs = json.loads(to_sarif([broken(), other]))["runs"]
    assert [one["automationDetails"]["id"] for one in runs] == ["gpuyard/shop/dev/", "gpuyard/shop/prod/"]
