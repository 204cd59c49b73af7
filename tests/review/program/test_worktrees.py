"""Checkouts beside a repository: clean, without hooks, and gone however it ends."""

from __future__ import annotations

import os
import signal
import stat
from pathlib import Path

import pytest
from repository import commit, git, repository

from gpuyard.review.errors import InputError
from gpuyard.review.program.worktrees import Repository


@pytest.fixture
def there(tmp_path: Path) -> Path:
    folder = repository(tmp_path / "shop")
    commit(folder, {"a": "1", "sub/b": "1"})
    return folder


def listed(folder: Path) -> list[str]:
    return git(folder, "worktree", "list", "--porcelain").split("\n\n")


def test_each_commit_is_there_as_it_was_and_nothing_of_it_afterwards(there: Path) -> None:
    first, second = git(there, "rev-parse", "HEAD"), commit(there, {"a": "2", "c": "3"})
    (there / "a").write_text("not committed")
    with Repository(there / "sub").worktrees((first, second, first)) as found:
        assert {commit: (path / "a").read_text() for commit, path in found.items()} == {first: "1", second: "2"}
        (found[first] / "left").touch()
        paths = [*found.values()]
    assert not any(path.parent.exists() for path in paths)
    assert len(listed(there)) == 1
    assert (there / "a").read_text() == "not committed"


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_nothing_is_left_when_it_is_ended_twice(number: signal.Signals, there: Path) -> None:
    seen: list[Path] = []

    def ended(*_: object) -> None:
        raise SystemExit(128 + number)

    before = signal.signal(number, ended)
    removed = Repository._remove

    def impatient(self: Repository, path: Path) -> None:
        os.kill(os.getpid(), number)
        removed(self, path)

    def interrupted() -> None:
        with Repository(there).worktrees([git(there, "rev-parse", "HEAD")]) as found:
            seen.extend(found.values())
            os.kill(os.getpid(), number)

    try:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(Repository, "_remove", impatient)
            with pytest.raises(SystemExit):
                interrupted()
    finally:
        signal.signal(number, before)
    assert seen
    assert not any(path.exists() for path in seen)
    assert len(listed(there)) == 1


def test_no_hook_runs_and_no_setting_of_the_user_counts(there: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    hook = there / ".git" / "hooks" / "post-checkout"
    hook.write_text(f"#!/bin/sh\ntouch {there}/it-ran\n")
    hook.chmod(hook.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("GIT_DIR", str(there / "nowhere"))
    monkeypatch.setenv("GIT_WORK_TREE", str(there / "nowhere"))
    with Repository(there).worktrees([Repository(there).commit("HEAD")]):
        pass
    assert not (there / "it-ran").exists()


def test_files_that_differ_or_are_in_no_commit_and_submodules_are_told(there: Path) -> None:
    first = git(there, "rev-parse", "HEAD")
    git(there, "update-index", "--add", "--cacheinfo", f"160000,{first},vendored")
    git(there, "commit", "--quiet", "--message", "a module")
    second = git(there, "rev-parse", "HEAD")
    found = Repository(there)
    assert found.changed(first, second) == ["vendored"]
    assert (found.submodules(first), found.submodules(second)) == ([], ["vendored"])
    (there / "a b\n").touch()
    (there / "a").write_text("9")
    assert {*found.uncommitted()} >= {"a", "a b\n"}


def test_the_fork_of_two_branches_is_the_newest_commit_of_both(there: Path) -> None:
    first = git(there, "rev-parse", "HEAD")
    git(there, "checkout", "--quiet", "-b", "change")
    change = commit(there, {"c": "1"})
    git(there, "checkout", "--quiet", "main")
    main = commit(there, {"d": "1"})
    git(there, "checkout", "--quiet", "--orphan", "stranger")
    stranger = commit(there, {"e": "1"})
    found = Repository(there)
    assert found.fork(main, change) == first
    assert found.fork(main, stranger) is None


@pytest.mark.parametrize("ref", ["nope", "", "-p", "HEAD:a", "--output=x", "a..b"])
def test_a_name_that_is_no_commit_is_an_error(ref: str, there: Path) -> None:
    with pytest.raises(InputError, match=f"--base {ref}:"):
        Repository(there).commit(ref)


def test_a_folder_outside_of_any_repository_and_a_machine_without_git_are_errors(
    there: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(InputError, match="is in no working tree of git"):
        Repository(tmp_path)
    monkeypatch.setenv("PATH", "")
    with pytest.raises(InputError, match="there is no `git` on PATH"):
        Repository(there)
