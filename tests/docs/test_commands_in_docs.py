"""Commands in the task pages are those that the programs have: subcommands and options, by the programs' own help."""

from __future__ import annotations

import functools
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import botocore.session
import pytest
from made import program

DOCS = Path(__file__).parents[2] / "docs"
PAGES = (
    "admission.md", "changing.md", "extending.md", "node-groups.md", "on-prem.md", "pains.md", "prices.md", "pull-requests.md", "state.md", "teardown.md",
    "upgrading.md"
)  # fmt: skip
SECONDS = 60

OWN = {"gpuyard": Path(sys.executable).with_name("gpuyard")}
ASKED = ("pulumi", "helm", "kubectl", "gpuyard")


def commands(page: Path) -> Iterator[list[str]]:
    """Every command of a page, in blocks and in running text, a list of words each."""
    lines, prose = _parted(page.read_text())
    for line in lines + re.findall(r"`([^`]+)`", prose):
        for part in line.replace("\\|", "|").replace("\n", " ").split(" | "):
            words = _words(part)
            while words and re.fullmatch(r"[A-Z_0-9]+=\S+", words[0]):
                words.pop(0)
            if len(words) > 1 and words[0] in (*ASKED, "aws"):
                yield words


def _parted(text: str) -> tuple[list[str], str]:
    """The lines of plain blocks, and the text outside of any."""
    lines, prose, fence = [], [], None
    for line in text.splitlines():
        if line.startswith("```"):
            fence = line if fence is None else None
        elif fence == "```":
            lines.append(line)
        elif fence is None:
            prose.append(line)
    return lines, "\n".join(prose)


def _words(text: str) -> list[str]:
    try:
        return shlex.split(text, comments=True)
    except ValueError:  # prose with an apostrophe
        return []


EVERY = [(page, words) for page in PAGES for words in commands(DOCS / page)]


@functools.cache
def said(name: str, *subcommand: str) -> str:
    """The help of a command; of what is none, that of the words before it."""
    path = OWN.get(name) or program(name)
    done = subprocess.run([path, *subcommand, "--help"], capture_output=True, text=True, timeout=SECONDS, check=False)
    return done.stdout + (_of_every_command(path) if name == "kubectl" else "")


@functools.cache
def _of_every_command(kubectl: Path) -> str:
    return subprocess.run([kubectl, "options"], capture_output=True, text=True, timeout=SECONDS, check=True).stdout


def subcommand(words: list[str]) -> list[str]:
    """The words before the first argument: those with a help of their own."""
    found: list[str] = []
    for word in words[1:]:
        if word.startswith("-") or said(words[0], *found, word) == said(words[0], *found):
            break
        found.append(word)
    return found


def options(words: list[str]) -> list[str]:
    return [word.partition("=")[0] for word in words if word.startswith("-") and len(word) > 1]


@pytest.mark.engine
@pytest.mark.parametrize(
    "words", [words for _, words in EVERY if words[0] in ASKED], ids=lambda words: " ".join(words)[:60]
)
def test_a_command_has_the_options_that_a_page_gives_it(words: list[str]) -> None:
    chosen = subcommand(words)
    assert chosen, f"{words[0]} has no command {words[1]}"
    known = said(words[0], *chosen)
    assert [option for option in options(words) if not re.search(rf"(?<!\S){option}\b", known)] == []


@pytest.mark.parametrize(
    "words", [words for _, words in EVERY if words[0] == "aws"], ids=lambda words: " ".join(words)[:60]
)
def test_an_operation_of_aws_has_the_parameters_that_a_page_gives_it(words: list[str]) -> None:
    service = {"s3api": "s3"}.get(words[1], words[1])
    model = botocore.session.get_session().get_service_model(service)
    name = words[2].replace("-", "")
    [operation] = [model.operation_model(one) for one in model.operation_names if one.lower() == name]
    shape = operation.input_shape
    known = {member.lower() for member in shape.members}
    for member in shape.members:  # --filters and the like are written in the plural everywhere but in EC2's own names
        known.add(member.lower().rstrip("s"))
    given = [option.removeprefix("--").replace("-", "") for option in options(words)]
    assert set(given) <= known | {"region", "query", "output"}
    assert {one.lower() for one in shape.required_members} <= set(given)


def test_the_pages_have_commands() -> None:
    assert {words[0] for _, words in EVERY} == {*ASKED, "aws"}
    assert len(EVERY) > 50
