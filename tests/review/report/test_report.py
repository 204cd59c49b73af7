from __future__ import annotations

import io
import json
import re
from copy import deepcopy
from dataclasses import replace
from typing import Any

import pytest
from rich.console import Console

from gpuyard.cli.output import for_file
from gpuyard.review.evaluation.findings import Finding
from gpuyard.review.judge import Review
from gpuyard.review.report.json import to_json
from gpuyard.review.report.markdown import to_markdown
from gpuyard.review.report.summary import money, parts, short_type, span
from gpuyard.review.report.terminal import print_cost, print_review
from gpuyard.review.unseen import Unseen

STACK = "urn:pulumi:dev::p::pulumi:pulumi:Stack::p-dev"


def resource(type_: str, name: str, parent: str = STACK, **more: Any) -> dict[str, Any]:
    return {
        "urn": f"urn:pulumi:dev::p::{type_}::{name}", "type": type_, "name": name, "parent": parent, "provider": "",
        "custom": not type_.startswith("gpuyard:"), "inputs": {}, "unknown": [], "secret": [], "options": {},
    } | more  # fmt: skip


PLATFORM = resource("gpuyard:index:Platform", "dev")
TENANT = resource("gpuyard:index:Tenant", "fraud", PLATFORM["urn"])
RESOURCES = [
    PLATFORM,
    TENANT,
    resource("kubernetes:core/v1:Namespace", "fraud", TENANT["urn"]),
    resource(
        "kubernetes:core/v1:Secret", "s", TENANT["urn"], inputs={"stringData": {"a": "hush"}}, secret=["/stringData"]
    ),
    resource("pulumi:providers:aws", "aws", PLATFORM["urn"]),
    resource("aws:s3/bucket:Bucket", "loose", source="__main__.py:7"),
]
LINE = {
    "urn": "urn:g", "name": "g", "group": "g|1", "machine": "g6.xlarge", "market": "spot", "region": "us-east-1",
    "usd_hour": None, "source": None, "date": None, "upper_bound": False, "accelerators_a_node": 1,
    "nodes": {"min": 0, "initial": 0, "max": 2}, "gpu_hours": {"min": 0, "initial": 0, "max": 1460}, "month": None,
}  # fmt: skip
GROUP = {
    "urn": "urn:g", "name": "g", "machine": "g6.xlarge", "cloud": "aws", "accelerator": "L4", "resource": "nvidia.com/gpu",
    "accelerators_a_node": 1, "nodes": LINE["nodes"], "accelerators": {"min": 0, "initial": 0, "max": 2},
}  # fmt: skip
DOCUMENT: Any = {
    "format": "gpuyard.document/1", "date": "2026-11-30", "project": "p", "stack": "dev", "environment": "development",
    "resources": RESOURCES,
    "cost": {
        "currency": "USD", "hours_a_month": 730, "lines": [LINE], "unknown": ["urn:g"], "shared": None,
        "charges": [], "not_priced": [], "prices": None, "usd_gpu_hour": {"min": None, "initial": None, "max": None},
        "total": {"min": 0, "initial": 0, "max": 0}, "tenants": {"fraud": {"quota": None, "worst": None, "budget": 100}},
    },
    "capacity": {
        "groups": [GROUP], "accelerators": {"L4": 2}, "total": 2,
        "tenants": {"fraud": {"g": {"quota": 1, "borrow": 1, "endpoints_max": 1}}},
    },
}  # fmt: skip
DENIED = Finding(
    "quota/machines",
    "high",
    "mandatory",
    "violation",
    RESOURCES[-1]["urn"],
    "/<a>",
    "no *such* | thing",
    "do",
)
ADVICE = Finding("cost/tags", "low", "advisory", "undetermined", STACK, "", "not known yet", "wait")


def review(*findings: Finding) -> Review:
    return Review(DOCUMENT, list(findings), "an engine 1.0", [Unseen("urn:r", "chart x")])


def printed(one: Review, width: int = 120) -> str:
    text = io.StringIO()
    print_review(one, Console(file=text, width=width, highlight=False))
    return text.getvalue()


def test_components_are_counted_with_what_lies_below_them_and_loose_resources_come_last() -> None:
    found = [(part.name, part.kind, part.resources) for part in parts(RESOURCES)]
    assert found == [("fraud", "Tenant", 2), ("(no component)", "", 1)], "providers are no resources of anybody"


@pytest.mark.parametrize(
    ("type_", "short"),
    [
        ("aws:eks/nodeGroup:NodeGroup", "eks.NodeGroup"),
        ("kubernetes:apps/v1:Deployment", "Deployment"),
        ("gpuyard:index:Tenant", "Tenant"),
        ("random:index/randomId:RandomId", "RandomId"),
    ],
)
def test_types_are_short_and_still_tell_what_they_are(type_: str, short: str) -> None:
    assert short_type(type_) == short


def test_what_is_not_known_is_a_question_mark_never_a_zero() -> None:
    assert (money(None), money(0.4), money(1234567)) == ("?", "$0", "$1,234,567")
    assert (span({"min": None, "max": 4}), span({"min": 2, "max": 2})) == ("? to 4", "2")


def test_a_denied_stack_says_so_with_where_why_and_what_to_do() -> None:
    text = printed(review(DENIED, ADVICE))
    for part in (
        "refused",
        "1 denied, 1 advice",
        "quota/machines",
        "s3.Bucket loose /<a> (__main__.py:7)",
        "no *such* | thing",
        "do",
        "judged by an engine 1.0",
    ):
        assert part in text
    assert "may deploy" not in text


def test_what_to_do_is_said_once_for_all_findings_of_a_rule() -> None:
    other = replace(DENIED, path="/b", message="nor that")
    text = printed(review(replace(DENIED, remediation="Buy another."), replace(other, remediation="Buy another.")))
    assert text.count("Buy another.") == 1
    assert "nor that" in text


def test_advice_alone_does_not_refuse() -> None:
    assert "may deploy" in printed(review(ADVICE))
    assert not review(ADVICE).refused


@pytest.mark.parametrize("width", [40, 80, 200])
def test_a_terminal_of_any_width_gets_the_whole_report(width: int) -> None:
    text = printed(review(DENIED), width)
    assert max(len(line) for line in text.splitlines()) <= width
    assert "".join(["quota/machines"]) in "".join(text.split())


def test_markdown_is_not_broken_by_what_names_contain() -> None:
    text = to_markdown([review(DENIED)])
    assert "no \\*such\\* \\| thing" in text
    assert "s3.Bucket loose /\\<a\\>" in text
    assert "| g\\|1 |" in text
    assert "## dev: refused" in text
    assert "| ? | ? | ? |" in text, "an unknown price"


def test_json_has_no_secret_value() -> None:
    text = to_json([review()])
    assert "hush" not in text
    assert json.loads(text)[0]["verdict"] == "may deploy"


def test_reports_say_how_old_their_prices_are() -> None:
    aged = deepcopy(DOCUMENT)
    aged["cost"]["lines"] = [{**LINE, "date": "2026-07-30"}, {**LINE, "date": "2026-07-20"}, LINE]
    one = Review(aged, [], "an engine 1.0", [])
    for text in (printed(one), to_markdown([one])):
        assert "at prices of 2026-07-20 and 2026-07-30" in text
    assert "at prices of" not in printed(review()), "no price is known"


def test_every_report_says_what_no_rule_has_judged() -> None:
    for text in (printed(review()), to_markdown([review()]), to_json([review()])):
        assert "chart x" in text


def test_what_is_no_machine_is_counted_and_what_has_no_price_is_named() -> None:
    priced: Any = deepcopy(DOCUMENT)
    gateway = {"urn": "u", "name": "a", "what": "NAT gateway", "date": "2026-09-24"}
    priced["cost"] |= {
        "charges": [gateway | {"month": {"min": 32.85, "initial": 32.85, "max": 32.85}}] * 2,
        "not_priced": [gateway | {"what": "objects in the bucket"}] * 3,
        "total": {"min": 65.7, "initial": 65.7, "max": 65.7},
        "usd_gpu_hour": {"min": None, "initial": 2.5, "max": 1.25},
        "prices": {"file": "prices.csv", "rows": 1, "sha256": "0"},
    }
    terminal = for_file(lambda console: print_review(Review(priced, [], "OPA 1.22.3", []), console))
    assert re.search(r"beside machines +\$66 +\$66 +\$66", terminal)
    assert re.search(r"an accelerator-hour +\$2.50 +\$1.25", terminal)
    assert "Not priced  3 x objects in the bucket" in terminal
    alone = for_file(lambda console: print_cost(priced, console))
    assert re.search(r"NAT gateway +2 +\$65.70 +\$65.70 +\$65.70", alone)
    markdown = to_markdown([Review(priced, [], "OPA 1.22.3", [])])
    assert "| beside machines | | | | | $66 | $66 | $66 |" in markdown
    assert "An accelerator-hour costs $1.25 at the most" in markdown
    assert "Prices of prices.csv go over the catalogue's." in markdown
    assert "Not priced: 3 x objects in the bucket." in markdown
