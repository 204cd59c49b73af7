"""The other commands, and what each says of itself."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import click
import pytest
from click.testing import CliRunner
from command import CONFIG_MAP, ROOT, gpuyard, program, rule

from gpuyard.cli import commands

NODE_GROUP = """
pulumi.CustomResource(
    "aws:eks/nodeGroup:NodeGroup",
    "gpu",
    {
        "region": "us-east-1",
        "clusterName": "ml",
        "instanceTypes": ["p5.48xlarge"],
        "scalingConfig": {"minSize": 0, "desiredSize": 1, "maxSize": 2},
    },
)
"""


@pytest.mark.parametrize(
    ("command", "words"),
    [
        ((), ("review", "cost", "explain", "machines", "schema", "Exit codes", "OPA_URL", "NO_COLOR")),
        (("review",), ("--program", "--date", "--timeout", "--format", "--out", "Exit code: 0", "decrypts no secret")),
        (("cost",), ("--program", "--date", "--timeout", "--format", "730 hours")),
        (("explain",), ("--program", "(Q6)", "policies/rules")),
        (("machines",), ("--cloud", "--region", "--format", "[FILTER]", "shown as ?")),
        (("schema",), ("yaml-language-server",)),
        (("new",), ("rule", "stack", "engine", "machine", "Nothing is written over")),
        (("new", "rule"), ("--program", "--reads TYPE PATH", "one of its two tests fails")),
        (("new", "machine"), ("--cloud", "--set COLUMN=VALUE", "--checkout")),
    ],
)
def test_each_command_says_what_it_is_for(command: tuple[str, ...], words: tuple[str, ...]) -> None:
    answer = gpuyard(*command, "--help")
    assert answer.code == 0
    said = " ".join(answer.out.split())
    assert [word for word in words if word not in said] == []


def test_the_help_of_every_command_fits_into_a_terminal() -> None:
    def each(command: click.Command, words: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
        yield words
        if isinstance(command, click.Group):
            ctx = click.Context(command)
            for name in command.list_commands(ctx):
                yield from each(command.get_command(ctx, name) or command, (*words, name))

    helps = {words: CliRunner().invoke(commands.gpuyard, [*words, "--help"]) for words in each(commands.gpuyard, ())}
    assert len(helps) > 15
    wide = {words: line for words, done in helps.items() for line in done.output.splitlines() if len(line) > 80}
    assert wide == {}
    assert {words for words, done in helps.items() if done.exit_code} == set()


def test_the_schema_is_the_one_that_editors_of_the_shipped_stacks_use() -> None:
    answer = gpuyard("schema")
    assert answer.code == 0
    assert answer.out == (ROOT / "stacks" / "schema.json").read_text(), "run `make generate`"


def test_a_cost_is_the_reviews_own_and_needs_no_rule(tmp_path: Path) -> None:
    where = program(tmp_path, NODE_GROUP)
    dead = {"OPA_URL": "http://127.0.0.1:1"}
    answer = gpuyard("cost", "--program", where, "--format", "json", **dead)
    assert answer.code == 0, answer.err
    reviewed = gpuyard("review", "--program", where, "--format", "json")
    assert reviewed.code == 1, "its rules deny it"
    cost = json.loads(answer.out)["dev"]
    assert cost == json.loads(reviewed.out)[0]["document"]["cost"]
    assert cost["total"]["min"] == 0 < cost["total"]["initial"] < cost["total"]["max"]
    table = gpuyard("cost", "--program", where, **dead)
    total = (f"${cost['total'][bound]:,.0f}" for bound in ("min", "initial", "max"))
    assert [line.split() for line in table.out.splitlines() if "total" in line] == [["total", *total]]


def test_rules_are_listed_and_explained_by_either_id(tmp_path: Path) -> None:
    listed = gpuyard("explain", cwd=tmp_path)
    assert listed.code == 0
    ids = {line.split()[1] for line in listed.out.splitlines()[1:]}
    found = {f"{path.parents[1].name}/{path.stem}" for path in (ROOT / "policies" / "rules").glob("*/*/*.rego")}
    assert ids == {name for name in found if not name.endswith("_test")}
    assert gpuyard("explain", "q6") == (explained := gpuyard("explain", "quota/machines"))
    assert "allow-list" in explained.out
    assert "What to do: " in explained.out


def test_a_programs_own_rule_is_explained_too(tmp_path: Path) -> None:
    rule(program(tmp_path, CONFIG_MAP), "deny contains x if { some x in [] }\n")
    answer = gpuyard("explain", "H1", "--program", tmp_path)
    assert "A rule of the house" in answer.out
    assert "Ask the house." in answer.out


def test_a_rules_thresholds_are_shown_with_what_each_environment_sets(tmp_path: Path) -> None:
    said = "#   thresholds:\n#     most: {type: integer, default: 3, description: How many pets.}\n#   remediation"
    where = program(tmp_path, CONFIG_MAP)
    rule(where, "deny contains x if { some x in [] }\n")
    file = next((tmp_path / "policies").rglob("*.rego"))
    file.write_text(file.read_text().replace("#   remediation", said))
    limits = tmp_path / "policies/limits"
    limits.mkdir()
    (limits / "environments.yaml").write_text("strictest: strict\nstacks: {}\n")
    own = f'thresholds: {{"{file.parts[-3]}/{file.stem}": {{most: 1}}}}\n'
    (limits / "strict.yaml").write_text(f"extends: gpuyard:production\n{own}")
    (limits / "loose.yaml").write_text("extends: gpuyard:development\n")
    answer = gpuyard("explain", "H1", "--program", tmp_path)
    assert "most  How many pets.\n  3 by default: loose 3, strict 1\n" in answer.out


def test_the_version_is_that_of_the_project() -> None:
    answer = gpuyard("--version")
    assert f'version = "{answer.out.split()[-1]}"' in (ROOT / "pyproject.toml").read_text()


def test_no_command_loads_the_sdk_of_pulumi_in_its_own_process() -> None:
    """It takes longer than all the rest; programs that need it run in a process of their own."""
    load = "import sys\nfrom gpuyard.cli import commands\n[commands.gpuyard.get_command(None, name) for name in commands.COMMANDS]"
    code = f"{load}\nprint({{'pulumi', 'grpc'}} & {{*sys.modules}})"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=100, check=True)
    assert done.stdout == "set()\n"
