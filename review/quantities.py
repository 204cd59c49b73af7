"""Quantities of Kubernetes, such as 8Ti of memory or 32 GPUs. Source: k8s.io/apimachinery, pkg/api/resource."""

from __future__ import annotations

import re
from fractions import Fraction
from typing import Any

GIB = 2**30
MOST = 2**63 - 1
"""The most that a quantity may be: Kubernetes takes what is above it for it."""

_QUANTITY = re.compile(r"\+?(?=\.?[0-9])([0-9]*)(?:\.([0-9]*))?([numkMGTPE]?|[KMGTPE]i|[eE][+-]?[0-9]+)")
_LONGEST = 64
"""Characters of a quantity that is read; nobody writes a longer one."""
_WIDEST = 100
"""An exponent beyond it changes nothing: the amount is the most, or nothing, already."""
_UNITS: dict[str, Fraction] = {
    "": Fraction(1),
    **{unit: Fraction(1, 1000**power) for power, unit in enumerate("mun", start=1)},
    **{unit: Fraction(1000**power) for power, unit in enumerate("kMGTPE", start=1)},
    **{f"{unit}i": Fraction(1024**power) for power, unit in enumerate("KMGTPE", start=1)},
}


def amount(value: Any) -> float | None:
    """A quantity, or a number, as so many; None for what is none, is negative, or is not known.

    As Kubernetes reads it: 8, "8", 8e0, 8000m and .008k are the same.
    """
    if isinstance(value, bool) or value is None:
        return None
    text = str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)
    found = _QUANTITY.fullmatch(text) if len(text) <= _LONGEST else None
    if found is None:
        return None
    whole, part, unit = found[1] or "0", found[2] or "", found[3]
    digits = Fraction(int(whole + part), 10 ** len(part))
    return float(min(digits * _scale(unit), Fraction(MOST)))


def _scale(unit: str) -> Fraction:
    if unit in _UNITS:
        return _UNITS[unit]
    return Fraction(10) ** max(-_WIDEST, min(int(unit[1:]), _WIDEST))
