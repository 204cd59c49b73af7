"""Clean checkouts of commits, which are gone when the review is over, however it ends.

Git runs with an environment of its own: no configuration of the user or the machine, no hooks, no question asked.
"""

from __future__ import annotations

import datetime
import os
import signal
import subprocess
import tempfile
import threading
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from gpuyard.review.errors import InputError

SECONDS = 300
"""A checkout that takes longer is given up."""

_SETTINGS = (
    *("-c", f"core.hooksPath={os.devnull}"),
    *("-c", "core.fsmonitor=false"),
    *("-c", "submodule.recurse=false"),
    # Whoever names a folder has its program run: its owner may be another, as in a container of CI.
    *("-c", "safe.directory=*"),
)
_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_SUBMODULE = "160000"
"""Mode of an entry that is a commit of another repository."""


class Repository:
    """A git repository that is there already."""

    def __init__(self, folder: Path) -> None:
        """Finds the repository of a folder. Raises InputError where there is none, or no git."""
        self.root = folder
        try:
            self.root = Path(self._git("rev-parse", "--show-toplevel").rstrip("\n")).resolve()
        except subprocess.CalledProcessError as error:
            raise InputError(
                f"{folder}: is in no working tree of git ({_last(error)}): --base compares two commits of one"
            ) from None

    def commit(self, ref: str) -> str:
        """The commit that a name stands for. Raises InputError for a name that is none."""
        try:
            if ref.startswith("-"):
                raise InputError(f"--base {ref}: is an option of git: give a branch, a tag or a commit")
            return self._git("rev-parse", "--verify", "--quiet", f"{ref}^{{commit}}").strip()
        except subprocess.CalledProcessError:
            raise InputError(
                f"--base {ref}: git knows no such commit in {self.root}: fetch it first (`git fetch origin {ref}`; in "
                "CI check out with the whole history), or give another"
            ) from None

    def fork(self, one: str, other: str) -> str | None:
        """The newest commit that two have in common; None where they have none, or history is cut off before it."""
        try:
            return self._git("merge-base", one, other).strip() or None
        except subprocess.CalledProcessError:
            return None

    def day(self, commit: str) -> str:
        """The day (YYYY-MM-DD, UTC) on which a commit was made, by its committer's clock."""
        seconds = self._git("rev-list", "--no-walk", "--timestamp", commit).split()[0]
        return datetime.datetime.fromtimestamp(int(seconds), datetime.UTC).date().isoformat()

    def changed(self, before: str, after: str) -> list[str]:
        """Files that differ between two commits, relative to the root."""
        return _listed(self._git("diff", "--no-ext-diff", "--no-renames", "--name-only", "-z", before, after))

    def uncommitted(self) -> list[str]:
        """Files that are in no commit as they are, those that git ignores left out."""
        return [line[3:] for line in _listed(self._git("status", "--porcelain", "--no-renames", "-z"))]

    def submodules(self, commit: str) -> list[str]:
        """Folders that are other repositories, relative to the root: no checkout has them."""
        entries = _listed(self._git("ls-tree", "-r", "-z", "--full-tree", commit))
        return [entry.partition("\t")[2] for entry in entries if entry.startswith(_SUBMODULE)]

    @contextmanager
    def worktrees(self, commits: Iterable[str]) -> Iterator[Mapping[str, Path]]:
        """A checkout of each commit, detached, by commit. Raises InputError where one cannot be made."""
        made: dict[str, Path] = {}
        with tempfile.TemporaryDirectory(prefix="gpuyard-", ignore_cleanup_errors=True) as folder:
            try:
                for commit in dict.fromkeys(commits):
                    made[commit] = Path(folder).resolve() / commit
                    self._add(commit, made[commit])
                yield made
            finally:
                with _undisturbed():
                    for path in made.values():
                        self._remove(path)

    def _add(self, commit: str, path: Path) -> None:
        try:
            self._git("worktree", "add", "--quiet", "--detach", str(path), commit)
        except subprocess.CalledProcessError as error:
            raise InputError(f"--base: {commit} cannot be checked out beside {self.root}: {_last(error)}") from None

    def _remove(self, path: Path) -> None:
        """Takes away the files and what the repository knows of them; one that was not made in the end, too."""
        for command in (("remove", "--force", "--force", str(path)), ("prune",)):
            try:
                self._git("worktree", *command)
            except (subprocess.CalledProcessError, InputError):
                continue

    def _git(self, *arguments: str) -> str:
        environment = {name: os.environ[name] for name in ("PATH", "TMPDIR") if name in os.environ}
        environment |= {
            "GIT_CONFIG_GLOBAL": os.devnull,
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_OPTIONAL_LOCKS": "0",
            "GIT_TERMINAL_PROMPT": "0",
            "LC_ALL": "C",
        }
        try:
            done = subprocess.run(
                ["git", *_SETTINGS, "-C", str(self.root), *arguments],  # noqa: S607 - the user's own git
                env=environment,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                errors="surrogateescape",
                timeout=SECONDS,
                check=True,
            )
        except FileNotFoundError:
            raise InputError("--base: there is no `git` on PATH: install it") from None
        except subprocess.TimeoutExpired:
            raise InputError(f"--base: git {arguments[0]} is not done after {SECONDS} s in {self.root}") from None
        return done.stdout


@contextmanager
def _undisturbed() -> Iterator[None]:
    """Interrupted once more while it ends, it would leave what it has made. Only the main thread can see to it."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {number: signal.signal(number, signal.SIG_IGN) for number in _SIGNALS}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _listed(text: str) -> list[str]:
    return [entry for entry in text.split("\0") if entry]


def _last(error: subprocess.CalledProcessError) -> str:
    lines = [line for line in str(error.stderr).splitlines() if line.strip()]
    return lines[-1] if lines else f"git ended with status {error.returncode}"
