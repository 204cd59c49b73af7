"""JUnit XML: what a CI server counts, and what XML cannot hold."""

from __future__ import annotations

from dataclasses import replace
from xml.etree import ElementTree as Xml

from broken_stack import broken

from gpuyard.review.report.junit import to_junit


def suite(**changed: object) -> Xml.Element:
    (found,) = Xml.fromstring(to_junit([replace(broken(), **changed)]))  # noqa: S314 - it is ours
    return found


def test_a_rule_is_a_case_and_fails_where_it_denies() -> None:
    found = suite(failures=[])
    denied = {finding.rule for finding in broken().findings if finding.denies}
    assert [case.get("name") for case in found] == sorted(broken().rules)
    assert {case.get("name") for case in found if case.find("failure") is not None} == denied
    assert (found.get("tests"), found.get("failures"), found.get("errors")) == (
        str(len(broken().rules)),
        str(len(denied)),
        "0",
    )


def test_a_failure_says_where_and_what_to_do_of_every_finding() -> None:
    rule = "isolation/privileged"
    said = [finding for finding in broken().findings if finding.rule == rule and finding.denies]
    text = next(case.findtext("failure") for case in suite() if case.get("name") == rule) or ""
    assert len(text.splitlines()) == len(said) > 1
    assert all(finding.message in text and finding.remediation in text for finding in said)
    assert "(__main__.py:7)" in text


def test_what_is_waived_or_advice_passes_and_what_is_not_decided_is_skipped() -> None:
    first = broken().findings[0]
    waived = next(finding for finding in broken().findings if finding.status == "waived")
    undecided = replace(first, rule="a/b", level="advisory", status="undetermined")
    advice = replace(first, rule="c/d", level="advisory", status="violation")
    found = suite(findings=[undecided, advice, waived], failures=[])
    cases = {case.get("name"): [part.tag for part in case] for case in found}
    assert (cases["a/b"], cases["c/d"], cases[waived.rule]) == (["skipped"], ["system-out"], ["system-out"])
    assert (found.get("failures"), found.get("skipped")) == ("0", "1")
    assert "waiver OPS-7 by jane" in str(next(c for c in found if c.get("name") == waived.rule).findtext("system-out"))


def test_a_preview_that_fails_is_a_failure_of_its_own() -> None:
    (case,) = (case for case in suite() if case.get("name") == "preview")
    assert case.findtext("failure") == "resource h100 cannot be replaced: it is protected"


def test_characters_that_xml_cannot_have_do_not_break_it() -> None:
    odd = replace(broken().findings[0], message="a\x00b\x1b]<&>\"'\ud800 ]]> 🦙")
    (case,) = (case for case in suite(findings=[odd], rules={}, failures=[]))
    assert case.find("failure").get("message") == "a\ufffdb\ufffd]<&>\"'\ufffd ]]> 🦙"  # type: ignore[union-attr]
