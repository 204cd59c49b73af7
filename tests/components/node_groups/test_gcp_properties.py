"""Whatever a group on GKE says: it is refused in a sentence, or Google Cloud takes all that is declared for it."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck, event, given, settings
from hypothesis import strategies as st
from oracles.gcp import problems
from pydantic import ValidationError
from registered import registered

from gpuyard import catalogue
from gpuyard.components.node_groups.gcp import NodeGroup, NodeGroupSpec
from gpuyard.components.node_groups.gcp_pools import pools
from gpuyard.review.cost import cost
from gpuyard.review.node_groups import node_groups

ZONES = ["us-central1-a", "us-central1-b"]
MACHINES = sorted(m.name for m in catalogue.machines().values() if m.cloud == "gcp")
COUNTS = st.integers(1, 8)
WAY = st.one_of(
    st.fixed_dictionaries({"kind": st.just("on_demand")}, optional={"max": COUNTS}),
    st.fixed_dictionaries({"kind": st.just("spot")}, optional={"max": COUNTS}),
    st.fixed_dictionaries(
        {
            "kind": st.just("reservation"),
            "name": st.sampled_from(["one", "two"]),
            "zone": st.sampled_from(ZONES),
            "count": COUNTS,
        },
        optional={"project": st.just("example-gpus"), "block": st.just("block-1"), "active": st.booleans()},
    ),
    st.fixed_dictionaries(
        {"kind": st.just("flex_start")},
        optional={"max": COUNTS, "queued": st.booleans(), "max_run_duration": st.sampled_from(["1h", "7d", "8d"])},
    ),
)


SLOW = [HealthCheck.too_slow, HealthCheck.data_too_large]
REST: dict[str, st.SearchStrategy[Any]] = {
    "labels": st.dictionaries(
        st.sampled_from(["team", "example.com/rack", "kubernetes.io/os", "nvidia.com/mig.config"]),
        st.sampled_from(["", "a", "A.b_c-d"]),
        max_size=2,
    ),
    "taints": st.lists(
        st.fixed_dictionaries(
            {"key": st.sampled_from(["team", "nvidia.com/gpu", "google.com/tpu"])},
            optional={"value": st.just("b"), "effect": st.sampled_from(["NoExecute", "PreferNoSchedule"])},
        ),
        max_size=2,
    ),
    "driver": st.sampled_from(["default", "latest"]),
    "disk": st.sampled_from(["9Gi", "10Gi", "500Gi", "1Ti", "65Ti"]),
    "disk_type": st.sampled_from(["pd-standard", "pd-balanced", "pd-ssd", "hyperdisk-balanced"]),
    "upgrade": st.one_of(
        st.fixed_dictionaries(
            {"strategy": st.just("surge")},
            optional={"max_surge": st.integers(0, 20), "max_unavailable": st.integers(0, 2)},
        ),
        st.fixed_dictionaries(
            {"strategy": st.just("blue_green")}, optional={"soak": st.sampled_from(["30m", "7d", "8d"])}
        ),
    ),
}


@st.composite
def partitions(draw: st.DrawFn, machine: str) -> dict[str, Any]:
    known = catalogue.partitions(catalogue.machines()[machine].accelerator or "")
    if not known or draw(st.booleans()):
        return {"kind": draw(st.sampled_from(["time_slicing", "mps"])), "clients": draw(st.sampled_from([2, 48]))}
    profile = draw(st.sampled_from(sorted(known)))
    return {"kind": "mig", "profiles": {profile: draw(st.sampled_from([known[profile].most, 1]))}}


@st.composite
def groups(draw: st.DrawFn) -> dict[str, Any]:
    machine = draw(st.sampled_from(MACHINES))
    capacity = draw(st.one_of(WAY, st.lists(WAY, min_size=2, max_size=3)))
    listed = capacity if isinstance(capacity, list) else []
    # Mostly the sum that is asked for, or few would be accepted.
    total = sum(way.get("max") or way.get("count") or 0 for way in listed) or draw(COUNTS)
    least = draw(st.integers(0, 2))
    found: dict[str, Any] = {
        "machine": machine,
        "nodes": {"min": min(least, total), "max": total},
        "capacity": capacity,
        "zones": draw(st.sampled_from([None, ZONES[:1], ZONES])),
    }
    if slices := list(catalogue.slices(machine))[:4]:
        found["topology"] = draw(st.sampled_from([*slices, None]))
    if draw(st.booleans()):
        found["placement"] = "compact"
    if draw(st.booleans()):
        found["interconnect"] = {"kind": "gpudirect"}
    for key, strategy in {**REST, "partition": partitions(machine)}.items():
        if draw(st.integers(0, 5)) == 0:
            found[key] = draw(strategy)
    return found


def refused_or_taken(content: dict[str, Any]) -> None:
    refusal = ""
    try:
        group = NodeGroupSpec.model_validate(content)
    except ValidationError as error:
        refusal = str(error.errors()[0]["msg"])
    if refusal:
        event("refused")
        assert ": " in refusal, "what is wrong, and what to give"
        return
    made: list[str] = []

    def build() -> None:
        try:
            NodeGroup(
                "group",
                group,
                cluster="projects/example-dev/locations/us-central1/clusters/dev",
                location="us-central1",
                zones=ZONES,
                service_account="nodes@example-dev.iam.gserviceaccount.com",
                tags={},
                project="example-dev",
            )
        except ValueError as error:
            made.append(str(error))

    found = registered(build)
    if made:
        event("refused by the cluster's zones")
        assert "zone" in made[0]
        return
    event("taken")
    for resource in found:
        assert problems(resource) == [], content
    assert sum(pool.spec.nodes.max for pool in pools(group)) == group.nodes.max
    assert sum(pool.spec.nodes.min for pool in pools(group)) == group.nodes.min
    read = node_groups([{**resource, "unknown": [], "secret": [], "custom": True} for resource in found])
    assert sum(one.maximum or 0 for one in read) == group.nodes.max
    month = cost(read, [])["total"]
    assert all(usd >= 0 for usd in month.values())


@settings(max_examples=60, deadline=None, suppress_health_check=SLOW)
@given(content=groups())
def test_a_group_is_refused_in_a_sentence_or_taken_whole(content: dict[str, Any]) -> None:
    refused_or_taken(content)


@pytest.mark.long
@settings(max_examples=3000, deadline=None, suppress_health_check=SLOW)
@given(content=groups())
def test_thousands_of_groups_on_gke(content: dict[str, Any]) -> None:
    refused_or_taken(content)
