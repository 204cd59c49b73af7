"""What is not a whole answer of rules that work is no verdict."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest
from documents import document, resource
from own_rule import PACKAGED, Json, judged, own
from raw_programs import raw_kubernetes

from gpuyard.review.errors import GateError
from gpuyard.review.evaluation import engines, evaluate, rules
from gpuyard.review.evaluation.evaluate import Policies


@pytest.fixture
def program(tmp_path: Path) -> Path:
    (tmp_path / "policies/rules/ours/rule").mkdir(parents=True)
    return tmp_path


WRONG_SHAPES = {
    "no path": '{"urn": input.urn, "message": "a"}',
    "a message that is no text": '{"urn": input.urn, "path": "", "message": 7}',
    "a member that there is not": '{"urn": input.urn, "path": "", "message": "a", "levle": "advisory"}',
    "a level that there is not": '{"urn": input.urn, "path": "", "message": "a", "level": "none"}',
    "a resource that there is not": '{"urn": "urn:pulumi:x", "path": "", "message": "a"}',
    "rests_on that is no list": '{"urn": input.urn, "path": "", "message": "a", "rests_on": "/x"}',
    "no object": '"a"',
}


@pytest.mark.parametrize("finding", WRONG_SHAPES.values(), ids=WRONG_SHAPES)
def test_a_finding_of_another_shape_is_no_verdict(finding: str, program: Path) -> None:
    with pytest.raises(GateError):
        judged(document([]), own(program, f"deny contains {finding}"))


BROKEN_RULES = {
    "a syntax error": "deny contains {",
    "a function that there is not": "deny contains x if x := no.such(1)",
    "a type error": 'deny contains x if x := count(7)\n\nn := to_number("8 GPUs")',
    "a conflict": "n := 1\n\nn := 2\n\ndeny contains x if x := n",
    "a deny that is no set": "text := `\ndeny contains x`\n\ndeny := []",
    "no deny": "text := `\ndeny contains x`",
}


@pytest.mark.parametrize("choice", ["embedded", "opa"])
@pytest.mark.parametrize("body", BROKEN_RULES.values(), ids=BROKEN_RULES)
def test_a_rule_that_does_not_work_is_no_verdict(
    body: str, choice: engines.Choice, program: Path, opa: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(opa.parent))
    monkeypatch.delenv("OPA_URL", raising=False)
    with pytest.raises(GateError):
        evaluate.evaluate(document([]), own(program, body), choice=choice)


def test_no_policies_are_no_verdict(tmp_path: Path) -> None:
    with pytest.raises(GateError, match="no rule is found"):
        judged(document([]), Policies((tmp_path,), PACKAGED.limits))


def test_no_limits_are_no_verdict(tmp_path: Path) -> None:
    with pytest.raises(GateError, match="without limits nothing can be judged"):
        judged(document([]), Policies(PACKAGED.directories, tmp_path))


class Answers:
    """An engine that gives whatever the test wants."""

    name = "a test"

    def __init__(self, answer: Any) -> None:
        self.answer = answer

    def ask(self, given: str) -> Any:
        return self.answer


def whole() -> Json:
    loaded = rules.load(PACKAGED.directories)
    return {"findings": [], "loaded": list(loaded.rules), "revision": loaded.revision}


HALF = {
    "undefined": lambda a: "<undefined>",
    "nothing": lambda a: None,
    "empty": lambda a: {},
    "no findings": lambda a: {k: v for k, v in a.items() if k != "findings"},
    "findings that are no list": lambda a: a | {"findings": {}},
    "a rule less": lambda a: a | {"loaded": a["loaded"][1:]},
    "a rule more": lambda a: a | {"loaded": [*a["loaded"], "a/b"]},
    "loaded that is no list": lambda a: a | {"loaded": 7},
    "other rules": lambda a: a | {"revision": "0" * 64},
    "no revision": lambda a: a | {"revision": None},
    "findings of other rules": lambda a: a | {"findings": [{"rule": "a/b", "urn": "u", "path": "", "message": "m"}]},
}


@pytest.mark.parametrize("change", HALF.values(), ids=HALF)
def test_half_an_answer_is_no_verdict(change: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engines, "Embedded", lambda rules: Answers(change(whole())))
    with pytest.raises(GateError):
        judged(document([]), PACKAGED)


def test_a_whole_answer_is_a_verdict(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engines, "Embedded", lambda rules: Answers(whole()))
    assert judged(raw_kubernetes(), PACKAGED).findings == []


@pytest.mark.parametrize(
    "given",
    [
        {},
        {"stack": "dev"},
        document([]) | {"stack": 7},
        document([]) | {"resources": {}},
        document([]) | {"resources": [{"urn": "u"}]},
        document([]) | {"resources": [7]},
        document([resource("a:b/c:D", "a", {}), resource("a:b/c:D", "a", {"x": 1})]),
        document([resource("a:b/c:D", "a", {}) | {"unknown": None}]),
        document([resource("a:b/c:D", "a", {}) | {"secret": [7]}]),
        document([resource("a:b/c:D", "a", {}) | {"options": None}]),
        document([resource("a:b/c:D", "a", {"n": float("nan")})]),
    ],
    ids=lambda given: str(given)[:40],
)
def test_a_document_that_is_none_is_no_verdict(given: Json) -> None:
    with pytest.raises(GateError):
        judged(given, PACKAGED)


def test_inputs_that_are_nested_without_end_are_no_verdict() -> None:
    deep: Json = {}
    for _ in range(sys.getrecursionlimit()):
        deep = {"a": deep}
    with pytest.raises(GateError, match="cannot be prepared"):
        judged(document([resource("a:b/c:D", "a", {}) | {"inputs": deep}]), PACKAGED)
