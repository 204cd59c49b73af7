"""Each refused example is refused on the real engine too: by the gate, by the policy pack, and by each alone.

Those that break a rule of advice alone are told so by both, and may deploy.
"""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest
from clouds.cloud import Cloud
from engine.engine import ROOT, Engine
from engine.run import Run
from ruamel.yaml import YAML

from gpuyard.review.evaluation.evaluate import find_policies
from gpuyard.review.evaluation.rules import load
from gpuyard.review.gate import REFUSAL

pytestmark = [pytest.mark.engine, pytest.mark.timeout(300)]

EXAMPLES = ROOT / "examples" / "refused"
NAMES = sorted(path.name for path in EXAMPLES.iterdir() if path.is_dir() and path.name[0] not in "._")
EXPECTED: dict[str, list[dict[str, Any]]] = {
    name: YAML(typ="safe", pure=True).load((EXAMPLES / name / "expected.yaml").read_text())["findings"]
    for name in NAMES
}
DENIED = [name for name in NAMES if any(finding["level"] == "mandatory" for finding in EXPECTED[name])]
ADVISED = [name for name in NAMES if name not in DENIED]
SAMPLE = ["instance-metadata-eks", "machines-stack"]
"""A program of its own, and a stack file: the others run with `-m long`."""

OWN = ("policies", "quotas")
"""What may stand beside an example's Pulumi.yaml: prices, limits and rules of its own, quotas of its account."""

PACKS = {"executable": ROOT / "policies" / "analyzer", "folder": ROOT / "policies"}
RULES = load(find_policies(EXAMPLES).directories).rules

CHARTS = """
import json, pathlib, pulumi

def local(resource):
    if resource.type_ != "kubernetes:helm.sh/v3:Release":
        return None
    folder = pathlib.Path({charts!r}) / resource.props["chart"]
    folder.mkdir(parents=True, exist_ok=True)
    about = {{"apiVersion": "v2", "name": folder.name, "version": resource.props["version"]}}
    (folder / "Chart.yaml").write_text(json.dumps(about))
    props = {{key: value for key, value in resource.props.items() if key not in ("repository_opts", "repositoryOpts")}}
    return pulumi.ResourceTransformationResult(props | {{"chart": str(folder)}}, resource.opts)

pulumi.runtime.register_stack_transformation(local)
"""
"""Charts come from the internet: an empty one of the same name takes the place of each."""
GATE = """
import runpy
from gpuyard.review import gate

gated, gate.gated = gate.gated, lambda build: build()
gated(lambda: runpy.run_path({main!r}, run_name="__main__"))
"""
NO_GATE = """
import runpy
from gpuyard.review import gate

gate.gated = lambda build: build()
runpy.run_path({main!r}, run_name="__main__")
"""
"""An example with one gate, though most have none; and without any."""

Json = dict[str, Any]


EVERY = pytest.mark.parametrize(
    "name", [pytest.param(name, marks=() if name in SAMPLE else pytest.mark.long) for name in DENIED]
)


class Example:
    """An example on the engine, in a project of its own."""

    def __init__(self, name: str, folder: Path, template: str) -> None:
        example, program = EXAMPLES / name, folder / "program"
        program.mkdir(parents=True)
        for file in example.glob("Pulumi*.yaml"):
            (program / file.name).write_text(file.read_text())
        text = (CHARTS + template).format(main=str(example / "__main__.py"), charts=str(folder / "charts"))
        (program / "__main__.py").write_text(text)
        (stack,) = (file.name.split(".")[1] for file in example.glob("Pulumi.*.yaml"))
        self.cloud = Cloud(folder / "cloud")
        self.engine = Engine(folder / "engine", stack, cloud=self.cloud, program=program)
        for own in (path for path in example.iterdir() if path.name in OWN):
            # The gate looks beside the project's file, the pack where the program is: for a user that is one place.
            for place in (self.engine.project, program):
                shutil.copytree(own, place / own.name)
        # AWS' provider needs one beside those of the resources.
        self.engine.pulumi("config", "set", "aws:region", "us-east-1")
        self.findings = EXPECTED[name]

    def left(self) -> list[str]:
        """What exists, in the cloud and in the state; nothing of that is a resource of the program."""
        state = [resource["type"] for resource in self.engine.export().get("resources", [])]
        return [thing.kind for thing in self.cloud.resources()] + state


def told_by_the_gate(run: Run, findings: list[Json]) -> None:
    for finding in findings:
        said = run.diagnostics("error" if finding["level"] == "mandatory" else "warning")
        sentence = f"{finding['rule']}: {finding['resource']}{finding['path']}: {finding['message']}. "
        assert any(one.startswith(sentence) for one in said), said


def told_by_the_pack(run: Run, findings: list[Json]) -> None:
    """Exactly these, each on its resource; what adds up, on the resource that made it too much."""
    told = {(e["policyName"], e["severity"], e["enforcementLevel"], e["message"].strip()) for e in run.policies()}
    assert told == {(f["rule"], f["severity"], f["level"], written(f)) for f in findings}, run.output
    on = sorted(event["resourceUrn"].rpartition("::")[2] for event in run.policies())
    sums = any(RULES[finding["rule"]].scope == "sum" for finding in findings)
    assert sums or on == sorted(finding["resource"] for finding in findings)


def written(finding: Json) -> str:
    where = f" ({finding['path']})" if finding["path"] not in finding["message"] else ""
    return f"{finding['message']}{where}. {RULES[finding['rule']].remediation}"


@EVERY
def test_the_gate_refuses_with_a_pack_and_without_a_preview(name: str, tmp_path: Path) -> None:
    example = Example(name, tmp_path, GATE)
    preview = example.engine.preview(pack=PACKS["executable"], expect_failure=True)
    told_by_the_gate(preview, example.findings)
    # A program that fails is the end of a preview: what the pack says of the whole stack is not asked for.
    told_by_the_pack(preview, [f for f in example.findings if RULES[f["rule"]].scope != "stack"])
    assert example.left() == []

    update = example.engine.up(expect_failure=True)
    told_by_the_gate(update, example.findings)
    assert any(said.endswith(REFUSAL) for said in update.diagnostics("error"))
    assert update.policies() == []
    assert example.left() == ["pulumi:pulumi:Stack"]


@EVERY
def test_the_pack_alone_refuses_a_program_that_knows_no_gate(name: str, tmp_path: Path) -> None:
    example = Example(name, tmp_path, NO_GATE)
    # The folder judges by what is its own, and would not take the example's.
    own = any((EXAMPLES / name / folder).is_dir() for folder in OWN)
    kind = "executable" if own else sorted(PACKS)[NAMES.index(name) % 2]
    preview = example.engine.preview(pack=PACKS[kind], expect_failure=True)
    told_by_the_pack(preview, example.findings)
    assert example.left() == []


@pytest.mark.long
@pytest.mark.parametrize("name", ADVISED)
def test_advice_is_given_by_the_gate_and_by_the_pack_and_refuses_nothing(name: str, tmp_path: Path) -> None:
    example = Example(name, tmp_path, GATE)
    # The folder judges by what is its own, and would not take the example's.
    own = any((EXAMPLES / name / folder).is_dir() for folder in OWN)
    preview = example.engine.preview(pack=PACKS["executable" if own else "folder"])
    told_by_the_gate(preview, example.findings)
    told_by_the_pack(preview, example.findings)
    assert preview.diagnostics("error") == []
    assert example.left() == []
