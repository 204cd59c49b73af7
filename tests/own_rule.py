"""One rule beside a program, and what it finds in one resource."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from documents import document, resource

from gpuyard.review.evaluation import evaluate
from gpuyard.review.evaluation.evaluate import Policies, find_policies

Json = dict[str, Any]

PACKAGED = find_policies(Path("/nonexistent"))

RULE = """# METADATA
# title: A rule of ours
# description: Because.
# custom:
#   id: X1
#   severity: low
#   level: {level}
#   on_unknown: {on_unknown}
#   waivable: true
#   reads:
#     - {{type: "a:b/c:D", path: /x}}
#     - {{type: "a:b/c:D", path: /list/*/y}}
#     - {{type: "a:b/c:D", path: /guarded, fires: true}}
#   remediation: Do something.
package gpuyard.rules.ours.rule

{body}
"""
FIRES = 'deny contains {"urn": r.urn, "path": "/x", "message": "found"} if some r in input.by_type["a:b/c:D"]'


def own(program: Path, body: str = FIRES, *, level: str = "mandatory", on_unknown: str = "deny") -> Policies:
    text = RULE.format(body=body, level=level, on_unknown=on_unknown)
    (program / "policies/rules/ours/rule/rule.rego").write_text(text)
    return find_policies(program)


def judged(given: Json, policies: Policies) -> evaluate.Verdict:
    return evaluate.evaluate(given, policies, choice="embedded")


def thing(inputs: Json, unknown: list[str] | None = None, **more: Any) -> Json:
    return document([resource("a:b/c:D", "thing", inputs, unknown=unknown or [], **more)])
