"""Capacity that is reserved for a time: when it begins and ends, as the inputs of a program say it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from gpuyard.review.resources import COMPONENTS, Resource
from gpuyard.review.values import at, number, text

# By type, what it is, and where it begins and ends. A Capacity Block says only which offering it is of. Sources:
# aws.ec2.CapacityReservation, gcp.compute.FutureReservation, gcp.compute.Reservation.
RESERVATIONS = {
    "aws:ec2/capacityReservation:CapacityReservation": ("the capacity reservation", None, "/endDate"),
    "gcp:compute/futureReservation:FutureReservation": (
        "the future reservation",
        "/timeWindow/startTime",
        "/timeWindow/endTime",
    ),
    "gcp:compute/reservation:Reservation": ("the reservation", None, "/deleteAtTime"),
}

CALLED = {"capacity_block": "Capacity Block", "reservation": "reservation"}

Json = dict[str, Any]


def windows(resource: Resource, date: str) -> list[Json]:
    """Each window of a resource, with the days from `date` (YYYY-MM-DD) to its beginning and its end, negative for what
    is over. What is not known is None."""
    return [_window(resource["urn"], *found, date) for found in _read(resource)]


def window_of(component: Resource | None, kind: str) -> tuple[str, str] | None:
    """When the machines of a node group's component begin and end, where it buys capacity of this kind for a time."""
    for _, capacity in _capacities(component or {}):
        start, end = capacity.get("start"), capacity.get("end")
        if capacity.get("kind") == kind and _moment(start) and _moment(end):
            return str(start), str(end)
    return None


def paid_of(component: Resource | None) -> tuple[tuple[str, int | None, tuple[str, str] | None], ...]:
    """Each reservation and Capacity Block of a node group's component: its market, machines, and a block's window."""
    found = []
    for _, capacity in _capacities(component or {}):
        kind, start, end = capacity.get("kind"), capacity.get("start"), capacity.get("end")
        window = (str(start), str(end)) if kind == "capacity_block" and _moment(start) and _moment(end) else None
        if isinstance(kind, str) and kind in CALLED:
            found.append((kind, number(capacity.get("count")), window))
    return tuple(found)


def reservations_of(component: Resource | None) -> tuple[str | None, ...]:
    """What tells each of `paid_of` from others: EC2's id."""
    kept = (capacity for _, capacity in _capacities(component or {}) if text(capacity.get("kind")) in CALLED)
    return tuple(text(capacity.get("id")) for capacity in kept)


def hours(window: tuple[str, str]) -> float | None:
    """Hours from the beginning of a window to its end; None for one that is none."""
    start, end = (_moment(moment) for moment in window)
    return (end - start) / timedelta(hours=1) if start and end and end > start else None


def _read(resource: Resource) -> Iterator[tuple[str, str, Any, Any]]:
    """What has a window, the pointer to its end, its beginning and its end."""
    for path, capacity in _capacities(resource):
        if capacity.get("start") or capacity.get("end"):
            what = f"{CALLED.get(str(capacity.get('kind')), 'capacity')} {capacity.get('id') or ''}".strip()
            yield what, f"{path}/end", capacity.get("start"), capacity.get("end")
    if resource["type"] in RESERVATIONS:
        what, start, end = RESERVATIONS[resource["type"]]
        ends = _pointed(resource, end)
        if ends:
            yield what, end, start and _pointed(resource, start), ends


def _capacities(component: Resource) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """The capacity that a node group's component names: one, or several in the order in which they are tried."""
    if component.get("type") not in COMPONENTS:
        return
    named = component["inputs"].get("capacity")
    if isinstance(named, dict):
        yield "/capacity", named
    elif isinstance(named, list):
        yield from ((f"/capacity/{n}", one) for n, one in enumerate(named) if isinstance(one, dict))


def _window(urn: str, what: str, path: str, start: Any, end: Any, date: str) -> Json:
    return {
        "urn": urn,
        "path": path,
        "what": what,
        "start": start if _moment(start) else None,
        "end": end if _moment(end) else None,
        "starts_in_days": _days(start, date),
        "ends_in_days": _days(end, date),
    }


def _days(given: Any, date: str) -> int | None:
    """Whole days from the beginning of `date` to a moment, rounded down."""
    moment, today = _moment(given), _moment(date)
    return (moment - today) // timedelta(days=1) if moment and today else None


def _moment(given: Any) -> datetime | None:
    """A moment, in UTC where the text says no zone; None for what is none, or not known."""
    try:
        found = datetime.fromisoformat(given) if isinstance(given, str) else None
    except ValueError:
        return None
    return found.replace(tzinfo=UTC) if found and found.tzinfo is None else found


def _pointed(resource: Resource, pointer: str) -> Any:
    return at(resource["inputs"], *pointer.split("/")[1:])
