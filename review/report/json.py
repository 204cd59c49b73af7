"""The report as JSON: the resource document, the findings and the verdict."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from gpuyard.review import document as documents
from gpuyard.review.judge import Review
from gpuyard.review.report.levels import levels


def to_json(reviews: list[Review]) -> str:
    """One JSON text for all reviews; equal reviews give equal bytes. Secret values are null."""
    return documents.dumps([_review(review) for review in reviews])


def _review(review: Review) -> dict[str, Any]:
    report = {
        "document": documents.public(review.document),
        "engine": review.engine,
        "findings": [asdict(finding) for finding in review.findings],
        "quotas": [asdict(level) for level in levels(review)],
        "unseen": [asdict(part) for part in review.unseen],
        "verdict": "refused" if review.refused else "may deploy",
    }
    if review.changes is not None:
        report["changes"] = [asdict(change) for change in review.changes if change.operation != "same"]
        report["failures"] = review.failures
    return report
