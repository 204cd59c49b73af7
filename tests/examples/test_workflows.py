"""Workflows that others copy: they load, may do no more than they need, and call what there is."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import Any

import click
import pytest
from ruamel.yaml import YAML

from gpuyard.cli.commands import gpuyard
from gpuyard.cli.review import FILES
from gpuyard.review.report.markdown import LIMIT, MARKER

EXAMPLES = Path(__file__).parents[2] / "examples"
GITHUB = sorted((EXAMPLES / "ci" / "github").glob("*.yml"))
GITLAB = EXAMPLES / "ci" / "gitlab" / "gpuyard.gitlab-ci.yml"
STACK = EXAMPLES / "gitops" / "stack.yaml"
UNTRUSTED = re.compile(r"\$\{\{[^}]*\b(title|body|head_ref|head\.ref|label|message|email|page_name)\b")
"""What whoever opens a pull request may write, and a shell would run."""


def loaded(path: Path) -> Any:
    return YAML(typ="safe", pure=True).load(path.read_text())


def steps(workflow: Any) -> list[Any]:
    return [step for job in workflow["jobs"].values() for step in job["steps"]]


def commands(text: str) -> list[list[str]]:
    """Each call of gpuyard in shell text, as words after it."""
    joined = text.replace("\\\n", " ")
    found = [shlex.split(line) for line in joined.splitlines() if re.search(r'/gpuyard"? (?!install)\w', line)]
    return [words[1:] for words in found if words and words[0].endswith("/bin/gpuyard")]


def scripts() -> list[str]:
    told = [step["run"] for path in GITHUB for step in steps(loaded(path)) if "run" in step]
    return [*told, "\n".join(loaded(GITLAB)["gpuyard"]["script"])]


@pytest.mark.parametrize("path", GITHUB, ids=lambda path: path.name)
def test_an_action_is_pinned_by_its_commit_and_says_its_version(path: Path) -> None:
    uses = re.findall(r"uses: (.*)", path.read_text())
    assert len(uses) == sum("uses" in step for step in steps(loaded(path))) > 0
    for one in uses:
        assert re.fullmatch(r"actions/[a-z-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+", one), one


@pytest.mark.parametrize("path", GITHUB, ids=lambda path: path.name)
def test_no_job_may_do_more_than_it_needs_and_none_has_a_secret(path: Path) -> None:
    text, workflow = path.read_text(), loaded(path)
    assert workflow["permissions"] == {}
    assert "secrets." not in text
    assert "pull_request_target" not in text
    assert UNTRUSTED.search(text) is None
    for job in workflow["jobs"].values():
        assert job["timeout-minutes"] <= 20


def test_the_job_that_runs_proposed_code_may_do_nothing_and_the_other_one_runs_none_of_it() -> None:
    review, comment = (loaded(EXAMPLES / "ci" / "github" / name) for name in ("review.yml", "comment.yml"))
    assert [*review["on"]] == ["pull_request"]
    assert [job["permissions"] for job in review["jobs"].values()] == [{}]
    checkout = next(step for step in steps(review) if "checkout" in step.get("uses", ""))
    assert checkout["with"] == {"fetch-depth": 0, "persist-credentials": False}
    assert [*comment["on"]] == ["workflow_run"]
    assert comment["on"]["workflow_run"]["workflows"] == [review["name"]]
    assert comment["jobs"]["comment"]["permissions"] == {"actions": "read", "pull-requests": "write"}
    assert "checkout" not in str(comment)
    assert "pip" not in str(comment)
    uploaded = next(step["with"]["name"] for step in steps(review) if "upload-artifact" in step.get("uses", ""))
    assert uploaded == steps(comment)[0]["with"]["name"]


def test_the_comment_is_found_by_the_marker_of_the_report_and_fits() -> None:
    script = steps(loaded(EXAMPLES / "ci" / "github" / "comment.yml"))[-1]["with"]["script"]
    assert f"const marker = '{MARKER}';" in script
    assert f"const limit = {LIMIT};" in script
    assert "run.head_sha" in script


def test_the_commands_are_those_that_there_are() -> None:
    called = [words for text in scripts() for words in commands(text)]
    assert len(called) == 2
    for name, *rest in called:
        context = click.Context(gpuyard)
        command = gpuyard.get_command(context, name)
        assert command is not None
        options = {text for one in command.params for text in one.opts}
        assert {word for word in rest if word.startswith("--")} <= options
        assert "--base" in rest
    text = "\n".join(scripts()) + str(loaded(GITLAB)["gpuyard"]["artifacts"]) + str(GITHUB[0].read_text())
    named = set(re.findall(r"review(?:\.\w+)+", text)) - {"review.yml"}
    assert named <= {*FILES.values()}
    assert "review.md" in named


def test_gitlab_shows_findings_without_a_token_of_its_own() -> None:
    job = loaded(GITLAB)["gpuyard"]
    assert job["rules"] == [{"if": '$CI_PIPELINE_SOURCE == "merge_request_event"'}]
    assert job["artifacts"]["reports"]["junit"] == f"reports/{FILES['junit']}"
    assert job["artifacts"]["paths"] == [f"reports/{FILES['html']}"]
    assert "TOKEN" not in str(job)


def test_the_stack_of_the_operator_is_a_shipped_one_and_no_deletion_destroys_it() -> None:
    stack = loaded(STACK)
    assert (stack["apiVersion"], stack["kind"]) == ("pulumi.com/v1", "Stack")
    name = stack["spec"]["stack"].rpartition("/")[2]
    assert (EXAMPLES.parent / "stacks" / f"Pulumi.{name}.yaml").is_file()
    assert stack["spec"]["destroyOnFinalize"] is False
    assert "secret" in stack["spec"]["envRefs"]["PULUMI_ACCESS_TOKEN"]
