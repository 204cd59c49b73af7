"""Workflow commands of GitHub Actions: their form, their order, and what would end one early."""

from __future__ import annotations

import re
from dataclasses import replace

from broken_stack import broken

from gpuyard.review.report.github import to_github
from gpuyard.review.report.origin import Origin

COMMAND = re.compile(r"::(error|warning|notice) ((?:[a-z]+=[^,:\r\n]*,?)+)::([^\r\n]*)")


def test_every_line_is_a_command_and_what_denies_comes_first() -> None:
    lines = to_github([broken()], Origin("infra")).splitlines()
    kinds = [COMMAND.fullmatch(line).group(1) for line in lines]  # type: ignore[union-attr]
    denied = sum(finding.denies for finding in broken().findings)
    # A preview that fails is one more error; a waived finding is none.
    rest = len(broken().findings) - denied - 1
    assert kinds[:denied] == ["error"] * denied
    assert kinds.count("error") == denied + 1
    assert kinds.count("warning") == rest
    assert lines[0].startswith("::error file=infra/__main__.py,line=7,title=")
    assert lines[-2] == f"::notice title=gpuyard::refused: dev. {denied} denied, {rest} advice"


def test_more_than_a_step_shows_is_said() -> None:
    findings = [finding for finding in broken().findings if finding.denies]
    assert "2 more findings are in the log" in to_github([replace(broken(), findings=findings[:12])])
    assert "more findings" not in to_github([replace(broken(), findings=findings[:10])])


def test_nothing_in_a_finding_ends_its_command_or_starts_another() -> None:
    hostile = "50%\r\n::error::x, y: z"
    finding = replace(broken().findings[0], message=hostile, rule=hostile, path=f"/{hostile}")
    line = to_github([replace(broken(), findings=[finding], failures=[])]).splitlines()[0]
    properties, _, message = line.removeprefix("::error ").partition("::")
    assert "title=50%25%0D%0A%3A%3Aerror%3A%3Ax%2C y%3A z (" in properties
    assert "50%25%0D%0A::error::x, y: z" in message


def test_a_stack_that_may_deploy_is_one_notice() -> None:
    assert to_github([replace(broken(), findings=[], failures=[])]) == (
        "::notice title=gpuyard::may deploy. 0 denied, 0 advice\n"
    )
