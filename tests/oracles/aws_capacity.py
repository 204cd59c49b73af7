"""What EC2 and EKS refuse of reserved capacity although their models do not say so."""

from __future__ import annotations

import datetime
import re
from collections.abc import Iterator, Mapping
from typing import Any

Inputs = Mapping[str, Any]


def template_problems(inputs: Inputs) -> Iterator[str]:
    """What is wrong with the capacity that a launch template asks for."""
    yield from _reservation(inputs.get("capacityReservationSpecification") or {})
    yield from _block_market(inputs)


def _reservation(specification: Inputs) -> Iterator[str]:
    preference = specification.get("capacityReservationPreference")
    target = specification.get("capacityReservationTarget")
    if target and preference not in (None, "capacity-reservations-only"):
        # hashicorp/terraform-provider-aws, issue 43881: what EC2 answers.
        yield f"/capacityReservationSpecification: {preference!r} goes with no target"
    reservation = (target or {}).get("capacityReservationId")
    if reservation is not None and not re.fullmatch(r"cr-[0-9a-f]{17}", reservation):
        yield f"/capacityReservationSpecification: {reservation!r} is not a reservation"


def _block_market(inputs: Inputs) -> Iterator[str]:
    """EKS user guide, "Create a managed node group with Capacity Blocks": what its launch template must have."""
    if (inputs.get("instanceMarketOptions") or {}).get("marketType") != "capacity-block":
        return
    if "instanceType" not in inputs:
        yield "/: a Capacity Block needs instanceType"
    if not (inputs.get("capacityReservationSpecification") or {}).get("capacityReservationTarget"):
        yield "/: a Capacity Block needs capacityReservationTarget"


def end(inputs: Inputs) -> Iterator[str]:
    """What is wrong with the end of a reservation. Source: EC2 API, CreateCapacityReservation$EndDate and $EndDateType."""
    ends, date = inputs.get("endDateType", "unlimited"), inputs.get("endDate")
    if ends is not None and (ends == "limited") != ("endDate" in inputs):
        yield f"/endDate: goes with the endDateType 'limited' and with no other, given {ends!r}"
    if date is not None and not _is_time(date):
        yield f"/endDate: {date!r} is not a time of RFC 3339"


def _is_time(text: str) -> bool:
    try:
        return datetime.datetime.fromisoformat(text).tzinfo is not None
    except ValueError:
        return False
