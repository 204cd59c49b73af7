"""Each row of docs/pains.md holds: what it says is refused is refused in these words."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from merging import merged
from pains import MADE_SO, ROWS
from plans import described
from ruamel.yaml import YAML

from gpuyard.components.stack import load
from gpuyard.components.validation import InvalidStack
from gpuyard.review.evaluation.evaluate import find_policies
from gpuyard.review.judge import judge
from gpuyard.review.program.record import find_project, record_program
from gpuyard.review.program.stackfile import stacks

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "pains.md"
EXAMPLES = ROOT / "examples" / "refused"
STACKS = sorted((ROOT / "tests" / "data" / "pains").glob("*.yaml"))
DATE = "2026-11-30"
READ = YAML(typ="safe", pure=True)

EXAMPLE = re.compile(r"\]\(\.\./examples/refused/([a-z0-9-]+)\)")
RULE = re.compile(r"`([a-z_]+/[a-z_]+)`")
CODE = re.compile(r"`([^`]+)`")
CITATION = re.compile(r"\]\(https://github\.com/[^/\s]+/[^/\s]+/(?:issues|pull)/\d+\)")
NOTHING = "\N{EN DASH}"

Json = dict[str, Any]


def snippet(path: Path) -> Json:
    found: Json = READ.load(path.read_text())
    return found


def refused(before: str) -> str:
    """What a row says is refused."""
    return before.partition(MADE_SO)[0]


def messages(text: str) -> list[str]:
    """The messages that a row quotes: code with spaces in it."""
    return [code for code in CODE.findall(text) if " " in code]


def quotes(row: str, words: str) -> bool:
    """Whether one of a row's messages is these words, but for what an … leaves out."""
    return any(re.fullmatch(".*".join(map(re.escape, one.split("…"))), words) for one in messages(row))


def test_the_page_has_all_twenty_five_and_each_has_a_source() -> None:
    assert list(ROWS) == list(range(1, 26))
    assert [number for number, (pain, _, _) in ROWS.items() if not CITATION.search(pain)] == []


def test_each_row_says_what_happens_or_why_nothing_can() -> None:
    for number, (_, before, unseen) in ROWS.items():
        assert before.startswith(("**Refused**: ", "**Made so**: ", NOTHING)), number
        assert before != NOTHING or unseen != NOTHING, number
        assert ("**Refused**" in before) == bool(messages(refused(before)) or EXAMPLE.search(before)), number


@pytest.mark.parametrize("path", STACKS, ids=lambda path: path.stem)
def test_a_stack_is_refused_in_the_words_of_its_row(path: Path) -> None:
    told = snippet(path)
    shipped = described(told["stack"])
    load(shipped, told["stack"])
    with pytest.raises(InvalidStack, match=re.escape(told["says"])):
        load(merged(shipped, told["with"]), told["stack"])
    assert quotes(refused(ROWS[int(path.stem[:2])][1]), told["says"])


def test_every_message_of_the_page_has_its_stack() -> None:
    says = {number: [snippet(path)["says"] for path in STACKS if int(path.stem[:2]) == number] for number in ROWS}
    for number, (_, before, _) in ROWS.items():
        assert len(messages(refused(before))) == len(says[number]), number


@pytest.mark.parametrize(
    ("number", "name"), [(n, name) for n, (_, before, _) in ROWS.items() for name in EXAMPLE.findall(before)]
)
def test_an_example_is_refused_by_a_rule_that_its_row_names(number: int, name: str) -> None:
    project = find_project(EXAMPLES / name)
    (stack,) = stacks(project)
    found = judge(record_program(project, stack), find_policies(EXAMPLES / name), date=DATE)
    assert found.refused
    assert {finding.rule for finding in found.findings} <= set(RULE.findall(ROWS[number][1]))
