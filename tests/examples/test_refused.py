"""The refused examples: each gives exactly the findings that it promises, and none once it is fixed."""

from __future__ import annotations

import copy
import re
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import pytest
from pack import grown
from ruamel.yaml import YAML

from gpuyard.review.evaluation import rules
from gpuyard.review.evaluation.evaluate import find_policies
from gpuyard.review.evaluation.findings import Finding
from gpuyard.review.evaluation.waiving import GROUP
from gpuyard.review.judge import Review, judge
from gpuyard.review.program.record import find_project, record_program
from gpuyard.review.program.stackfile import stacks
from gpuyard.review.recording import Recording

EXAMPLES = Path(__file__).parents[2] / "examples" / "refused"
NAMES = sorted(path.name for path in EXAMPLES.iterdir() if path.is_dir() and path.name[0] not in "._")
DATE = "2026-11-30"
ROW = re.compile(
    r"^\| \[`(?P<name>[^`]+)`\]\((?P<link>[^)]+)\) \| (?P<rule>[^|]+) \| [^|]+ \| (?P<says>[^|]+) \| [^|]+ \|$"
)

Json = dict[str, Any]


def expected(name: str) -> Any:
    return YAML(typ="safe", pure=True).load((EXAMPLES / name / "expected.yaml").read_text())


def fixed(name: str, folder: Path) -> Path:
    """A copy of an example, with its fix."""
    copy = shutil.copytree(EXAMPLES / name, folder / name)
    for step in expected(name)["fix"]:
        file = copy / step["file"]
        file.write_text(replaced(file.read_text(), step["replace"], step["by"]))
    return copy


def replaced(text: str, lines: str, others: str) -> str:
    """The text with other lines in place of some that are there once, indented as those were."""
    pattern = re.compile("^( *)" + "^\\1".join(map(re.escape, lines.splitlines(keepends=True))), re.MULTILINE)
    new, count = pattern.subn(lambda found: textwrap.indent(others, found[1]), text)
    assert count == 1, f"the fix wants to replace what is there {count} times:\n{lines}"
    return new


def recorded(folder: Path) -> Recording:
    """An example's one stack."""
    project = find_project(folder)
    (stack,) = stacks(project)
    return record_program(project, stack)


def review(folder: Path) -> Review:
    """The review of an example's one stack."""
    return judge(recorded(folder), find_policies(folder), date=DATE)


def written(finding: Finding) -> Json:
    """A finding as expected.yaml writes it."""
    keys = ("rule", "severity", "level", "status", "path", "message")
    return {key: getattr(finding, key) for key in keys} | {"resource": finding.urn.rpartition("::")[2]}


@pytest.mark.parametrize("name", NAMES)
def test_an_example_is_refused_for_what_it_promises_and_nothing_else(name: str) -> None:
    recording, policies = recorded(EXAMPLES / name), find_policies(EXAMPLES / name)
    # Before the review marks what it must not show.
    resources: Any = copy.deepcopy(recording.resources)
    reviewed = judge(recording, policies, date=DATE)
    assert [written(finding) for finding in reviewed.findings] == expected(name)["findings"]
    assert len({finding.rule for finding in reviewed.findings}) == 1, "an example shows one rule"
    assert reviewed.refused == any(finding["level"] == "mandatory" for finding in expected(name)["findings"])
    pack = grown(
        resources, stack=recording.stack, project=recording.project, policies=policies, config=recording.config
    )
    assert pack.last == reviewed.findings, "the policy pack says the same"


@pytest.mark.parametrize("name", NAMES)
def test_an_example_may_deploy_once_it_is_fixed(name: str, tmp_path: Path) -> None:
    reviewed = review(fixed(name, tmp_path))
    assert reviewed.findings == [], "not even advice"
    assert not reviewed.refused


def test_the_command_refuses_an_example_until_it_is_fixed(tmp_path: Path) -> None:
    def said(folder: Path, *options: str) -> tuple[int, str]:
        gpuyard = Path(sys.executable).with_name("gpuyard")
        ended = subprocess.run([gpuyard, "review", *options], cwd=folder, capture_output=True, text=True, check=False)
        return ended.returncode, ended.stdout + ended.stderr

    code, text = said(EXAMPLES / "plain-tokens-deployment")
    assert code == 1
    assert "environment variable HF_TOKEN holds a secret" in text
    _, document = said(EXAMPLES / "plain-tokens-deployment", "--format", "json")
    assert "ThisTokenIsFake" not in text + document, "a report says where a secret is, and never what it is"
    code, text = said(fixed("plain-tokens-deployment", tmp_path))
    assert code == 0
    assert "may deploy" in text


def test_every_rule_has_an_example_that_it_refuses() -> None:
    shown = {finding["rule"] for name in NAMES for finding in expected(name)["findings"]}
    known = rules.load(find_policies(EXAMPLES).directories).rules
    # Waivers: tests/review/waiving/test_waivers.py. How old the catalogue is, no program says, nor what it was before.
    assert shown == {rule for rule in known if not rule.startswith(GROUP)} - {
        "supply_chain/floors_age",
        "cost/increase",
    }


def test_the_table_of_examples_says_what_they_give() -> None:
    rows = [ROW.match(line) for line in (EXAMPLES / "README.md").read_text().splitlines() if line.startswith("| [")]
    assert all(rows), "every row has five cells, the first of which is a link"
    assert [row["name"] for row in rows if row] == NAMES
    for row in (row for row in rows if row):
        assert (EXAMPLES / row["link"]).is_file()
        found = expected(row["name"])["findings"][0]
        assert row["rule"] == found["rule"]
        assert row["says"] in found["message"]
