"""A stack that breaks almost every rule, reviewed as any other is: what reports of many findings are tried on."""

from __future__ import annotations

import functools
from dataclasses import replace
from pathlib import Path

from documents import DATE, PROJECT, Json, resource, urn
from refused_programs import BROKEN

from gpuyard.review.changes import changes
from gpuyard.review.evaluation.evaluate import find_policies
from gpuyard.review.evaluation.findings import Finding, Operation, Waived
from gpuyard.review.judge import Review, judge
from gpuyard.review.recording import Recording

ROOT = Path(__file__).parents[1]
PLATFORM = "gpuyard:index:Platform"
TENANT = "gpuyard:index:Tenant"


@functools.cache
def broken() -> Review:
    """Stack `dev` of the project `shop`: one finding is waived, one has a patch, and one change loses nodes."""
    review = judge(Recording(PROJECT, "dev", _resources(), [], 0.0), find_policies(ROOT), date=DATE)
    return replace(
        review,
        findings=[*_waived_and_patched(review.findings)],
        undecided=[replace(review.findings[-1], status="undetermined", level="advisory")],
        changes=changes(_steps(review)),
        failures=["resource h100 cannot be replaced: it is protected"],
    )


def _resources() -> list[Json]:
    platform = resource(PLATFORM, "shop", {}, custom=False)
    share = {"accelerators": {"l4": {"quota": 2, "borrow": 1}}, "monthly_budget": 900}
    tenant = resource(TENANT, "fraud", share, custom=False, parent=platform["urn"])
    pool = {
        "location": "us-central1-a",
        "nodeLocations": ["us-central1-a"],
        "initialNodeCount": 1,
        "autoscaling": {"totalMinNodeCount": 1, "totalMaxNodeCount": 4},
        "nodeConfig": {"machineType": "g2-standard-12", "spot": True},
    }
    listed = [platform, tenant, resource("gcp:container/nodePool:NodePool", "good", pool, parent=platform["urn"])]
    for name, make in BROKEN.items():
        part = resource(f"shop:index:{name.title()}", name, {}, custom=False, parent=platform["urn"])
        named = [one | {"parent": part["urn"], "source": "__main__.py:7"} for one in make()["resources"]]
        listed += [part, *named]
    by_urn = {one["urn"]: one for one in listed}
    return [by_urn[one] for one in sorted(by_urn)]


def _waived_and_patched(findings: list[Finding]) -> list[Finding]:
    first, second, *others = findings
    waiver = Waived("waiver", "OPS-7", "jane", "the vendor's fix comes with release 7", "2026-12-31", first.status)
    patch = (Operation("replace", second.path or "/spec", False), Operation("remove", "/spec/old"))
    return [replace(second, patch=patch), *others, replace(first, status="waived", waiver=waiver)]


def _steps(review: Review) -> list[Json]:
    operations = {"create": 3, "update": 2, "delete": 1, "same": 5}
    urns = [one["urn"] for one in review.document["resources"]]
    steps = [{"op": op, "urn": urns.pop()} for op, count in operations.items() for _ in range(count)]
    group = urn("dev", "aws:eks/nodeGroup:NodeGroup", "bare")
    return [
        *(step for step in steps if step["urn"] != group),
        {"op": "replace", "urn": group, "keys": ["instanceTypes"]},
    ]
