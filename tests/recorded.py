"""Writes small Pulumi programs, and records them as a review does."""

from __future__ import annotations

import textwrap
from pathlib import Path
from typing import Any

import pytest

from gpuyard.review.program.record import ProgramError, Project, find_project, record_program
from gpuyard.review.recording import Recording, Resource

PROGRAMS = Path(__file__).parent / "programs"
SECONDS = 60.0


def write(folder: Path, source: str, *, config: str = "config: {}\n", settings: str = "") -> Project:
    """A project called `shop`, with one stack `dev` and the given program."""
    (folder / "Pulumi.yaml").write_text(f"name: shop\nruntime: python\n{textwrap.dedent(settings)}")
    (folder / "Pulumi.dev.yaml").write_text(textwrap.dedent(config))
    (folder / "__main__.py").write_text(textwrap.dedent(source))
    return find_project(folder)


def record(project: Project, *, seconds: float = SECONDS, levers: tuple[str, ...] | None = None) -> Recording:
    """Records the stack `dev`."""
    return record_program(project, "dev", timeout_s=seconds, levers=levers)


def by_name(recording: Recording) -> dict[str, Resource]:
    """The resources by their names, which have to differ."""
    named = {resource["name"]: resource for resource in recording.resources}
    assert len(named) == len(recording.resources)
    return named


def inputs(recording: Recording, name: str) -> dict[str, Any]:
    """The inputs of the one resource of a name."""
    (found,) = (resource["inputs"] for resource in recording.resources if resource["name"] == name)
    return found


def refused(folder: Path, source: str, *, seconds: float = 60, config: str = "config: {}\n") -> str:
    """The message with which a program is refused."""
    with pytest.raises(ProgramError) as caught:
        record(write(folder, source, config=config), seconds=seconds)
    return str(caught.value)
