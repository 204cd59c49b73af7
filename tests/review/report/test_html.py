"""The HTML page as text: what is in it, what is not, and what cannot break out of it. Chromium opens it in
tests/browser."""

from __future__ import annotations

import base64
import hashlib
import re
from dataclasses import replace
from html.parser import HTMLParser
from typing import Any

import pytest
from broken_stack import broken
from refused_programs import GITHUB, HUGGING_FACE

from gpuyard.review.judge import Review
from gpuyard.review.report.charts import group_bars, tenant_bars
from gpuyard.review.report.html import to_html
from gpuyard.review.report.tree import DEEPEST, tree

Json = dict[str, Any]
VOID = {"meta", "link", "input", "br", "rect", "line"}


class Elements(HTMLParser):
    """Every element with its attributes; an error where one closes that is not open."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self._open: list[str] = []
        self.feed(text)
        self.close()
        assert self._open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))
        if tag not in VOID:
            self._open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag


def hostile() -> Review:
    """Names and messages that would be markup, or end one."""
    text = "</style></script><script>alert(1)</script><img src=x onerror=alert(2)>\"'`{{7*7}}`"
    review = broken()
    resources = [one | {"name": text + one["name"], "source": f"{text}:1"} for one in review.document["resources"]]
    document = review.document | {"resources": resources, "stack": text, "project": text}
    finding = replace(review.findings[0], message=text, remediation=text, path=f"/{text}", rule=text)
    return replace(review, document=document, findings=[finding], failures=[text], engine=text)


@pytest.mark.parametrize("make", [broken, hostile])
def test_the_page_is_whole_and_has_no_script_style_or_handler_but_its_own(make: Any) -> None:
    found = Elements(to_html([make()])).found
    tags = [tag for tag, _ in found]
    assert (tags.count("script"), tags.count("style"), tags.count("img")) == (1, 1, 0)
    attributes = {name for _, given in found for name in given}
    assert [name for name in attributes if name.startswith("on") or name in ("style", "src", "srcset", "action")] == []
    links = {given["href"] for tag, given in found if tag in ("a", "link")}
    assert all(str(link).startswith("#") for link in links - {"data:,"})
    ids = [given["id"] for _, given in found if "id" in given]
    assert len(ids) == len(set(ids))
    assert {str(link)[1:] for link in links - {"data:,"}} <= {*ids}


def test_the_policy_allows_the_pages_own_script_and_style_by_digest_and_nothing_else() -> None:
    text = to_html([broken()])
    policy = next(given["content"] for tag, given in Elements(text).found if tag == "meta" and "http-equiv" in given)

    def digest(tag: str) -> str:
        (inner,) = re.findall(rf"<{tag}>(.*?)</{tag}>", text, re.DOTALL)
        return base64.b64encode(hashlib.sha256(inner.encode()).digest()).decode()

    assert policy == (
        f"default-src 'none'; style-src 'sha256-{digest('style')}'; script-src 'sha256-{digest('script')}'; "
        "img-src data:; base-uri 'none'; form-action 'none'"
    )


def test_no_secret_is_in_the_page() -> None:
    text = to_html([broken()])
    assert HUGGING_FACE not in text
    assert GITHUB not in text
    assert "0123456789abcdefABCDEF" not in text


def test_two_pages_of_one_review_are_equal_and_a_page_of_none_is_whole() -> None:
    assert to_html([broken()]) == to_html([broken()])
    assert to_html([broken()]).startswith("<!doctype html>\n")
    assert "No stack was reviewed" in to_html([])
    Elements(to_html([]))


def test_every_finding_change_quota_and_rule_is_on_the_page() -> None:
    text = re.sub(r"<[^>]+>", "", to_html([broken()]))
    for finding in broken().findings:
        assert finding.rule in text
    for said in (
        "waiver OPS-7 by jane until 2026-12-31: the vendor&#39;s fix comes with release 7",
        "replace /vpcConfig",
        "resource h100 cannot be replaced: it is protected",
        "Decided at the deployment",
        "not judged, what these make: ",
        "chart evil",
        "fraud",
    ):
        assert said in text
    assert re.search(r"REPLACE\s+eks.NodeGroup\s+bare\s+because of instanceTypes", text)


def test_bars_are_parts_of_the_longest_and_a_group_without_a_price_has_none() -> None:
    def line(urn: str, *month: float) -> Json:
        return {"urn": urn, "month": dict(zip(("min", "initial", "max"), month, strict=True)) if month else None}

    bars = group_bars({"lines": [line("a", 0, 50, 200), line("b"), line("c", 0, 0, 0)]})
    assert [*bars] == ["a", "c"]
    assert (bars["a"].least, bars["a"].start, bars["a"].most) == (0, 25, 100)
    assert bars["c"].most == 0
    tenants = {
        "over": {"quota": 50.0, "worst": 200.0, "budget": 100},
        "none": {"quota": 10.0, "worst": 20.0, "budget": None},
        "unknown": {"quota": None, "worst": None, "budget": 10},
    }
    found = tenant_bars({"tenants": tenants})
    assert [*found] == ["over", "none"]
    assert (found["over"].start, found["over"].most, found["over"].limit, found["over"].over) == (25, 100, 50, True)
    assert (found["none"].limit, found["none"].over) == (None, False)


def nested(depth: int) -> list[Json]:
    parents = ["", *(f"u{i}" for i in range(depth))]
    return [
        {
            "urn": f"u{i}",
            "type": "a:b:C",
            "name": f"n{i}",
            "parent": parents[i],
            "custom": i == depth - 1,
            "unknown": [],
        }
        for i in range(depth)
    ]


def test_a_tree_has_every_resource_once_however_deep_and_also_where_parents_go_in_a_circle() -> None:
    deep = nested(5000)
    steps = tree(deep, [])
    named = [step.urn for step in steps if step.what != "close"]
    assert sorted(named) == sorted(one["urn"] for one in deep)
    assert sum(step.what == "open" for step in steps) == sum(step.what == "close" for step in steps) == DEEPEST
    circle = [one | {"parent": "u2" if one["urn"] == "u0" else one["parent"]} for one in nested(3)]
    assert [step.urn for step in tree(circle, []) if step.what != "close"] == ["u0", "u1", "u2"]


def test_a_branch_counts_the_findings_below_it_without_those_that_are_waived() -> None:
    first = broken().findings[0]
    waived = next(finding for finding in broken().findings if finding.waiver)
    found = [replace(first, urn="u2"), replace(first, urn="u1", level="advisory"), replace(waived, urn="u2")]
    steps = {step.urn: step for step in tree(nested(3), found) if step.urn}
    assert [(steps[urn].findings, steps[urn].denies, steps[urn].below) for urn in ("u0", "u1", "u2")] == [
        (2, True, 1),
        (2, True, 1),
        (1, True, 0),
    ]
