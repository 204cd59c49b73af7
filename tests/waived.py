"""Rules that may be waived, waivers of them, and what is left of their findings."""

from __future__ import annotations

import datetime
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from documents import DATE, document, kubernetes, pod_spec, resource, urn, workload

from gpuyard.review.evaluation import evaluate, waiving
from gpuyard.review.evaluation.evaluate import Policies, find_policies
from gpuyard.review.evaluation.findings import Finding

Json = dict[str, Any]

PACKAGED = find_policies(Path("/nonexistent"))

RULE = """# METADATA
# title: A rule of ours
# description: Because.
# custom:
#   id: X{number}
#   severity: high
#   level: {level}
#   on_unknown: {on_unknown}
#   scope: resource
#   waivable: {waivable}
#   reads:
#     - {{type: "a:b/c:D", path: /x}}
#     - {{type: "kubernetes:apps/v1:Deployment", path: /spec/replicas}}
#   patch:
#     - {{op: replace, path: "", value: good}}
#     - {{op: remove, path: /../y}}
#   remediation: Do something.
package gpuyard.rules.ours.{name}

deny contains {{"urn": r.urn, "path": "/x", "message": "x is bad"}} if {{
	some r in input.by_type["a:b/c:D"]
	r.inputs.x == "bad"
}}

deny contains {{"urn": r.urn, "path": sprintf("%v/spec/replicas", [r.path]), "message": "too few"}} if {{
	some r in input.objects["Deployment.apps"]
	r.body.spec.replicas < 2
}}
"""
LIMITS = """strictest: development
stacks: {}
"""
ALLOWED = """
waivers:
  max_days: 60
  patterns: false
  break_glass: {max_hours: 12, never: [ours/kept]}
"""
THING = urn("dev", "a:b/c:D", "thing")
WAIVER = {
    "rule": "ours/rule",
    "resource": THING,
    "reason": "the new one comes in January",
    "ticket": "ML-1",
    "approver": "ben",
    "expires": "2026-12-31",
}
GLASS = {
    "stack": "dev",
    "rules": "all",
    "by": "anna",
    "approver": "ben",
    "ticket": "INC-7",
    "reason": "no capacity in the other region",
    "from": "2026-11-30T08:00:00Z",
    "until": "2026-11-30T20:00:00Z",
}
NOON = datetime.datetime(2026, 11, 30, 12, tzinfo=datetime.UTC)


def at(moment: datetime.datetime, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(waiving, "clock", lambda: moment)


def given(policies: Policies, *entries: Json, glass: tuple[Json, ...] = ()) -> Policies:
    """The policies with waivers; an entry of None has a field less."""

    def trimmed(entry: Json) -> Json:
        return {key: value for key, value in entry.items() if value is not None}

    path = policies.limits.parent / "waivers.yaml"
    path.write_text(json.dumps({"waivers": [trimmed(e) for e in entries], "break_glass": [trimmed(e) for e in glass]}))
    return replace(policies, waivers=path)


def allowing(policies: Policies, old: str, new: str) -> Policies:
    path = policies.limits / "development.yaml"
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))
    return policies


def thing(x: Any = "bad", name: str = "thing", **more: Any) -> Json:
    return resource("a:b/c:D", name, {"x": x}, **more)


def deployment(replicas: Any = 1, **more: Any) -> Json:
    manifest = workload("Deployment", pod_spec(), **{k: more.pop(k) for k in ("namespace",) if k in more})
    manifest["spec"]["replicas"] = replicas
    return kubernetes(manifest, **more)


def found(policies: Policies, *resources: Json, date: str = DATE) -> list[Finding]:
    verdict = evaluate.evaluate(document(list(resources)) | {"date": date}, policies, choice="embedded")
    return verdict.findings


def about(findings: list[Finding], rule: str = "ours/rule") -> list[Finding]:
    return [finding for finding in findings if finding.rule == rule]


def statuses(findings: list[Finding], rule: str = "ours/rule") -> list[str]:
    return [finding.status for finding in about(findings, rule)]
