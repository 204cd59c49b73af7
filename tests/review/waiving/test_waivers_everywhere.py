"""Waivers at every point: the review, the pack, both engines, the command and the documentation."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from command import gpuyard, program
from documents import DATE, document
from pack import Pack, grown, registration
from waived import (
    GLASS,
    NOON,
    PACKAGED,
    THING,
    WAIVER,
    Json,
    about,
    deployment,
    found,
    given,
    thing,
)

from gpuyard.review import judge, waivers
from gpuyard.review.errors import GateError
from gpuyard.review.evaluation import engines, evaluate, limits
from gpuyard.review.evaluation.evaluate import Policies
from gpuyard.review.evaluation.rules import load
from gpuyard.review.evaluation.waiver_limits import WaiverLimit
from gpuyard.review.program.goyaml import parse
from gpuyard.review.recording import Recording


@pytest.mark.parametrize("entries", [(WAIVER,), (WAIVER, WAIVER | {"rule": "ours/other"})], ids=["one", "two"])
def test_the_review_and_the_pack_say_the_same_before_a_resource_is_created(
    entries: tuple[Json, ...], policies: Policies
) -> None:
    own = WAIVER | {"resource": "fraud/Deployment/model", "stack": "dev"}
    granted = given(policies, *entries, own, glass=(GLASS | {"rules": ["ours/later"]},))
    resources = [thing(), deployment()]
    recording = Recording("shop", "dev", resources, [], 0.0, {})  # type: ignore[arg-type]
    reviewed = judge.judge(recording, granted, date=DATE)
    judged = grown(resources, policies=granted)
    assert judged.last == reviewed.findings
    assert [f.status for f in judged.early if f.rule == "ours/rule"] == ["waived", "waived"]
    assert [f.status for f in judged.early if f.rule == "ours/later"] == ["waived", "waived"]


def test_a_name_that_turns_out_to_be_of_two_resources_denies_both_in_the_end(policies: Policies) -> None:
    granted = given(policies, WAIVER | {"resource": "fraud/Deployment/model", "stack": "dev"})
    judged = grown([deployment(name="here"), deployment(name="there")], policies=granted)
    assert [f.status for f in judged.early if f.rule == "ours/rule"] == ["waived"] * 2
    assert [f.status for f in judged.late if f.rule == "ours/rule"] == ["violation"] * 2


def test_the_engine_is_told_of_a_waived_finding_as_advice(policies: Policies) -> None:
    pack = Pack(policies=given(policies, WAIVER))
    diagnostics = pack.call("Analyze", registration(thing(), [thing()])).diagnostics
    told = {each.policyName: each for each in diagnostics}
    assert told["ours/rule"].enforcementLevel == 0
    assert told["ours/rule"].message.startswith("[waiver ML-1 by ben until 2026-12-31: ")
    assert told["ours/other"].enforcementLevel == 1


def test_both_engines_judge_the_waivers_alike(opa: Path, policies: Policies) -> None:
    soon = WAIVER | {"rule": "ours/other", "expires": "2026-12-02"}
    granted = given(policies, WAIVER | {"path": "/y"}, soon, glass=(GLASS | {"rules": ["ours/rule"]},))
    embedded = found(granted, thing())
    assert {f.rule for f in embedded} > {"waivers/unused", "waivers/expires", "waivers/break_glass"}
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PATH", str(opa.parent))
        patch.delenv("OPA_URL", raising=False)
        assert evaluate.evaluate(document([thing()]), granted, choice="opa").findings == embedded


class Half:
    """An engine that gives half an answer."""

    name = "a test"

    def ask(self, asked: str) -> Any:
        return {"findings": []}


def test_an_error_of_the_engine_is_never_waived(policies: Policies, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engines, "Embedded", lambda rules: Half())
    with pytest.raises(GateError, match="no whole answer"):
        found(given(policies, WAIVER, glass=(GLASS,)), thing())


# --- a patch


def test_a_violation_has_the_patch_that_cures_it(policies: Policies) -> None:
    [finding] = about(found(policies, thing()))
    assert [(step.op, step.path, step.value) for step in finding.patch] == [
        ("replace", "/x", "good"),
        ("remove", "/y", None),
    ]
    [finding] = about(found(policies, thing(None, unknown=["/x"])))
    assert finding.patch == (), "what is not known may be right"


# --- the documentation and the command


def test_the_documented_file_is_one_that_the_documented_limits_allow(policies: Policies) -> None:
    page = (Path(__file__).parents[3] / "docs/waivers.md").read_text()
    file, allowed = re.findall(r"```yaml\n(.*?)```", page, re.DOTALL)
    path = policies.limits.parent / "waivers.yaml"
    path.write_text(file)
    known = load(PACKAGED.directories)
    limit = WaiverLimit.model_validate(parse(allowed)["waivers"])
    read = waivers.read(path, known.rules).of_stack("prod-aws")
    assert (len(read.waivers), len(read.break_glass)) == (1, 1)
    read.check(limit, NOON.date())
    assert list(limit.unknown(known.rules)) == []


def test_the_packaged_waivers_are_none_and_its_limits_allow_some() -> None:
    rules = load(PACKAGED.directories)
    packaged = waivers.read(PACKAGED.directories[0] / waivers.FILE, rules.rules)
    assert packaged.stacks == []
    for name in limits.environments(PACKAGED.limits):
        found = limits.limits("any", name, PACKAGED.limits, rules.thresholds)["waivers"]
        assert 0 < found["max_days"] <= 90
        assert not found["patterns"]
        assert 0 < found["break_glass"]["max_hours"] <= 24


def test_lint_says_what_is_over_and_what_is_wrong(tmp_path: Path) -> None:
    file = tmp_path / "policies" / waivers.FILE
    file.parent.mkdir()
    entry = f"rule: quota/machines, reason: r, ticket: ML-1, approver: ben, resource: '{THING}'"
    file.write_text(f"waivers: [{{{entry}, expires: 2026-12-31}}]\n")

    def lint(date: str = DATE) -> Any:
        return gpuyard("waivers", "lint", "--program", tmp_path, "--date", date)

    assert (answer := lint()).code == 0
    assert [word in answer.out for word in ("in force", "quota/machines", "ML-1", "2026-12-31")] == [True] * 4
    assert (answer := lint("2027-01-01")).code == 1
    assert "expired" in answer.out
    program(tmp_path, prod="config: {}\n")
    assert (answer := lint()).code == 1
    assert "no such stack" in answer.out
    file.write_text(f"waivers: [{{{entry}, expires: 2027-12-31}}]\n")
    assert (answer := lint()).code == 2
    assert "stack dev" in answer.err
    assert "give 90 at most" in " ".join(answer.err.split())
