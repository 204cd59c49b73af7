"""The day of a review, beside the days of what gpuyard knows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from gpuyard.catalogue import security
from gpuyard.review.errors import InputError


def check_day(date: str, lines: Iterable[Mapping[str, Any]] = ()) -> None:
    """Raises InputError for a day (YYYY-MM-DD) before the newest that the table of known holes, or the price of a line
    of cost, was checked on: a review judges by both, and none of them would ever be too old. A clock that is behind
    gives such a day, too."""
    newest = max([security.checked(), *(line["date"] for line in lines if line["date"])])
    if date < newest:
        raise InputError(
            f"the day of the review, {date}, is before {newest}, of which day this gpuyard's knowledge is: give "
            f"--date {newest} or a later one, set the clock, or use the gpuyard of that day"
        )
