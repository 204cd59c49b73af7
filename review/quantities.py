"""Quantities of Kubernetes, such as 8Ti of memory or 32 GPUs. Source: k8s.io/apimachinery, pkg/api/resource."""

from __future__ import annotations

import re
from typing import Any

GIB = 2**30
MOST = 2**63 - 1
"""The most that a quantity may be: Kubernetes takes what is above it for it."""

_QUANTITY = re.compile(r"^([0-9]+(?:\.[0-9]+)?)(m|k|M|G|T|P|E|Ki|Mi|Gi|Ti|Pi|Ei)?$")
_UNITS = {"": 1, "m": 0.001} | {
    letter + suffix: base**power
    for suffix, base in (("", 1000), ("i", 1024))
    for power, letter in enumerate("KMGTPE" if suffix else "kMGTPE", start=1)
}


def amount(value: Any) -> float | None:
    """A quantity, or a number, as so many; None for what is none, or not known."""
    if isinstance(value, bool) or value is None:
        return None
    found = _QUANTITY.match(str(int(value)) if isinstance(value, float) and value.is_integer() else str(value))
    return min(float(found[1]) * _UNITS[found[2] or ""], MOST) if found else None
