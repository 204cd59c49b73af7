"""The refused examples, object by object: the templates say what the review says."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from admitted import alone, as_told, by_review, by_templates, given, matched
from documents import Json
from ruamel.yaml import YAML

from gpuyard.review.evaluation.prepare import known
from gpuyard.review.program.record import find_project, record_program
from gpuyard.review.program.stackfile import stacks

EXAMPLES = Path(__file__).parents[3] / "examples" / "refused"


def refused_by(folder: Path) -> set[str]:
    said: Any = YAML(typ="safe", pure=True).load((folder / "expected.yaml").read_text())
    return {finding["rule"] for finding in said["findings"]}


def objects(folder: Path) -> list[Json]:
    project = find_project(folder)
    (stack,) = stacks(project)
    resources: Any = record_program(project, stack).resources
    return [known(one["inputs"]) for one in resources if alone(one)]


@pytest.mark.long
@pytest.mark.opa
def test_the_examples_get_the_same_verdict(opa: Path, tmp_path: Path) -> None:
    folders = [
        path.parent for path in EXAMPLES.glob("*/expected.yaml") if refused_by(path.parent) & {*given().templates}
    ]
    asked = [
        (rule, found)
        for folder in sorted(folders)
        for found in objects(folder)
        for rule in given().templates
        if matched(rule, found)
    ]
    reviews = [(rule, {"object": found, "operation": "CREATE"}) for rule, found in asked]
    told = by_templates(opa, tmp_path, reviews)
    different = [
        (rule, found, answer)
        for (rule, found), answer in zip(asked, told, strict=True)
        if answer != as_told(rule, by_review(found)[rule])
    ]
    assert different == []
    assert any(told)
