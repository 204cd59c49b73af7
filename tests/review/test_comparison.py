"""What differs between two reviews: resources, cost and findings, each once and by what it is."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from broken_stack import broken
from documents import DATE, Json, cost, document, kubernetes, pod_spec, resource, workload

from gpuyard.review.comparison import Commits, changes, compared
from gpuyard.review.evaluation.evaluate import find_policies
from gpuyard.review.evaluation.findings import Finding, Waived
from gpuyard.review.judge import Review, judge
from gpuyard.review.recording import Recording
from gpuyard.review.report.difference import is_new, lines, news, sentences
from gpuyard.review.report.html import to_html
from gpuyard.review.report.json import to_json
from gpuyard.review.report.markdown import LIMIT, to_markdown
from gpuyard.review.report.schema import report_schema

COMMITS = Commits("main", "1" * 40, "2" * 40, "3" * 40)
STACK = "urn:pulumi:dev::shop::pulumi:pulumi:Stack::shop-dev"


def pod(name: str = "model", *, urn: str = "", **more: Any) -> Json:
    made = kubernetes(workload("Pod", pod_spec(), name=name), **more)
    return made | ({"urn": urn} if urn else {})


def found(one: Json | str, path: str = "/spec", rule: str = "isolation/privileged", **more: Any) -> Finding:
    urn = one if isinstance(one, str) else one["urn"]
    level, status = more.pop("level", "mandatory"), more.pop("status", "violation")
    return Finding(rule, "high", level, status, urn, path, more.pop("message", "found"), "Do it.", **more)


def review(*findings: Finding, resources: list[Json], **more: Any) -> Review:
    made: Any = document(resources, **more)
    return Review(made, list(findings), "an engine", [])


def beside(head: Review, base: Review | None, **more: Any) -> tuple[list[Finding], list[Finding], list[Finding]]:
    comparison = compared(head, base, COMMITS, **more).comparison
    assert comparison is not None
    return comparison.new, comparison.fixed, comparison.unchanged


def test_findings_are_the_same_by_rule_object_and_path_whatever_they_say() -> None:
    one, moved = pod(), pod(urn="urn:pulumi:dev::shop::kubernetes:core/v1:Pod::renamed")
    kept, gone, come = found(moved, message="other words"), found(one, "/gone"), found(moved, "/come")
    new, fixed, unchanged = beside(review(kept, come, resources=[moved]), review(found(one), gone, resources=[one]))
    assert (new, fixed, unchanged) == ([come], [gone], [kept])


def test_two_objects_of_one_name_are_two_findings_and_who_kept_its_urn_is_the_old_one() -> None:
    one, other = pod(), pod(urn="urn:pulumi:dev::shop::kubernetes:core/v1:Pod::a-second-cluster")
    head = review(found(other), found(one), resources=[one, other])
    new, fixed, unchanged = beside(head, review(found(one), resources=[one]))
    assert (new, fixed, unchanged) == ([found(other)], [], [found(one)])


@pytest.mark.parametrize("before", [{"level": "advisory"}, {"status": "undetermined", "level": "advisory"}])
def test_what_only_warned_before_and_denies_now_is_new(before: Json) -> None:
    one = pod()
    head = review(found(one), resources=[one])
    new, _, unchanged = beside(head, review(found(one, **before), resources=[one]), only_new=True)
    assert (new, unchanged) == ([found(one)], [])
    waived = found(one, status="waived", waiver=Waived("waiver", "ML-1", "ben", "why", "2026-12-31", "violation"))
    assert beside(head, review(waived, resources=[one]))[0] == [found(one)]
    assert beside(review(waived, resources=[one]), head)[2] == [waived]


def test_only_new_findings_deny_where_the_caller_says_so() -> None:
    one = pod()
    both = review(found(one), resources=[one])
    assert compared(both, both, COMMITS).refused
    quiet = compared(both, both, COMMITS, only_new=True)
    assert not quiet.refused
    assert [finding.known for finding in quiet.findings] == [True]
    assert compared(review(found(one), found(one, "/come"), resources=[one]), both, COMMITS, only_new=True).refused
    assert compared(both, None, COMMITS, why="main has no stack dev", only_new=True).refused


def test_what_changes_its_value_denies_though_it_was_there_before() -> None:
    image = "/spec/containers/0/image"
    was, now = pod(), pod()
    now["inputs"]["spec"]["containers"][0]["image"] = "evil.example/x:1"
    base = review(found(was, image), resources=[was])
    assert compared(review(found(now, image), resources=[now]), base, COMMITS, only_new=True).refused
    assert not compared(review(found(was, image), resources=[was]), base, COMMITS, only_new=True).refused


@pytest.mark.parametrize(("most", "refused"), [(1001.0, True), (1000.0, False), (999.0, False)])
def test_a_sum_of_the_stack_that_grows_denies_though_it_was_too_much_before(most: float, refused: bool) -> None:
    def of(usd: float) -> Review:
        total = dict.fromkeys(("min", "initial", "max"), usd)
        over = found(STACK, "/cost/total/max", "cost/budget")
        return review(over, resources=[], cost=cost([], total=total))

    assert compared(of(most), of(1000.0), COMMITS, only_new=True).refused is refused


def operations(was: list[Json], now: list[Json]) -> list[tuple[str, str, tuple[str, ...]]]:
    before: Any = document(was)
    after: Any = document(now)
    return [(one.name, one.operation, one.because) for one in changes(before, after)]


def test_resources_are_created_updated_and_deleted_by_urn_and_the_same_ones_are_not_named() -> None:
    group = resource("aws:eks/nodeGroup:NodeGroup", "gpu", {"scalingConfig": {"maxSize": 1}, "labels": {"a": "b"}})
    grown = resource("aws:eks/nodeGroup:NodeGroup", "gpu", {"scalingConfig": {"maxSize": 9}, "tags": {}})
    assert operations([group, pod("same"), pod("old")], [grown, pod("same"), pod("come")]) == [
        ("gpu", "update", ("/labels", "/scalingConfig/maxSize", "/tags")),
        ("come", "create", ()),
        ("old", "delete", ()),
    ]


def test_an_object_of_another_name_is_replaced_and_what_goes_with_it_is_said() -> None:
    claim = {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": "a", "namespace": "x"}}
    was, now = kubernetes(claim, name="c"), kubernetes(claim | {"metadata": {"name": "b", "namespace": "x"}}, name="c")
    assert operations([was], [now]) == [("c", "replace", ("/metadata/name",))]
    before: Any = document([was])
    after: Any = document([now])
    assert changes(before, after)[0].lost


def test_a_resource_that_an_alias_names_is_the_old_one() -> None:
    was, now = pod(), pod(urn="urn:pulumi:dev::shop::kubernetes:core/v1:Pod::renamed")
    assert operations([was], [now | {"options": {"aliases": [was["urn"]]}}]) == []
    assert [what for _, what, _ in operations([was], [now])] == ["delete", "create"]


@pytest.mark.parametrize(
    ("was", "now", "because"),
    [
        ({"a": 1}, {"a": True}, ("/a",)),
        ({"a": [1, 2]}, {"a": [1, 3]}, ("/a/1",)),
        ({"a": [1]}, {"a": [1, 2]}, ("/a",)),
        ({"a/b": {"c~d": 1}}, {"a/b": {"c~d": 2}}, ("/a~1b/c~0d",)),
        ({"a": 1}, {"a": 1.0}, ()),
        ({"a": None}, {}, ("/a",)),
    ],
)
def test_inputs_that_differ_are_named_by_their_place(was: Json, now: Json, because: tuple[str, ...]) -> None:
    one, other = resource("a:b/c:D", "x", was), resource("a:b/c:D", "x", now)
    assert [how for _, _, how in operations([one], [other])] == ([because] if because else [])


def test_of_a_secret_only_its_place_is_told_and_what_is_no_longer_known_differs() -> None:
    was = resource("a:b/c:D", "x", {"token": {"a": "s3cret"}, "arn": "arn:1"}, secret=["/token"])
    now = resource("a:b/c:D", "x", {"token": {"b": "other"}, "arn": None}, secret=["/token"], unknown=["/arn"])
    assert operations([was], [now]) == [("x", "update", ("/arn", "/token"))]
    less = was | {"options": {"protect": True}}
    assert operations([less], [was]) == [("x", "update", ("protect",))]


def costly(usd: float, accelerators: int) -> Review:
    total = {"min": 0.0, "initial": usd, "max": 2 * usd}
    capacity = {"groups": [], "accelerators": {}, "total": accelerators, "tenants": {}}
    return replace(
        review(found(pod(), "/a"), resources=[pod()], cost=cost([], total=total), capacity=capacity),
        limits={"budget": {"month_usd": 5000, "unknown_price": "advisory"}},
    )


def test_what_makes_a_stack_much_dearer_is_denied_beside_its_base_and_nowhere_else() -> None:
    provider = resource("pulumi:providers:aws", "aws", {"region": "us-east-1"})
    scaling = {"minSize": 0, "desiredSize": 0}

    def recorded(most: int) -> Recording:
        inputs = {"instanceTypes": ["p5.48xlarge"], "scalingConfig": scaling | {"maxSize": most}}
        group = resource("aws:eks/nodeGroup:NodeGroup", "gpu", inputs, provider=provider)
        return Recording("shop", "dev", [provider, group], [], 0.0)

    policies = find_policies(Path("/nonexistent"))
    base = judge(recorded(1), policies, date=DATE)
    dearer = judge(recorded(2), policies, date=DATE, base=base.document)
    (denied,) = (one for one in dearer.findings if one.rule == "cost/increase")
    assert denied.denies
    assert denied.path == "/cost/total/max"
    assert "cost/increase" not in {
        one.rule for one in (*base.findings, *judge(recorded(2), policies, date=DATE).findings)
    }


def test_the_table_of_a_comment_says_cost_accelerators_and_findings_with_their_difference() -> None:
    head = compared(costly(2219.4, 16), costly(2000, 8), COMMITS)
    row = next(line for line in to_markdown([head]).splitlines() if line.startswith("| dev"))
    assert "1 unchanged" in row
    assert "$2,219 (**+$219**)" in row
    assert "$4,439 (**+$439**)" in row
    assert "16 (**+8**)" in row
    assert [(line.what, line.more) for line in lines(head)][:3] == [
        ("USD a month at start", "+$219"),
        ("USD a month at the most", "+$439"),
        ("accelerators at the most", "+8"),
    ]
    cheaper = compared(costly(2000, 8), costly(2219.4, 16), COMMITS)
    assert "$2,000 (**-$219**)" in to_markdown([cheaper])
    assert "**" not in next(
        line for line in to_markdown([compared(costly(1, 8), costly(1, 8), COMMITS)]).splitlines() if "| dev" in line
    ).replace("**refused**", "").replace("**1 denied**", "")


def test_every_report_says_what_judged_and_what_the_change_proposes_and_marks_what_is_new() -> None:
    commits = replace(COMMITS, proposed=("policies/limits/<b>.yaml",), notes=("others have changed *it*",))
    base = replace(broken(), findings=broken().findings[3:])
    head = compared(broken(), base, commits)
    loud = [one.text for one in sentences(head.comparison) if one.loud] if head.comparison else []
    assert [text[:30] for text in loud] == ["The change proposes other rule", "Others have changed *it*."]
    markdown, page = to_markdown([head]), to_html([head])
    assert "judged by those of main" in markdown
    assert "policies/limits/\\<b\\>.yaml" in markdown
    assert "policies/limits/&lt;b&gt;.yaml" in page
    assert len(markdown) < LIMIT
    assert markdown.count("**new**") >= 1
    assert news(head) == f"3 new, {len(base.findings)} unchanged"
    assert sum(is_new(one, head) for one in head.findings) == 3
    (report,) = json.loads(to_json([head]))
    jsonschema.validate([report], report_schema())
    assert report["comparison"]["commits"]["proposed"] == ["policies/limits/<b>.yaml"]
    assert len(report["comparison"]["new"]) == 3
    assert {*report["comparison"]["new"]} <= {one["fingerprint"] for one in report["findings"]}


def test_a_review_without_a_base_says_why_and_all_of_it_is_new() -> None:
    head = compared(broken(), None, COMMITS, why="main has no stack dev")
    assert head.comparison is not None
    assert head.comparison.new == broken().findings
    assert head.comparison.changes == []
    assert news(head) == ""
    assert "Not compared, so all findings are new: main has no stack dev." in to_markdown([head])
    assert lines(head) == []


def test_a_finding_of_the_base_is_shown_as_fixed_in_every_report() -> None:
    head = compared(review(resources=[pod()], date=DATE), review(found(pod(), "/gone"), resources=[pod()]), COMMITS)
    assert news(head) == "1 fixed"
    for text in (to_markdown([head]), to_html([head])):
        assert "isolation/privileged" in text
        assert "/gone" in text
