"""The report as JSON: the resource document, the findings and the verdict."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from gpuyard.review import document as documents
from gpuyard.review.comparison import Comparison
from gpuyard.review.evaluation.findings import Finding
from gpuyard.review.judge import Review
from gpuyard.review.report.levels import levels
from gpuyard.review.report.origin import Origin, Places

FORMAT = "gpuyard.report/1"
"""The shape: see `schema.Report`."""


def to_json(reviews: list[Review]) -> str:
    """One JSON text for all reviews, in the shape of `schema.Report`; equal reviews give equal bytes. Secret values are
    null."""
    return documents.dumps([_review(review) for review in reviews])


def _review(review: Review) -> dict[str, Any]:
    places = Places(review, Origin())
    report = {
        "format": FORMAT,
        "document": documents.public(review.document),
        "engine": review.engine,
        "rules": sorted(review.rules),
        "findings": [_finding(finding, places) for finding in review.findings],
        "undecided": [_finding(finding, places) for finding in review.undecided],
        "quotas": [asdict(level) for level in levels(review)],
        "unseen": [asdict(part) for part in review.unseen],
        "verdict": "refused" if review.refused else "may deploy",
    }
    if review.changes is not None:
        report["changes"] = [asdict(change) for change in review.changes if change.operation != "same"]
        report["failures"] = review.failures
    if review.comparison is not None:
        report["comparison"] = _comparison(review.comparison, places)
    return report


def _comparison(found: Comparison, places: Places) -> dict[str, Any]:
    before = Places(found.base, Origin()) if found.base else places
    return {
        "commits": asdict(found.commits),
        "why": found.why,
        "only_new": found.only_new,
        "new": [places.fingerprint(finding) for finding in found.new],
        "fixed": [_finding(finding, before) for finding in found.fixed],
        "unchanged": [places.fingerprint(finding) for finding in found.unchanged],
        "changes": [asdict(change) for change in found.changes],
        "cost": {bound: asdict(delta) for bound, delta in found.cost.items()},
        "accelerators": asdict(found.accelerators),
    }


def _finding(finding: Finding, places: Places) -> dict[str, Any]:
    return {**asdict(finding), "fingerprint": places.fingerprint(finding)}
