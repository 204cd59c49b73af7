"""Both sides of a change, each in a clean checkout, and what judges them: always what the base says.

The base may have moved on since the change has left it. It is compared with the commit that the change has left, so
that only the change shows; it is judged by the rules of the base as it is now, so that no old commit loosens them.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from importlib.resources import files
from pathlib import Path, PurePosixPath

from gpuyard.review.comparison import Commits
from gpuyard.review.errors import InputError
from gpuyard.review.evaluation.evaluate import Policies, find_policies
from gpuyard.review.program.project import Project, find_project
from gpuyard.review.program.worktrees import Repository
from gpuyard.review.recording import Recording

JUDGE = ("policies", "quotas")
"""Folders of a program that say by what it is judged."""

LOCKS = ("Pipfile", "Pipfile.lock", "poetry.lock", "pyproject.toml", "setup.cfg", "setup.py", "uv.lock")
"""Files that say which packages a program runs with; files whose names begin with `requirements` too."""


@dataclass(frozen=True, slots=True)
class Side:
    """One side of a change."""

    project: Project | None
    """None where there is no program."""
    why: str
    """Why not."""


@dataclass(frozen=True, slots=True)
class Sides:
    """A change, checked out."""

    head: Project
    base: Side
    policies: Policies
    """Those of the base, for both sides."""
    proposed: Policies
    """Those that the change would have; they judge nothing."""
    commits: Commits
    root: Path
    """Of the repository."""
    day: str
    """The day (YYYY-MM-DD, UTC) of the newer one of the commits that judges and is judged."""
    places: tuple[tuple[Path, str], ...]
    """Checkouts, and what is said before the name of a file there."""

    def told(self, text: str) -> str:
        """A text in which files are called as in the repository."""
        for folder, name in self.places:
            text = text.replace(f"{folder}/", name).replace(f"{folder}", name[:-1])
        return text

    def at_home(self, recording: Recording) -> Recording:
        """A recording in which values that name the checkout name the repository: only what differs shall differ."""
        text = json.dumps(recording.resources)
        moved = text
        for folder, _ in self.places:
            moved = moved.replace(json.dumps(str(folder))[1:-1], json.dumps(str(self.root))[1:-1])
        return recording if moved == text else replace(recording, resources=json.loads(moved))


@contextmanager
def sides(project: Project, ref: str) -> Iterator[Sides]:
    """Checks out both sides of a change: `ref`, and the commit that the program's working tree is at.

    Raises InputError where git knows no such commit, or the change has no program; its message names the repository.
    """
    repository = Repository(project.root)
    head, rules = repository.commit("HEAD"), repository.commit(ref)
    fork = repository.fork(rules, head)
    base = fork or rules
    inside = project.root.resolve().relative_to(repository.root)
    with repository.worktrees((rules, base, head)) as there:
        judged, was, now = (there[commit] for commit in (rules, base, head))
        places = ((judged, f"{ref}:"), (was, f"{ref}:"), (now, f"{repository.root}/"))
        try:
            proposal = find_project(now / inside, project.python)
        except InputError as error:
            raise InputError(str(error).replace(f"{now}", f"{repository.root}")) from None
        changed = repository.changed(base, head)
        commits = Commits(
            ref,
            rules,
            base,
            head,
            tuple(file for file in changed if _judges(PurePosixPath(file), inside)),
            tuple(_notes(repository, changed, base if fork else "", head)),
        )
        yield Sides(
            proposal,
            _side(was / inside, project, ref),
            _policies(judged, inside, repository.root),
            _policies(now, inside, repository.root),
            commits,
            repository.root,
            max(repository.day(rules), repository.day(head)),
            places,
        )


def _side(folder: Path, project: Project, ref: str) -> Side:
    """The program of the base, with the interpreter of the change."""
    try:
        found = find_project(folder, project.python)
    except InputError:
        return Side(None, f"{ref} has no such program")
    # A folder above may have another one.
    return Side(found, "") if found.root == folder else Side(None, f"{ref} has no such program")


def _policies(checkout: Path, inside: Path, root: Path) -> Policies:
    """Where the program is gpuyard's own, what it brings is of the checkout as well."""
    packaged = _brought()
    own = checkout / packaged.relative_to(root) if packaged.is_relative_to(root) else None
    return find_policies(checkout / inside, own if own and own.is_dir() else None)


def _brought() -> Path:
    """What gpuyard brings to judge by."""
    return Path(str(files("gpuyard.policies"))).resolve()


def _judges(file: PurePosixPath, inside: Path) -> bool:
    return any(file.is_relative_to(PurePosixPath(inside.as_posix()) / folder) for folder in JUDGE)


def _notes(repository: Repository, changed: list[str], fork: str, head: str) -> Iterator[str]:
    if not fork:
        yield (
            "where the change has left its base is not known, as history is cut off or there is none in common: what "
            "others have changed since shows as well"
        )
    if fork == head:
        yield "the base has all commits of the change: there is nothing to compare"
    locks = [file for file in changed if _locks(PurePosixPath(file).name)]
    if locks:
        yield (
            f"the change also changes {_some(locks)}: the base was run with the packages of the change, and may differ "
            "from what is deployed"
        )
    if _brought().is_relative_to(repository.root):
        yield "the catalogue of machines, prices and versions is not the base's: gpuyard itself is of the working tree"
    if changes := repository.uncommitted():
        yield f"not reviewed, as no commit has it: {_some(changes)}"
    if modules := repository.submodules(head):
        yield f"submodules are not checked out: {_some(modules)}"


def _locks(name: str) -> bool:
    return name in LOCKS or name.startswith("requirements")


def _some(names: list[str]) -> str:
    rest = f" and {len(names) - 3} more" if len(names) > 3 else ""
    return f"{', '.join(names[:3])}{rest}"
