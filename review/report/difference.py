"""What every report shows of a comparison, before it is laid out."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from gpuyard.review.comparison import Comparison, Delta
from gpuyard.review.evaluation.findings import Finding
from gpuyard.review.judge import Review
from gpuyard.review.report.levels import Level, levels
from gpuyard.review.report.summary import money

BOUNDS = {"min": "at the least", "initial": "at start", "max": "at the most"}
SHORT = 12
"""Digits of a commit that are shown."""


@dataclass(frozen=True, slots=True)
class Sentence:
    """Something that a reader has to know."""

    text: str
    loud: bool


@dataclass(frozen=True, slots=True)
class Line:
    """One number before and after, as text."""

    what: str
    was: str
    now: str
    more: str
    """The difference with its sign; empty where there is none, or none can be told."""


def sentences(found: Comparison) -> list[Sentence]:
    """What was compared, by what it was judged, and what cannot be relied on."""
    commits = found.commits
    listed = []
    if found.base is None:
        why = found.why.replace("\n", "; ")
        listed.append(Sentence(f"Not compared, so all findings are new: {why}.", loud=True))
    if commits.proposed:
        listed.append(
            Sentence(
                f"The change proposes other rules, limits, waivers, prices or quotas ({', '.join(commits.proposed)}). "
                f"They judge nothing before they are merged: judged by those of {commits.ref}.",
                loud=True,
            )
        )
    listed += [Sentence(f"{note[0].upper()}{note[1:]}.".replace("\n", "; "), loud=True) for note in commits.notes]
    against = f"Compared with {commits.base[:SHORT]}, judged by {commits.ref} ({commits.rules[:SHORT]})"
    only = ". Only findings deny that are new, or whose value has changed" if found.only_new else ""
    return [*listed, Sentence(f"{against}{only}.", loud=False)]


def lines(review: Review) -> list[Line]:
    """Cost, accelerators and quotas that differ, as text."""
    found = review.comparison
    return [*_numbers(found), *_quotas(review, found.base)] if found and found.base else []


def signed(delta: Delta) -> str:
    """A difference in US dollars without cents, with its sign; empty where it is less than half a dollar."""
    more = delta.more or 0.0
    return "" if abs(more) < 0.5 else f"{'+' if more > 0 else '-'}{money(abs(more))}"


def news(review: Review) -> str:
    """`2 new, 1 fixed, 3 unchanged`; empty where nothing was compared."""
    found = review.comparison
    if found is None or found.base is None:
        return ""
    counts = {"new": len(found.new), "fixed": len(found.fixed), "unchanged": len(found.unchanged)}
    return ", ".join(f"{count} {what}" for what, count in counts.items() if count)


def is_new(finding: Finding, review: Review) -> bool:
    """Whether the change brings it; False where nothing was compared."""
    found = review.comparison
    return found is not None and found.base is not None and any(one is finding for one in found.new)


def weight(finding: Finding) -> str:
    """Why a finding does not deny, in a word; empty where it does."""
    if finding.denies:
        return ""
    return "waived" if finding.status == "waived" else "there before" if finding.known else "advice"


def _numbers(found: Comparison) -> Iterator[Line]:
    for bound, said in BOUNDS.items():
        delta = found.cost[bound]
        if signed(delta):
            yield Line(f"USD a month {said}", money(delta.base), money(delta.head), signed(delta))
    if more := found.accelerators.more:
        delta = found.accelerators
        yield Line("accelerators at the most", f"{delta.base:g}", f"{delta.head:g}", f"{more:+g}")


def _quotas(review: Review, base: Review | None) -> Iterator[Line]:
    before = {(level.level, level.what): level for level in (levels(base) if base else ())}
    for level in levels(review):
        was = before.pop((level.level, level.what), None)
        if was is None or (was.need, was.limit) != (level.need, level.limit):
            yield Line(f"{level.level}: {level.what}", _of(was), _of(level), "")
    for left in before.values():
        yield Line(f"{left.level}: {left.what}", _of(left), "", "")


def _of(level: Level | None) -> str:
    return f"{level.need} of {level.limit}" if level else ""
