"""The Markdown as a comment: what stands first, what it is cut to, and what it must not do."""

from __future__ import annotations

import re
from dataclasses import replace

from broken_stack import broken

from gpuyard.review.report.markdown import LIMIT, MARKER, to_markdown

ROW = re.compile(r"^\| (critical|high|medium|low)", re.MULTILINE)


def test_the_marker_comes_first_then_the_verdict_in_a_table_of_one_row_a_stack() -> None:
    other = replace(broken(), document=broken().document | {"stack": "prod"}, findings=[], failures=[], changes=None)
    lines = to_markdown([broken(), other]).splitlines()
    assert lines[:2] == [MARKER, "## Refused: dev"]
    table = [line for line in lines if line.startswith("| ")][:3]
    assert [line.split(" | ")[:2] for line in table[1:]] == [
        ["| dev (development)", "**refused**"],
        ["| prod (development)", "may deploy"],
    ]


def test_what_denies_is_shown_and_all_else_is_folded() -> None:
    denied = [finding for finding in broken().findings if finding.denies][:30]
    rest = [finding for finding in broken().findings if not finding.denies]
    text = to_markdown([replace(broken(), findings=[*denied, *rest])])
    shown, _, folded = text.partition("<details>")
    assert len(ROW.findall(shown)) == len(denied)
    assert "(advice)" in folded
    assert "(advice)" not in shown
    assert "waiver OPS-7 by jane until 2026-12-31" in folded
    assert text.count("<details>") == text.count("</details>") == text.count("<summary>") == 2
    assert "Left out" not in text


def test_a_comment_is_never_too_long_and_says_what_was_left_out() -> None:
    denied = [finding for finding in broken().findings if finding.denies]
    many = [replace(finding, path=f"{finding.path}/{i}") for i in range(20) for finding in denied]
    text = to_markdown([replace(broken(), findings=many)])
    assert LIMIT / 2 < len(text) < LIMIT
    (said,) = re.findall(r"\*\*Left out.*", text)
    assert f"{len(many) - len(ROW.findall(text))} denying findings" in said
    assert "resources of dev" in said
    assert text.startswith(MARKER)
    assert text.count("<details>") == text.count("</details>")


def test_the_worst_is_left_out_last() -> None:
    finding = broken().findings[0]
    mixed = [
        replace(finding, level=level, severity=severity, message=f"{level} {severity} " + "x" * 900, path=f"/{i}")
        for level in ("advisory", "mandatory")
        for severity in ("low", "critical")
        for i in range(30)
    ]
    text = to_markdown([replace(broken(), findings=mixed)])
    assert text.count("mandatory critical") == 30
    assert text.count("mandatory low") > 10
    assert "advisory" not in text


def test_a_thousand_stacks_are_cut_too() -> None:
    quiet = replace(broken(), findings=[], failures=[], changes=None, undecided=[])
    text = to_markdown([replace(quiet, document=quiet.document | {"stack": f"s{i}"}) for i in range(1000)])
    assert len(text) < LIMIT
    assert "resources of 1000 stacks" in text


def test_what_to_do_is_said_once_for_all_findings_of_a_rule() -> None:
    finding = replace(broken().findings[0], remediation="Buy another.")
    text = to_markdown([replace(broken(), findings=[finding, replace(finding, path="/other")])])
    assert text.count("Buy another.") == 1
    assert len(ROW.findall(text)) == 2


def test_a_comment_calls_nobody_and_links_to_nothing() -> None:
    finding = replace(broken().findings[0], message="@everyone see #7 ~~x~~ <img src=x> [a](b) " + "y" * 5000)
    text = to_markdown([replace(broken(), findings=[finding])])
    assert "@everyone" not in text
    assert "#7" not in text
    assert "\\<img" in text
    assert "\\[a](b)" in text
    assert "y" * 2000 not in text
