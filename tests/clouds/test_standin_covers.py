"""The stand-ins have every type and function that our components, examples and test programs use."""

from __future__ import annotations

import ast
import functools
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pulumi
import pulumi_aws
import pulumi_gcp
import pytest
from clouds.kind import KINDS
from clouds.package import FUNCTIONS, package

ROOT = Path(__file__).parents[2]
SDKS = {"aws": pulumi_aws, "gcp": pulumi_gcp}
FOLDERS = ("components", "examples", "tests/programs", "tests/engine", "bench")
PROGRAMS = sorted(
    path
    for folder in FOLDERS
    for path in (ROOT / folder).rglob("*.py")
    if any(f"import pulumi_{name}" in path.read_text(encoding="utf-8") for name in SDKS)
)

for _name in SDKS:
    package(_name)


def used(path: Path) -> Iterator[tuple[str, Any]]:
    """What a program takes from the SDKs, by its dotted name: aws.eks.Cluster."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        steps: list[str] = []
        while isinstance(node, ast.Attribute):
            steps.insert(0, node.attr)
            node = node.value
        if isinstance(node, ast.Name) and node.id in SDKS and steps:
            value = functools.reduce(lambda home, step: getattr(home, step, None), steps, SDKS[node.id])
            yield ".".join([node.id, *steps]), value


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda path: str(path.relative_to(ROOT)))
def test_what_a_program_declares_can_be_made(program: Path) -> None:
    missing = set()
    for name, value in used(program):
        step = name.rpartition(".")[2]
        if isinstance(value, type) and issubclass(value, pulumi.CustomResource) and step != "Provider":
            missing |= {getattr(value, "pulumi_type", step)} - KINDS.keys()
        elif step.startswith("get_") and callable(value):
            wanted = step.removesuffix("_output").title().replace("_", "")
            wanted = wanted[0].lower() + wanted[1:]
            missing |= set() if any(t.endswith(f":{wanted}") for t in FUNCTIONS) else {name}
    assert not missing


def test_the_programs_are_found() -> None:
    names = {name for program in PROGRAMS for name, _ in used(program)}
    assert names >= {"aws.eks.NodeGroup", "gcp.container.NodePool", "aws.fsx.LustreFileSystem", "aws.get_region"}
