"""The report as Markdown, for a pull request's comment: what matters in one table, the rest folded.

A forge takes a comment of so many characters and no more, so what matters least is left out first, and said to be.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined

from gpuyard.review.changes import counted, losses
from gpuyard.review.evaluation.findings import Finding, order
from gpuyard.review.judge import Review
from gpuyard.review.report.difference import is_new, lines, news, sentences, signed, weight
from gpuyard.review.report.levels import levels
from gpuyard.review.report.summary import (
    charged,
    hourly,
    kinds,
    money,
    parts,
    places,
    priced,
    rate,
    short_type,
    span,
)

MARKER = "<!-- gpuyard:review -->"
"""Stands first: whoever posts the comment finds the one of the last run by it, and replaces that."""

LIMIT = 65_536
"""Characters that a comment may have, and one fewer are used. Source: GitHub's API: "body is too long (maximum is 65536
characters)"."""

CELL = 1_000
"""Characters of one cell: a longer message goes on in the other reports."""

ALWAYS, STACK, DENIES, COSTS, ADVICE, MORE, RESOURCES = range(7)
"""How early a row is left out: the last first."""


@dataclass(frozen=True, slots=True)
class Row:
    """A piece of text that is there whole, or not at all."""

    text: str
    rank: int
    what: str = ""
    """What is missing without it."""
    of: str = ""
    """The stack, where it is the only thing of its kind there."""


@dataclass(frozen=True, slots=True)
class Block:
    """Rows under a head; without any of them it has no head either."""

    rows: Sequence[Row]
    head: str = ""
    foot: str = field(default="\n")


def to_markdown(reviews: list[Review]) -> str:
    """Verdict first, then what denies, then the rest folded: by stack its cost, quotas, tenants and resources. Always
    shorter than LIMIT."""
    return fitted(blocks(reviews))


def blocks(reviews: list[Review]) -> list[Block]:
    """The report in the order in which it is read."""
    template: Any = _environment().get_template("markdown.j2").module
    found = [(review, finding) for review in reviews for finding in review.findings]
    found.sort(key=lambda pair: order(pair[1]))
    denying = [pair for pair in found if pair[1].denies]
    rest = [pair for pair in found if not pair[1].denies]
    several = len(reviews) > 1
    where = {id(review): places(review.document["resources"]) for review in reviews}

    def rows(pairs: Iterable[tuple[Review, Finding]], rank: int, what: str) -> list[Row]:
        listed, said = [], set()
        for review, one in pairs:
            # What to do is said once for all findings of a rule; rows are cut from the end, so the first stays longest.
            new = one.remediation not in said
            said.add(one.remediation)
            stack = review.document["stack"] if several else ""
            listed.append(
                Row(template.finding(one, where[id(review)](one), stack, new, is_new(one, review)), rank, what)
            )
        return listed

    return [
        Block([Row(f"{MARKER}\n{template.title(reviews)}", ALWAYS)]),
        Block([Row(template.stack(one), STACK, "stack") for one in reviews], template.stacks_head(), "\n"),
        Block([Row(text, DENIES, "change") for one in reviews for text in _lines(template.changes(one, several))]),
        Block([Row(text, DENIES, "note") for one in reviews for text in _lines(template.compared(one, several))]),
        Block(rows(denying, DENIES, "denying finding"), template.findings_head(several)),
        Block(
            rows(rest, ADVICE, "other finding"),
            f"<details><summary>{len(rest)} more: {_rest(rest)}</summary>\n\n{template.findings_head(several)}",
            "\n</details>\n\n",
        ),
        *(_details(template, review) for review in reviews),
    ]


def fitted(report: Sequence[Block]) -> str:
    """The blocks as one text, without the rows that are too many for a comment."""
    ranked = sorted(
        ((row.rank, b, r) for b, block in enumerate(report) for r, row in enumerate(block.rows) if row.rank != ALWAYS),
        reverse=True,
    )
    cut: set[tuple[int, int]] = set()
    while len(text := _joined(report, cut)) >= LIMIT and ranked:
        # A tenth at a time: a report of ten thousand findings is not put together ten thousand times.
        for _, b, r in ranked[: max(1, len(ranked) // 10)]:
            cut.add((b, r))
        ranked = ranked[max(1, len(ranked) // 10) :]
    return text


def _joined(report: Sequence[Block], cut: set[tuple[int, int]]) -> str:
    texts = []
    for b, block in enumerate(report):
        kept = [row.text for r, row in enumerate(block.rows) if (b, r) not in cut]
        if kept:
            texts.append(f"{block.head}{''.join(kept)}{block.foot}")
    if cut:
        said = ", ".join(_missing([report[b].rows[r] for b, r in sorted(cut)]))
        texts.append(f"**Left out, for a comment is no longer than this**: {said}. The other reports have all of it.\n")
    return "".join(texts)


def _missing(rows: Sequence[Row]) -> Iterator[str]:
    by_what: dict[str, list[Row]] = {}
    for row in rows:
        by_what.setdefault(row.what, []).append(row)
    for what, some in by_what.items():
        if some[0].of:
            yield f"{what} of {some[0].of}" if len(some) == 1 else f"{what} of {len(some)} stacks"
        else:
            yield f"1 {what}" if len(some) == 1 else f"{len(some)} {what}s"


def _details(template: Any, review: Review) -> Block:
    """One stack, folded."""
    stack = review.document["stack"]
    sections = [
        ("difference", COSTS, "what differs"),
        ("costs", COSTS, "cost"),
        ("tenants", COSTS, "tenants"),
        ("quotas", COSTS, "quotas"),
        ("not_judged", MORE, "what is not judged"),
        ("resources", RESOURCES, "resources"),
    ]
    rows = [
        Row(text, rank, what, _cell(stack))
        for name, rank, what in sections
        if (text := getattr(template, name)(review)).strip()
    ]
    summary = f"{_cell(stack)}: cost, quotas and resources"
    return Block(rows, f"<details><summary>{summary}</summary>\n\n", "</details>\n\n")


def _rest(pairs: Sequence[tuple[Review, Finding]]) -> str:
    known = any(finding.known for _, finding in pairs)
    return f"advice{', ' if known else ' and '}waivers{' and what was there before' if known else ''}"


def _lines(text: str) -> list[str]:
    return [f"{line}\n" for line in text.splitlines() if line.strip()]


def _environment() -> Environment:
    # Autoescape is for HTML; here a cell's own separators are escaped instead.
    environment = Environment(
        loader=PackageLoader("gpuyard.review.report", "."),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        autoescape=False,  # noqa: S701
    )
    environment.filters.update(money=money, span=span, cell=_cell)
    environment.globals.update(
        lines=lines,
        news=news,
        sentences=sentences,
        signed=signed,
        weight=weight,
        charged=charged,
        counted=counted,
        hourly=hourly,
        kinds=kinds,
        levels=levels,
        losses=losses,
        parts=parts,
        places=places,
        priced=priced,
        rate=rate,
        short_type=short_type,
    )
    return environment


def _cell(value: object) -> str:
    """Text inside a table: one line, and no character that would end the cell or start markup."""
    text = " ".join(str(value).split())
    if len(text) > CELL:
        text = f"{text[:CELL]}…"
    # A mention would call somebody, and a number link to something.
    text = text.replace("@", "@\u200b").replace("#", "#\u200b")
    for character in "\\|<>*_`[~":
        text = text.replace(character, f"\\{character}")
    return text
