"""The report as workflow commands of GitHub Actions: annotations on the lines that registered what is wrong.

Source: actions/toolkit, packages/core/src/command.ts, for the form and what it escapes.
"""

from __future__ import annotations

from gpuyard.review.evaluation.findings import Finding
from gpuyard.review.judge import Review
from gpuyard.review.report.origin import Origin, Places

SHOWN = 10
"""Annotations of each kind that a step may have; more are dropped. Source: GitHub, REST API, check runs."""

COMMANDS = {True: "error", False: "warning"}


def to_github(reviews: list[Review], origin: Origin = Origin()) -> str:  # noqa: B008 - it is frozen
    """One command a line, the worst finding first, and a verdict at the end. Waived findings are no annotation."""
    found = [(finding, review) for review in reviews for finding in review.findings if finding.status != "waived"]
    places = {id(review): Places(review, origin) for review in reviews}
    # Stable: within each kind the order of the reports stays.
    found.sort(key=lambda pair: not pair[0].denies)
    lines = [_annotation(finding, review, places[id(review)]) for finding, review in found]
    lines += [_failure(review, failure) for review in reviews for failure in review.failures]
    denied = sum(finding.denies for finding, _ in found)
    lines += [command("notice", said, title="gpuyard") for said in _end(reviews, denied, len(found) - denied)]
    return "\n".join(lines) + "\n"


def command(name: str, message: str, **properties: str | int) -> str:
    """One workflow command; properties that are empty are left out."""
    listed = ",".join(f"{key}={_property(value)}" for key, value in properties.items() if value != "")
    return f"::{name}{' ' if listed else ''}{listed}::{_data(message)}"


def _annotation(finding: Finding, review: Review, places: Places) -> str:
    place = places.place(finding)
    name = finding.urn.rpartition("::")[2]
    undecided = ", not decided yet" if finding.status == "undetermined" else ""
    return command(
        COMMANDS[finding.denies],
        f"{name}{finding.path}: {finding.message}. {finding.remediation}",
        file=place.file,
        line=place.line,
        title=f"{finding.rule} ({finding.severity}{undecided}), stack {review.document['stack']}",
    )


def _failure(review: Review, failure: str) -> str:
    return command("error", failure, title=f"the preview fails, stack {review.document['stack']}")


def _end(reviews: list[Review], denied: int, advice: int) -> list[str]:
    refused = [review.document["stack"] for review in reviews if review.refused]
    verdict = f"refused: {', '.join(refused)}" if refused else "may deploy"
    said = [f"{verdict}. {denied} denied, {advice} advice"]
    if hidden := max(0, denied - SHOWN) + max(0, advice - SHOWN):
        said.append(f"{hidden} more findings are in the log and in the other reports: a step shows {SHOWN} of a kind")
    return said


def _data(value: str) -> str:
    return value.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(value: str | int) -> str:
    return _data(str(value)).replace(":", "%3A").replace(",", "%2C")
