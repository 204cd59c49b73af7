"""Wrong input through the command: one clear error each, exit code 2, no traceback."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from command import CONFIG_MAP, ROOT, gpuyard, program, refused

from gpuyard.components.stack import load
from gpuyard.components.validation import InvalidStack
from gpuyard.review.errors import InputError
from gpuyard.review.program import stackfile
from gpuyard.review.program.project import find_project

PLATFORM = """\
config:
  gpuyard:platform:
    owner: ml-platform
    cost_center: "4711"
    cluster:
      cloud: aws
      account: "111122223333"
      region: us-east-1
      kubernetes: "1.35"
      network: {cidr: 10.40.0.0/16, zones: [us-east-1a, us-east-1b]}
      admins: ["arn:aws:iam::111122223333:role/platform"]
    node_groups:
      system: {machine: m7i.2xlarge, nodes: {min: 3, max: 5}}
      l40s: {machine: g6e.12xlarge, nodes: {min: 0, max: 1}, capacity: {kind: on_demand}}
    tenants:
      chat: {groups: ["chat"], accelerators: {l40s: {quota: 4}}, monthly_budget: 30000}
    endpoints:
      small:
        tenant: chat
        engine: vllm
        on: l40s
        model: {id: Qwen/Qwen3-8B, revision: "0123456789abcdef0123456789abcdef01234567"}
        tensor_parallel: 2
        context: 16384
        replicas: {min: 1, max: 1}
"""
REVISION = '"0123456789abcdef0123456789abcdef01234567"'
AT = "gpuyard:platform."

MISTAKES = {
    "unknown-key": ("owner: ml", "ownr: x\n    owner: ml", (f"{AT}ownr", "not known", "did you mean owner")),
    "wrong-type": ("quota: 4", "quota: four", (f"{AT}tenants.chat.accelerators.l40s.quota", "'four'", "whole number")),
    "machine": ("g6e.12x", "g6e.13x", (f"{AT}node_groups.l40s.machine", "'g6e.13xlarge'", "nearest: g6e.")),
    "zone": ("us-east-1b]", "us-west-2b]", (f"{AT}cluster", "us-west-2b", "give zones of us-east-1")),
    "min-above-max": ("min: 3", "min: 6", (f"{AT}node_groups.system.nodes", "min 6 is above max 5", "lower min")),
    "group": ("on: l40s", "on: h100", (f"{AT}endpoints.small.on", "no node group h100", "l40s, system")),
    "tenant": ("tenant: chat", "tenant: vision", (f"{AT}endpoints.small.tenant", "no tenant vision", "chat")),
    "engine": ("engine: vllm", "engine: vlm", (f"{AT}endpoints.small.engine", "'vlm'", "did you mean vllm")),
    "divides": ("parallel: 2", "parallel: 3", (f"{AT}endpoints.small", "3 does not divide the 32", "1, 2, 4, 8")),
    "exceeds": ("parallel: 2", "parallel: 8", (f"{AT}endpoints.small.tensor_parallel", "8 is more than the 4", "1, 2, 4")),
    "revision": (REVISION, "1234567890123456789012345678901234567e10", (f"{AT}endpoints.small.model.revision", "e+46", "in quotes")),
    "secure": ("quota: 4", "quota: {secure: AAABAJcipher}", (f"{AT}tenants.chat.accelerators.l40s.quota", "Pulumi.secure.yaml", "Kubernetes Secret")),
    "other-key": ("gpuyard:platform", "gpuyard:platfrm", ("gpuyard:platform", "does not have this key", "put the platform under it")),
}  # fmt: skip

FILES = {
    "empty": (b"", ("Pulumi.empty.yaml", "is empty", "give `config:`")),
    "not-yaml": (b"config: [\n", ("Pulumi.not-yaml.yaml", "line 2")),
    "twice": (b"config:\n  a: 1\n  a: 2\n", ("Pulumi.twice.yaml", "line 3", "'a' is given twice", "keep one")),
    "large": (b"config: [\n#" + b"x" * 1_000_000, ("Pulumi.large.yaml", "over 1,000,000 bytes", "split it")),
    "latin": ("config:\n  a: é\n".encode("latin-1"), ("Pulumi.latin.yaml", "line 2", "0xe9", "UTF-8")),
    "wide": ("config:\n  a: b\n".encode("utf-16"), ("Pulumi.wide.yaml", "is UTF-16", "UTF-8")),
    "other": (b"confg:\n  a: b\n", ("Pulumi.other.yaml", "'confg'", "give config")),
}


def written(folder: Path, *stacks: str) -> Path:
    """A gpuyard program with a stack that is right, and those of the mistakes that are named."""
    shutil.copy(ROOT / "__main__.py", folder)
    (folder / "Pulumi.yaml").write_text("name: gpuyard\nruntime: python\n")
    (folder / "Pulumi.right.yaml").write_text(PLATFORM)
    for stack in stacks:
        old, new, _ = MISTAKES[stack]
        assert PLATFORM.count(old) == 1, old
        (folder / f"Pulumi.{stack}.yaml").write_text(PLATFORM.replace(old, new))
    return folder


def test_each_mistake_in_a_stack_file_is_one_error_with_path_value_and_remedy(tmp_path: Path) -> None:
    """What the program says, without a process for each."""
    project = find_project(written(tmp_path, *MISTAKES))
    lacking = {}
    for stack, (_, _, words) in MISTAKES.items():
        with pytest.raises((InputError, InvalidStack)) as raised:
            load(json.loads(stackfile.read(project, stack).values.get(stackfile.PLATFORM, "null")), stack)
        error = str(raised.value)
        if "\n" in error or not all(word in error for word in words):
            lacking[stack] = error
    assert lacking == {}


def test_wrong_stacks_are_a_line_each_and_do_not_hide_a_right_one(tmp_path: Path) -> None:
    wrong = {stack: MISTAKES[stack][2] for stack in ("machine", "secure")}
    written(tmp_path, *wrong)
    for stack, (content, words) in FILES.items():
        (tmp_path / f"Pulumi.{stack}.yaml").write_bytes(content)
        wrong[stack] = words

    answer = gpuyard("review", "--program", tmp_path)

    assert answer.code == 2
    assert "Traceback" not in answer.err
    assert answer.out.startswith("right ")
    errors = dict(line.removeprefix("error: stack ").split(": ", 1) for line in answer.err.splitlines())
    assert sorted(errors) == sorted(wrong), "a line each, and none for the right one"
    lacking = {
        stack: errors[stack] for stack, words in wrong.items() if not all(word in errors[stack] for word in words)
    }
    assert lacking == {}


def test_a_stack_that_does_not_exist_is_answered_with_those_that_do(tmp_path: Path) -> None:
    error = refused(gpuyard("review", "prd", "--program", program(tmp_path, prod="config: {}", dev="config: {}")), 2)
    assert "no stack 'prd'" in error
    assert "there are dev, prod" in error


def test_a_program_that_raises_is_named_with_its_line_and_what_it_printed(tmp_path: Path) -> None:
    where = program(tmp_path, 'print("reading prices")\nraise ValueError("no price for h100")\n')
    error = refused(gpuyard("review", "--program", where), 2)
    assert f"{tmp_path}/__main__.py:3: the program raised ValueError: no price for h100" in error
    assert "reading prices" in error


def test_a_program_that_never_ends_is_ended_after_the_time_that_it_is_given(tmp_path: Path) -> None:
    where = program(tmp_path, "import time\nwhile True:\n    time.sleep(0.01)\n")
    error = refused(gpuyard("review", "--program", where, "--timeout", "1.5"), 2)
    assert f"{tmp_path}: is not done after 1.5 s, and was ended" in error
    assert "allow it more seconds" in error


@pytest.mark.parametrize(
    ("lacking", "said"),
    [
        ("Pulumi.yaml", ("no Pulumi.yaml here or above", "give the folder of a Pulumi program")),
        ("Pulumi.dev.yaml", ("no stack", "there is no Pulumi.<stack>.yaml", "write one")),
        ("__main__.py", ("__main__.py does not exist", "correct `main`")),
    ],
)
def test_a_folder_that_lacks_a_part_of_a_program_is_not_a_pass(
    tmp_path: Path, lacking: str, said: tuple[str, ...]
) -> None:
    (program(tmp_path) / lacking).unlink()
    error = refused(gpuyard("review", "--program", tmp_path), 2)
    assert str(tmp_path) in error
    assert all(words in error for words in said), error


def test_a_project_that_asks_for_what_is_not_there_is_told_what_to_give(tmp_path: Path) -> None:
    error = refused(gpuyard("cost", "--program", program(tmp_path / "a", settings="main: src\n")), 2)
    assert "src" in error
    assert "correct `main`" in error
    settings = "runtime: {name: python, options: {virtualenv: venv}}\n"
    where = program(tmp_path / "b")
    (where / "Pulumi.yaml").write_text(f"name: shop\n{settings}")
    error = refused(gpuyard("review", "--program", where), 2)
    assert f"{where}/venv does not exist" in error
    (where / "Pulumi.yaml").write_text("name: shop\nruntime: nodejs\n")
    error = refused(gpuyard("review", "--program", where), 2)
    assert "runtime is 'nodejs'" in error


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("review", "--program", "nowhere"), ("'--program'", "nowhere does not exist", "give the folder")),
        (("review", "--program", "Pulumi.yaml"), ("'--program'", "Pulumi.yaml is a file", "give the folder")),
        (("review", "--date", "30.11.2026"), ("'--date'", "'30.11.2026' is not a day", "2026-11-30")),
        (("review", "--timeout", "0"), ("'--timeout'", "0<x<=86400")),
        (("review", "--timeout", "nan"), ("'--timeout'", "'nan' is no number of seconds")),
        (("inventory", "--timeout", "nan"), ("'--timeout'", "'nan' is no number of seconds")),
        (("review", "--format", "pdf"), ("'--format'", "'pdf'", "'json'")),
        (("review", "--out", "Pulumi.yaml"), ("--out Pulumi.yaml", "give a folder that can be written to")),
        (("explain", "Q99"), ("no rule 'Q99'", "quota/machines", "none to list them all")),
        (("explain", "quota/machine"), ("no rule 'quota/machine'", "give one of quota/machines")),
        (("revew",), ("No such command 'revew'", "Did you mean", "review")),
    ],
)  # fmt: skip
def test_a_wrong_argument_is_answered_with_what_to_give(
    tmp_path: Path, arguments: tuple[str, ...], said: tuple[str, ...]
) -> None:
    error = refused(gpuyard(*arguments, cwd=program(tmp_path)), 2)
    assert all(words in error for words in said), error


def test_every_problem_of_several_stacks_is_said_once_and_json_is_of_all_stacks_or_none(tmp_path: Path) -> None:
    source = f"{CONFIG_MAP}\nif pulumi.get_stack() != 'dev':\n    raise pulumi.RunError('only dev is ready')"
    where = program(tmp_path, source, dev="config: {}", prod="config: {}", test="config: {}", old="")
    shown = gpuyard("review", "--program", where, "dev", "prod", "dev")
    assert shown.code == 2
    assert shown.out.count("may deploy") == 1, "a stack that is named twice is reviewed once"
    error = refused(gpuyard("review", "--program", where, "--format", "json"), 2)
    assert error.count("only dev is ready") == 1
    assert "error: stacks prod, test: only dev is ready" in error
    assert "error: stack old: " in error
    refused(
        gpuyard("review", "--program", where, "dev", "old", "--format", "markdown", "--out", tmp_path / "reports"), 2
    )
    assert list((tmp_path / "reports").iterdir()) == []
