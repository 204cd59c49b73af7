"""Quantities are read as Kubernetes reads them, however they are written."""

from __future__ import annotations

from typing import Any

import pytest

from gpuyard.review.quantities import MOST, amount


@pytest.mark.parametrize(
    "written", [8, 8.0, "8", "+8", "08", "8.", "8.0", "8e0", "8E0", "80e-1", "0.8e+1", "8000m", "8000000u", ".008k"]
)
def test_the_same_amount_however_it_is_written(written: Any) -> None:
    assert amount(written) == 8


@pytest.mark.parametrize(
    ("written", "count"),
    [
        ("1000m", 1),
        ("7000m", 7),
        ("500m", 0.5),
        ("1e3", 1000),
        ("1E", 10**18),
        ("1Ki", 1024),
        ("1.5Gi", 1.5 * 2**30),
        ("8Ti", 8 * 2**40),
        ("0", 0),
        ("0e99", 0),
        ("1e-400", 0),
        ("1e999", MOST),
        ("9Ei", MOST),
        (0.5, 0.5),
    ],
)
def test_units_and_exponents_count(written: Any, count: float) -> None:
    assert amount(written) == pytest.approx(count)


@pytest.mark.parametrize(
    "written", [None, True, "", "-1", -1, "e3", ".", "+", "1K", "1ki", "8 ", "eight", "1e", "1e1.5", [], {}, "9" * 5000]
)
def test_what_is_no_quantity_is_not_known(written: Any) -> None:
    assert amount(written) is None
