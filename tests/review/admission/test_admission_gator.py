"""Gatekeeper's own engine gives the same verdict as the review: every object, all templates and constraints, one run."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest
from admitted import Told, as_told, by_review, given, matched, objects
from documents import Json
from made import program

pytestmark = pytest.mark.engine


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> list[Json]:
    """What gator says of all objects."""
    folder = tmp_path_factory.mktemp("gator")
    constraints = [one for each in given().constraints.values() for one in each]
    for i, found in enumerate([*given().templates.values(), *constraints, *objects()]):
        (folder / f"{i}.json").write_text(json.dumps(found))
    command = [str(program("gator")), "test", f"--filename={folder}", "--output=json"]
    answer = subprocess.run(command, capture_output=True, text=True, check=False)
    assert answer.returncode == 1, f"it finds nothing that denies: {answer.stderr}"
    found: list[Json] = json.loads(answer.stdout)
    return found


@pytest.mark.parametrize("rule", sorted(given().templates))
def test_gatekeeper_gives_the_verdict_of_the_review(rule: str, results: list[Json]) -> None:
    kind = given().constraints[rule][0]["kind"]
    own = [one for one in results if one["constraint"]["kind"] == kind]
    different = []
    for found in objects():
        told: Told = {
            (one["constraint"]["spec"]["parameters"]["level"], one["metadata"]["details"]["path"], one["msg"])
            for one in own
            if one["violatingObject"] == found
        }
        wanted = as_told(rule, by_review(found)[rule]) if matched(rule, found) else set()
        if told != wanted:
            different.append((found, told, wanted))
    assert different == []
    assert own, "no object breaks it: add one to tests/admitted.py"


def test_what_warns_does_not_deny(results: list[Json]) -> None:
    actions = {(one["constraint"]["spec"]["parameters"]["level"], one["enforcementAction"]) for one in results}
    assert actions == {("mandatory", "deny"), ("advisory", "warn")}


def test_a_constraint_without_its_limits_is_refused(tmp_path: Path) -> None:
    template = given().templates["supply_chain/registries"]
    constraint = json.loads(json.dumps(given().constraints["supply_chain/registries"][0]))
    del constraint["spec"]["parameters"]["limits"]["registries"]
    for name, found in (("template", template), ("constraint", constraint)):
        (tmp_path / f"{name}.json").write_text(json.dumps(found))
    command = [str(program("gator")), "test", f"--filename={tmp_path}"]
    answer = subprocess.run(command, capture_output=True, text=True, check=False)
    assert answer.returncode == 1
    assert "registries: Required value" in answer.stderr
