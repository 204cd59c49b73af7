"""How a platform shares its accelerators out among endpoints, jobs and tenants."""

from __future__ import annotations

import copy
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from ruamel.yaml import YAML

from gpuyard.components.existing_platform import ExistingPlatformSpec
from gpuyard.components.managed_platform import ManagedPlatformSpec
from gpuyard.components.scheduling.kueue import Queued
from gpuyard.components.serving.placement import surges
from gpuyard.components.stack import load
from gpuyard.components.validation import InvalidStack

STACKS = Path(__file__).parents[2] / "stacks"
READ = YAML(typ="safe", pure=True)
SHIPPED = {
    stack: READ.load((STACKS / f"Pulumi.{stack}.yaml").read_text())["config"]["gpuyard:platform"]
    for stack in ("dev", "onprem", "prod-aws", "serving")
}


def platform(stack: str) -> ManagedPlatformSpec:
    spec = load(SHIPPED[stack], stack)
    assert isinstance(spec, ManagedPlatformSpec)
    return spec


def test_jobs_have_what_endpoints_and_their_rollouts_leave_of_a_share() -> None:
    assert platform("prod-aws").queued() == {
        # 8 own and 4 borrowed: 8 are kept for the endpoint, and 1 for a rollout.
        "fraud": {"l40s": Queued(own=0, borrow=3)},
        "assistants": {"h100": Queued(own=0), "l40s": Queued(own=8, lend=4)},
    }
    assert platform("prod-aws").free() == {"h100": 32 - 16, "l40s": 24 - 9 - 8}
    assert platform("onprem").queued() == {"vision": {"dgx": Queued(own=12 - 3 * 2 - 2)}}
    assert platform("onprem").free() == {"dgx": 16 - 12}
    assert platform("dev").queued() == {"research": {"l4": Queued(own=0)}}


def test_queues_know_tenants_and_groups_by_the_names_that_the_cluster_has_for_them() -> None:
    given = copy.deepcopy(SHIPPED["onprem"])
    given["node_groups"]["racked"] = given["node_groups"].pop("dgx") | {"was": "dgx"}
    given["tenants"]["seeing"] = given["tenants"].pop("vision") | {"was": "vision"}
    given["tenants"]["seeing"]["accelerators"] = {"racked": {"quota": 12}}
    given["endpoints"]["gpt-oss-120b"] |= {"tenant": "seeing", "on": "racked"}
    spec = load(given, "onprem")
    assert isinstance(spec, ManagedPlatformSpec)
    assert spec.queued() == platform("onprem").queued()
    assert spec.free() == platform("onprem").free()
    assert spec.placement("racked", "seeing").priority_class == "gpuyard-dgx"


def sharing(fraud: dict[str, int], others: dict[str, int], replicas: int) -> dict[str, Any]:
    """The production stack with these shares of its 24 L40S."""
    given = copy.deepcopy(SHIPPED["prod-aws"])
    given["tenants"]["fraud"]["accelerators"]["l40s"] = fraud
    given["tenants"]["assistants"]["accelerators"]["l40s"] = others
    given["endpoints"]["fraud-score"]["replicas"] = {"min": 1, "max": replicas}
    return given


share = st.fixed_dictionaries({"quota": st.integers(1, 20), "borrow": st.integers(0, 12)})


@given(share, share, st.integers(2, 20))
def test_what_is_kept_queued_and_free_is_never_more_than_the_group_has(
    fraud: dict[str, int], others: dict[str, int], replicas: int
) -> None:
    try:
        spec = load(sharing(fraud, others, replicas), "prod-aws")
    except InvalidStack:
        return
    assert isinstance(spec, ManagedPlatformSpec)
    own = sum(shares["l40s"].own for shares in spec.queued().values())
    kept = sum(spec.kept(tenant, "l40s") for tenant in spec.tenants)
    assert own + kept + spec.free()["l40s"] <= 24
    for tenant, shares in spec.queued().items():
        most = spec.tenants[tenant].accelerators["l40s"].most
        assert shares["l40s"].own + shares["l40s"].borrow + spec.kept(tenant, "l40s") == most


@pytest.mark.parametrize(
    ("fraud", "others", "replicas", "sentence"),
    [
        ({"quota": 16}, {"quota": 9}, 8, "gpuyard:platform.tenants: their quotas of l40s are 25 accelerators"),
        ({"quota": 4, "borrow": 4}, {"quota": 18}, 8, "endpoints may take 4 accelerators more than the quota 4"),
        ({"quota": 4, "borrow": 2}, {"quota": 8}, 8, "endpoints may take 8 accelerators, and quota 4 and borrow 2"),
    ],
)
def test_more_than_there_is_is_promised_in_one_sentence(
    fraud: dict[str, int], others: dict[str, int], replicas: int, sentence: str
) -> None:
    with pytest.raises(InvalidStack) as refused:
        load(sharing(fraud, others, replicas), "prod-aws")
    [line] = str(refused.value).splitlines()
    assert sentence in line


def test_an_endpoint_that_borrows_leaves_its_tenants_jobs_nothing_of_their_own() -> None:
    spec = load(sharing({"quota": 4, "borrow": 8}, {"quota": 8}, 6), "prod-aws")
    assert isinstance(spec, ManagedPlatformSpec)
    assert spec.queued()["fraud"]["l40s"] == Queued(own=0, borrow=12 - 6 - 1)
    assert spec.free()["l40s"] == 24 - 7 - 8


def test_a_rollout_takes_nothing_that_is_promised_to_others() -> None:
    full = load(sharing({"quota": 8, "borrow": 4}, {"quota": 16}, 8), "prod-aws")
    assert full.placement("l40s", "fraud").spare == 0
    room = load(sharing({"quota": 8, "borrow": 4}, {"quota": 13}, 8), "prod-aws")
    assert room.placement("l40s", "fraud").spare == 3


def test_a_rollout_does_not_wait_for_a_place_that_others_are_spread_over() -> None:
    """Two nodes of 8, all promised: small's replicas on 2 and 2 leave 2 on each node that big's 4 do not fit in."""
    given = copy.deepcopy(SHIPPED["prod-aws"])
    given["node_groups"]["h100"]["nodes"]["max"] = 2
    model = given["endpoints"].pop("llama-70b") | {"tensor_parallel": 4, "replicas": {"min": 2, "max": 2}}
    given["endpoints"] |= {
        "big": model,
        "small": model
        | {
            "tensor_parallel": 1,
            "replicas": {"min": 4, "max": 4},
            "model": {"id": "Qwen/Qwen3-8B", "revision": "0" * 40},
            "quantization": None,
            "context": None,
        },
    }
    spec = load(given, "prod-aws")
    assert isinstance(spec, ManagedPlatformSpec)
    placement = spec.placement("h100", "assistants")
    assert (placement.promised, placement.spare) == (16, 4)
    assert not surges(spec.endpoints["big"], placement)
    assert surges(spec.endpoints["small"], placement), "15 others leave one accelerator of 16"
    assert spec.kept("assistants", "h100") == 2 * 4 + 4 + 1


@given(nodes=st.integers(1, 4), spread=st.sampled_from([1, 2, 4, 8]), promised=st.integers(0, 32), places=st.data())
def test_where_a_rollout_surges_a_node_has_a_place_however_all_others_lie(
    nodes: int, spread: int, promised: int, places: st.DataObject
) -> None:
    spec = platform("prod-aws")
    endpoint = spec.endpoints["llama-70b"].model_copy(update={"tensor_parallel": spread})
    base = replace(spec.placement("h100", "assistants"), nodes=nodes, spare=8, promised=min(promised, nodes * 8))
    if not surges(endpoint, base):
        return
    left = max(base.promised - spread, 0)
    free = []
    for _ in range(nodes):
        used = places.draw(st.integers(0, min(left, 8)))
        left -= used
        free.append(8 - used)
    assert max(free) >= spread


def existing(**group: Any) -> ExistingPlatformSpec:
    given = copy.deepcopy(SHIPPED["serving"])
    given["node_groups"]["l40s"] |= group
    spec = load(given, "serving")
    assert isinstance(spec, ExistingPlatformSpec)
    return spec


@pytest.mark.parametrize(
    ("group", "priority_class"),
    [
        ({}, "gpuyard-l40s"),
        ({"selector": {"nvidia.com/gpu.product": "L40S"}}, None),
        ({"selector": {"nvidia.com/gpu.product": "L40S"}, "priority_class": "gpuyard-racked"}, "gpuyard-racked"),
    ],
)
def test_an_endpoint_on_a_cluster_of_others_names_the_class_that_their_quotas_count(
    group: dict[str, Any], priority_class: str | None
) -> None:
    assert existing(**group).placement("l40s", "assistants").priority_class == priority_class


def test_an_endpoint_tolerates_the_taints_that_its_node_group_adds() -> None:
    given = copy.deepcopy(SHIPPED["prod-aws"])
    given["node_groups"]["l40s"]["taints"] = [{"key": "team", "value": "fraud"}]
    [taint] = load(given, "prod-aws").placement("l40s", "fraud").taints
    assert (taint.key, taint.value) == ("team", "fraud")
