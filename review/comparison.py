"""What a change would change: resources, cost and findings of one stack, before it and after it.

Both sides are judged by the same rules, limits, waivers and prices, those of the base: so a change cannot loosen what
judges it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from gpuyard.review.changes import Change, lost_with
from gpuyard.review.document import Document
from gpuyard.review.evaluation.findings import Finding, identity
from gpuyard.review.recording.values import at, pointer

if TYPE_CHECKING:
    from gpuyard.review.judge import Review

BOUNDS = ("min", "initial", "max")

_KUBERNETES = "kubernetes:"
_IDENTITY = ("/apiVersion", "/kind", "/metadata/name", "/metadata/namespace")
"""What makes an object another one: it cannot be changed, so the object is replaced."""

Json = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Delta:
    """A number before and after; None where that side has no review."""

    base: float | None
    head: float

    @property
    def more(self) -> float | None:
        """By how much it grows; None where it cannot be told."""
        return None if self.base is None else self.head - self.base


@dataclass(frozen=True, slots=True)
class Commits:
    """What was compared, as the repository calls it."""

    ref: str
    """What the caller named: whose rules, limits and waivers judge."""
    rules: str
    """Its commit."""
    base: str
    """The commit that is compared with: where the change has left what was named, or that itself."""
    head: str
    """The commit of the change."""
    proposed: tuple[str, ...] = ()
    """Files of rules, limits, waivers, prices and quotas that the change would change: they have judged nothing yet."""
    notes: tuple[str, ...] = ()
    """What a reader has to know, as sentences without a full stop."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """A review beside that of the base."""

    commits: Commits
    base: Review | None
    """None where the base has no such stack, or could not be reviewed."""
    why: str
    """Why there is none; empty where there is one."""
    new: list[Finding]
    """Of the change: the base does not have them, or only as what does not deny."""
    fixed: list[Finding]
    """Of the base: the change no longer has them."""
    unchanged: list[Finding]
    """Of the change: both have them, by `identity`."""
    only_new: bool
    """Whether findings that are `known` do not deny."""
    changes: list[Change]
    """By URN, what differs; without what is the same. Empty where there is no base."""
    cost: Mapping[str, Delta]
    """US dollars a month, by bound; known prices only."""
    accelerators: Delta
    """That scalers may grow to."""


def compared(head: Review, base: Review | None, commits: Commits, *, why: str = "", only_new: bool = False) -> Review:
    """The review of a change, with its comparison; `only_new` lets what is unchanged in the base not deny."""
    was = base.document if base else None
    new, fixed, unchanged = _sorted(head, base)
    if only_new and base:
        known = {id(one) for one in unchanged if _same_value(one, head.document, base.document)}
        marked = {id(one): replace(one, known=True) for one in unchanged if id(one) in known}
        unchanged = [marked.get(id(one), one) for one in unchanged]
        head = replace(head, findings=[marked.get(id(one), one) for one in head.findings])
    found = Comparison(
        commits=commits,
        base=base,
        why=why,
        new=new,
        fixed=fixed,
        unchanged=unchanged,
        only_new=only_new,
        changes=changes(was, head.document) if was else [],
        cost=deltas(was, head.document),
        accelerators=Delta(was["capacity"]["total"] if was else None, head.document["capacity"]["total"]),
    )
    return replace(head, comparison=found)


def deltas(base: Document | None, head: Document) -> dict[str, Delta]:
    """US dollars a month by bound, of what has a known price."""
    was = base["cost"]["total"] if base else {}
    return {bound: Delta(was.get(bound), head["cost"]["total"][bound]) for bound in BOUNDS}


def changes(base: Document, head: Document) -> list[Change]:
    """What differs between two documents, by URN. Nobody has asked an engine: only what certainly makes another object
    is called a replacement."""
    before = {one["urn"]: one for one in base["resources"]}
    found = []
    for after in head["resources"]:
        urn = after["urn"]
        aliases = after["options"].get("aliases", ())
        was = before.pop(next((one for one in (urn, *aliases) if one in before), urn), None)
        if was is None:
            found.append(Change(urn, "create"))
        elif because := tuple(_differing(was, after)):
            replaced = after["type"].startswith(_KUBERNETES) and not {*because}.isdisjoint(_IDENTITY)
            lost = lost_with(after["type"]) if replaced else ""
            found.append(Change(urn, "replace" if replaced else "update", because, lost))
    found += [Change(urn, "delete", (), lost_with(one["type"])) for urn, one in before.items()]
    return sorted(found, key=lambda change: change.urn)


def _differing(was: Json, now: Json) -> Iterator[str]:
    """JSON pointers of inputs that differ, and names of options; of a secret only where it begins."""
    secret = {*was["secret"], *now["secret"]}
    unknown = {*was["unknown"]} ^ {*now["unknown"]}
    yield from _pointers(was["inputs"], now["inputs"], (), secret, unknown)
    for option in ("protect", "retain_on_delete"):
        if was["options"].get(option) != now["options"].get(option):
            yield option
    if was["provider"] != now["provider"]:
        yield "provider"


def _pointers(was: Any, now: Any, path: tuple[Any, ...], secret: set[str], unknown: set[str]) -> Iterator[str]:
    place = pointer(path)
    if place in unknown:
        yield place
    elif place in secret:
        if was != now:
            yield place
    elif isinstance(was, dict) and isinstance(now, dict):
        for key in sorted({*was, *now}):
            step = (key, path)
            if key in was and key in now:
                yield from _pointers(was[key], now[key], step, secret, unknown)
            else:
                yield pointer(step)
    elif isinstance(was, list) and isinstance(now, list) and len(was) == len(now):
        for i, (one, other) in enumerate(zip(was, now, strict=True)):
            yield from _pointers(one, other, (i, path), secret, unknown)
    elif was != now or isinstance(was, bool) != isinstance(now, bool):
        yield place


def _sorted(head: Review, base: Review | None) -> tuple[list[Finding], list[Finding], list[Finding]]:
    """New, fixed and unchanged findings. One that denies is new where it did not deny in the base."""
    waiting: dict[tuple[str, ...], list[Finding]] = {}
    were = _by_urn(base)
    for one in base.findings if base else ():
        waiting.setdefault(identity(one, were.get(one.urn)), []).append(one)
    new: list[Finding] = []
    unchanged: list[Finding] = []
    are = _by_urn(head)
    # Two clusters may have objects of one name: whoever kept its URN is first.
    for one in sorted(head.findings, key=lambda finding: finding.urn not in were):
        same = waiting.get(identity(one, are.get(one.urn)), [])
        match = next((other for other in same if other.urn == one.urn), same[0] if same else None)
        if match is not None:
            same.remove(match)
        (new if match is None or (one.denies and not match.denies) else unchanged).append(one)
    order = {id(one): i for i, one in enumerate(head.findings)}
    for some in (new, unchanged):
        some.sort(key=lambda one: order[id(one)])
    left = {id(one) for same in waiting.values() for one in same}
    return new, [one for one in (base.findings if base else ()) if id(one) in left], unchanged


def _same_value(one: Finding, head: Document, base: Document) -> bool:
    """Whether what a finding is about is as it was. A sum of the stack that has shrunk is no worse than it was."""
    if not one.path:
        return True
    now, was = (_resources(document).get(one.urn) for document in (head, base))
    if now is None and was is None:
        there: tuple[Any, Any] = (_value(head, one.path), _value(base, one.path))
        numbers = all(isinstance(each, int | float) and not isinstance(each, bool) for each in there)
        return bool(there[0] <= there[1]) if numbers else there[0] == there[1]
    if now is None or was is None:
        # The same object under another URN.
        return False
    return bool(_value(now["inputs"], one.path) == _value(was["inputs"], one.path))


def _value(whole: Any, path: str) -> Any:
    try:
        return at(whole, path)
    except (KeyError, IndexError, TypeError, ValueError):
        return None


def _by_urn(review: Review | None) -> Mapping[str, Any]:
    return _resources(review.document) if review else {}


def _resources(document: Document) -> Mapping[str, Any]:
    return {one["urn"]: one for one in document["resources"]}


def counted_findings(some: Sequence[Finding]) -> tuple[int, int]:
    """How many of them deny, and how many others there are."""
    denied = sum(one.denies for one in some)
    return denied, len(some) - denied
