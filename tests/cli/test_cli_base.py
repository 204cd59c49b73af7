"""A change beside its base: what it changes, and that it cannot loosen what judges it."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from command import GPUYARD, environment, gpuyard
from repository import commit, config_map, git, privileged, program, repository

from gpuyard.cli.base import each_compared
from gpuyard.cli.stacks import Outcome
from gpuyard.review.comparison import Comparison
from gpuyard.review.errors import InputError
from gpuyard.review.evaluation.evaluate import find_policies
from gpuyard.review.judge import Review
from gpuyard.review.report.json import to_json

DATE = "2026-11-30"
PACKAGED = find_policies(Path("/nonexistent"))
LIMITS = {f"policies/limits/{file.name}": file.read_text() for file in PACKAGED.limits.glob("*.yaml")}
ALLOWED = config_map("a", x="1")


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    """A program on `main`, and a branch `change` that is checked out."""
    folder = repository(tmp_path / "shop")
    commit(folder, {**program(ALLOWED, config_map("old")), **LIMITS})
    git(folder, "checkout", "--quiet", "-b", "change")
    return folder


def outcome(folder: Path, *stacks: str, ref: str = "main", only_new: bool = False) -> Outcome[Review]:
    return each_compared(stacks, folder, 60, ref, date=DATE, only_new=only_new, over=lambda found: found)


def reviewed(folder: Path, *stacks: str, ref: str = "main", only_new: bool = False) -> tuple[Review, Comparison]:
    found = outcome(folder, *stacks, ref=ref, only_new=only_new)
    assert found.problems == []
    (review,) = found.made.values()
    assert review.comparison is not None
    return review, review.comparison


def test_a_change_shows_what_it_creates_updates_and_deletes_and_what_it_breaks(shop: Path) -> None:
    where = '"here": os.path.abspath("file")'
    placed = config_map("a", x="2").replace('"data": {', f'"data": {{{where}, ')
    commit(shop, program(placed, privileged("mighty")))
    review, found = reviewed(shop)
    assert [(one.name, one.operation, one.because) for one in found.changes] == [
        ("a", "update", ("/data/here", "/data/x")),
        ("old", "delete", ()),
        ("mighty", "create", ()),
    ]
    assert "isolation/privileged" in {one.rule for one in found.new}
    assert review.refused
    text = to_json([review])
    assert str(shop) in text, "a value that names the checkout names the repository"
    assert "gpuyard-" not in text.replace("gpuyard-node", "")
    assert git(shop, "worktree", "list").count("\n") == 0


def test_a_change_cannot_loosen_its_limits_its_environment_or_waive_itself(shop: Path) -> None:
    waiver = (
        "waivers:\n  - {rule: isolation/privileged, resource: fraud/Pod/mighty, stack: dev, reason: so, ticket: A-1, "
        "approver: ben, expires: 2026-12-05}\n"
    )
    strict = LIMITS["policies/limits/environments.yaml"]
    loose = {
        "policies/limits/development.yaml": LIMITS["policies/limits/development.yaml"].replace("max: 16", "max: 1600"),
        "policies/limits/environments.yaml": strict.replace("strictest: production", "strictest: development"),
    }
    commit(shop, {**program(privileged("mighty")), **loose, "policies/waivers.yaml": waiver})
    review, found = reviewed(shop)
    (finding,) = (one for one in review.findings if one.rule == "isolation/privileged")
    assert finding.denies
    assert found.commits.proposed == (*sorted(loose), "policies/waivers.yaml")


def test_an_old_commit_to_start_from_loosens_nothing_either(shop: Path) -> None:
    commit(shop, program(ALLOWED, privileged("mighty")))
    git(shop, "checkout", "--quiet", "main")
    strict = LIMITS["policies/limits/environments.yaml"].replace("development", "production")
    tip = commit(shop, {"policies/limits/environments.yaml": strict, **program(ALLOWED, config_map("others"))})
    git(shop, "checkout", "--quiet", "change")
    review, found = reviewed(shop)
    assert review.document["environment"] == "production"
    assert (found.commits.rules, found.commits.proposed) == (tip, ())
    assert [one.name for one in found.changes] == ["old", "mighty"], "what others have added is no change of this one"


def test_proposed_limits_that_are_wrong_are_said_to_be(shop: Path) -> None:
    commit(shop, {"policies/limits/development.yaml": "machines: 3\n"})
    review, found = reviewed(shop)
    assert not review.refused
    (note,) = (one for one in found.commits.notes if "proposes to judge by is wrong" in one)
    assert f"{shop}/policies/limits/development.yaml: " in note


def test_a_change_that_fixes_one_thing_and_leaves_another(tmp_path: Path) -> None:
    folder = repository(tmp_path)
    commit(folder, program(privileged("one"), privileged("two")))
    git(folder, "checkout", "--quiet", "-b", "change")
    commit(folder, program(privileged("two")))
    (folder / "__main__.py").write_text("raise ValueError('not committed')")
    review, found = reviewed(folder, only_new=True)
    assert not review.refused
    assert [one.urn.rpartition("::")[2] for one in found.fixed if one.rule == "isolation/privileged"] == ["one"]
    assert [one.known for one in found.unchanged if one.rule == "isolation/privileged"] == [True]
    assert any("__main__.py" in note for note in found.commits.notes)


def test_stacks_that_only_one_side_has_and_locks_that_differ_are_told(shop: Path) -> None:
    commit(
        shop,
        {"Pulumi.dev.yaml": None, "Pulumi.new.yaml": "config: {}\n", "requirements.txt": "pulumi\n"},
    )
    _, found = reviewed(shop)
    assert (found.base, found.why) == (None, "main has no stack new")
    notes = "\n".join(found.commits.notes)
    assert "has no file of dev any more" in notes
    assert "also changes requirements.txt" in notes


def test_a_base_that_cannot_be_reviewed_is_no_pass(tmp_path: Path) -> None:
    folder = repository(tmp_path)
    commit(folder, program("raise KeyError('nothing')\n"))
    git(folder, "checkout", "--quiet", "-b", "change")
    commit(folder, program(privileged("mighty")))
    review, found = reviewed(folder, only_new=True)
    assert review.refused
    assert found.why.startswith("main cannot be reviewed: main:__main__.py:3: the program raised KeyError")
    commit(folder, program("raise KeyError('nothing')\n"))
    (problem,) = outcome(folder).problems
    assert str(problem.error).startswith(f"{folder}/__main__.py:3: the program raised KeyError")


def test_a_base_without_the_program_or_with_wrong_limits(tmp_path: Path) -> None:
    folder = repository(tmp_path)
    commit(folder, {"README": "", **{f"infra/{name}": text for name, text in LIMITS.items()}})
    git(folder, "checkout", "--quiet", "-b", "change")
    commit(folder, {f"infra/{name}": text for name, text in program(privileged("mighty")).items()})
    review, found = reviewed(folder / "infra")
    assert (review.refused, found.why) == (True, "main has no such program")
    git(folder, "checkout", "--quiet", "main")
    commit(folder, {"infra/policies/limits/development.yaml": "machines: 3\n"})
    git(folder, "checkout", "--quiet", "change")
    (problem,) = outcome(folder / "infra").problems
    assert isinstance(problem.error, InputError)
    assert str(problem.error).startswith("main:infra/policies/limits/development.yaml: ")


def test_history_that_is_cut_off_is_told_and_judged_by_what_is_there(shop: Path, tmp_path: Path) -> None:
    commit(shop, program(ALLOWED))
    shallow = tmp_path / "shallow"
    shutil.copytree(shop, shallow)
    git(shallow, "checkout", "--quiet", "--orphan", "cut-off")
    commit(shallow, {})
    _, found = reviewed(shallow)
    assert any("history is cut off" in note for note in found.commits.notes)
    assert [one.name for one in found.changes] == ["old"]


def test_the_command_says_both_sides_and_its_code_and_refuses_what_does_not_go_together(shop: Path) -> None:
    commit(shop, program(privileged("mighty")))
    out = shop.parent / "out"
    answer = gpuyard("review", "dev", "--base", "main", "--date", DATE, "--out", out, cwd=shop)
    assert (answer.code, answer.err) == (1, "")
    assert "1 new" in answer.out or "new" in answer.out
    assert "**new**" in (out / "review.md").read_text()
    (report,) = json.loads((out / "review.json").read_text())
    assert report["comparison"]["commits"]["ref"] == "main"
    assert git(shop, "status", "--porcelain") == ""


def test_a_day_before_that_of_the_change_is_wrong_input(shop: Path) -> None:
    """By an older day a waiver of the base that has ended would hold again."""
    with pytest.raises(InputError, match="the day of the review, 2026-11-29, is before 2026-11-30, on which"):
        each_compared((), shop, 60, "main", date="2026-11-29", only_new=False, over=lambda found: found)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--only-new"], "--only-new needs --base"),
        (["--base", "main", "--live"], "--live and --base are different ways"),
        (["--base", "main", "--document", "x"], "--document and --base are different ways"),
        (["--state", "x", "--manifests", "."], "--state and --manifests are different ways"),
        (["--base", ""], "--base : git knows no such commit"),
        (["--document", ""], "cannot be read"),
    ],
)
def test_options_that_do_not_go_together_or_name_nothing_are_wrong_input(
    options: list[str], said: str, shop: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    from gpuyard.cli import commands

    monkeypatch.setattr("sys.argv", [*GPUYARD, "review", "--program", str(shop), *options])
    monkeypatch.setenv("COLUMNS", environment().get("COLUMNS", "200"))
    assert commands.run() == 2
    assert said in capfd.readouterr().err.replace("\n", " ")
