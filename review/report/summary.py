"""What every report shows of a resource document, before it is laid out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from gpuyard.review.evaluation.findings import Finding

STACK = "pulumi:pulumi:Stack"
PROVIDER = "pulumi:providers:"
OUTERMOST = 2
"""Components are told apart down to this depth: the platform and its parts."""

Resource = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Part:
    """A part of the program and the resources that it declares."""

    name: str
    kind: str
    resources: int
    types: list[tuple[str, int]]


def parts(resources: Sequence[Resource]) -> list[Part]:
    """The components of a program, each with the resources below it, counted by type; loose resources come last."""
    by_urn = {resource["urn"]: resource for resource in resources}
    counts: dict[str, Counter[str]] = {}
    for resource in resources:
        if resource["custom"] and not resource["type"].startswith(PROVIDER):
            counts.setdefault(_part_of(resource, by_urn), Counter())[short_type(resource["type"])] += 1
    found = [_part(by_urn.get(urn), counter) for urn, counter in counts.items()]
    return sorted(found, key=lambda part: (not part.kind, part.kind, part.name))


def short_type(type_: str) -> str:
    """`aws:eks/nodeGroup:NodeGroup` as `eks.NodeGroup`, `kubernetes:apps/v1:Deployment` as `Deployment`."""
    package, _, rest = type_.partition(":")
    module, _, name = rest.rpartition(":")
    area = module.split("/")[0]
    return name if package == "kubernetes" or area == "index" else f"{area}.{name}"


def by_rule(findings: list[Finding]) -> list[list[Finding]]:
    """Findings of one rule, one severity and one weight together, in the order in which the first of each comes."""
    groups: dict[tuple[str, str, bool, bool, bool, str], list[Finding]] = {}
    for finding in findings:
        weight = (finding.denies, finding.waiver is None, finding.known)
        key = (finding.rule, finding.severity, *weight, finding.remediation)
        groups.setdefault(key, []).append(finding)
    return list(groups.values())


def places(resources: Sequence[Resource]) -> Callable[[Finding], str]:
    """A function that says where a finding is: `eks.NodeGroup gpus /instanceTypes/0 (__main__.py:7)`."""
    by_urn = {resource["urn"]: resource for resource in resources}
    return lambda finding: _place(finding, by_urn.get(finding.urn))


def _place(finding: Finding, resource: Resource | None) -> str:
    if resource is None:
        return f"the stack{' ' if finding.path else ''}{finding.path}"
    source = f" ({resource['source']})" if resource.get("source") else ""
    return f"{short_type(resource['type'])} {resource['name']} {finding.path}".rstrip() + source


def money(value: float | None) -> str:
    """US dollars without cents; `?` where a price is not known."""
    return "?" if value is None else f"${value:,.0f}"


def hourly(line: Mapping[str, Any]) -> str:
    """USD an hour of a node; `≤` where spot is counted at the on-demand price, which it does not exceed."""
    if line["usd_hour"] is None:
        return "?"
    return f"{'≤' if line['upper_bound'] else ''}{line['usd_hour']:.2f}"


def priced(lines: Sequence[Mapping[str, Any]]) -> str:
    """`, at prices of 2026-07-20`: how old the prices are that the lines count with."""
    dates = sorted({line["date"] for line in lines if line["date"]})
    return f", at prices of {' and '.join(dates)}" if dates else ""


def charged(cost: Mapping[str, Any]) -> dict[str, float]:
    """What is no machine costs so much a month: disks, gateways, the control plane, less what commitments take off."""
    return {bound: sum(one["month"][bound] for one in cost["charges"]) for bound in ("min", "initial", "max")}


def kinds(charges: Sequence[Mapping[str, Any]]) -> dict[str, int]:
    """What is charged, or not priced, and how often."""
    return dict(Counter(one["what"] for one in charges))


def rate(usd: float | None) -> str:
    """US dollars with cents; nothing where there is no accelerator, or a price is not known."""
    return "" if usd is None else f"${usd:,.2f}"


def span(bounds: Mapping[str, Any], unit: str = "") -> str:
    """`1 to 4`, or `3` where the bounds agree."""
    low, high = (("?" if bounds[key] is None else f"{bounds[key]:,}") for key in ("min", "max"))
    return f"{low}{unit}" if low == high else f"{low} to {high}{unit}"


def _part_of(resource: Resource, by_urn: Mapping[str, Resource]) -> str:
    components: list[str] = []
    parent = by_urn.get(resource["parent"])
    seen: set[str] = set()
    # Whoever writes a document by hand can let parents go in a circle.
    while parent is not None and parent["type"] != STACK and parent["urn"] not in seen:
        seen.add(parent["urn"])
        if not parent["custom"]:
            components.insert(0, parent["urn"])
        parent = by_urn.get(parent["parent"])
    return components[:OUTERMOST][-1] if components else ""


def _part(component: Resource | None, counter: Counter[str]) -> Part:
    types = sorted(counter.items(), key=lambda item: (-item[1], item[0]))
    name, kind = (component["name"], short_type(component["type"])) if component else ("(no component)", "")
    return Part(name, kind, counter.total(), types)
