"""The report as JUnit XML: a suite a stack, a test case a rule.

Source of the form: the elements that Jenkins and GitLab read, testsuites, testsuite, testcase, failure, skipped and
system-out.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from xml.etree import ElementTree as Xml

from gpuyard.review.evaluation.findings import Finding
from gpuyard.review.judge import Review
from gpuyard.review.report.summary import places

_FORBIDDEN = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""Characters that XML 1.0 cannot have, not even as references."""


def to_junit(reviews: list[Review]) -> str:
    """A rule that denies is a failure; one that could not decide is skipped; advice and waivers are its output."""
    root = Xml.Element("testsuites", name="gpuyard")
    suites = [_suite(root, review) for review in reviews]
    for count in ("tests", "failures", "skipped"):
        root.set(count, str(sum(int(suite.get(count, "0")) for suite in suites)))
    root.set("errors", "0")
    Xml.indent(root)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{Xml.tostring(root, encoding="unicode")}\n'


def _suite(root: Xml.Element, review: Review) -> Xml.Element:
    document = review.document
    suite = Xml.SubElement(root, "testsuite", name=_text(document["stack"]), timestamp=f"{document['date']}T00:00:00")
    by_rule: dict[str, list[Finding]] = {rule: [] for rule in sorted(review.rules)}
    for finding in review.findings:
        by_rule.setdefault(finding.rule, []).append(finding)
    where = places(document["resources"])
    for rule, findings in by_rule.items():
        _case(suite, f"gpuyard.{document['stack']}", rule, findings, where)
    if review.failures:
        case = Xml.SubElement(suite, "testcase", classname=_text(f"gpuyard.{document['stack']}"), name="preview")
        _said(case, "failure", "the engine's own preview fails", review.failures)
    suite.set("tests", str(len(suite)))
    for tag, count in (("failure", "failures"), ("skipped", "skipped")):
        suite.set(count, str(sum(case.find(tag) is not None for case in suite)))
    suite.set("errors", "0")
    return suite


def _case(suite: Xml.Element, group: str, rule: str, findings: list[Finding], where: Callable[[Finding], str]) -> None:
    case = Xml.SubElement(suite, "testcase", classname=_text(group), name=_text(rule))

    def lines(some: list[Finding]) -> list[str]:
        return [f"{one.severity}, {_status(one)}: {where(one)}: {one.message}. {one.remediation}" for one in some]

    denied = [finding for finding in findings if finding.denies]
    undecided = [finding for finding in findings if not finding.denies and finding.status == "undetermined"]
    rest = [finding for finding in findings if finding not in denied and finding not in undecided]
    if denied:
        _said(case, "failure", _first(denied), lines(denied))
        rest = [*undecided, *rest]
    elif undecided:
        _said(case, "skipped", _first(undecided), lines(undecided))
    if rest:
        Xml.SubElement(case, "system-out").text = _text("\n".join(lines(rest)))


def _said(case: Xml.Element, tag: str, message: str, lines: list[str]) -> None:
    element = Xml.SubElement(case, tag, message=_text(message))
    if tag == "failure":
        element.set("type", "denied")
    element.text = _text("\n".join(lines))


def _status(finding: Finding) -> str:
    return finding.waiver.said if finding.waiver else finding.status


def _first(findings: list[Finding]) -> str:
    more = f", and {len(findings) - 1} more" if len(findings) > 1 else ""
    return f"{findings[0].message}{more}"


def _text(value: str) -> str:
    return _FORBIDDEN.sub("\ufffd", value)
