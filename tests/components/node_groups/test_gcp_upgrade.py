"""How a GKE node group moves to another version: what the API takes, and what nobody has the machines for."""

from __future__ import annotations

from typing import Any

import pytest
from google.cloud.container_v1 import BlueGreenSettings
from hypothesis import given
from hypothesis import strategies as st
from oracles.gcp import problems
from plans import described
from pydantic import ValidationError

from gpuyard.components.node_groups.gcp import NodeGroupSpec, node_config, node_pool_inputs
from gpuyard.components.stack import load
from gpuyard.components.validation import InvalidStack

ZONES = ["us-central1-a"]
RESERVATION = {"kind": "reservation", "name": "h100", "zone": "us-central1-a", "count": 4}
BLUE_GREEN = {"strategy": "blue_green"}


def spec(machine: str = "g2-standard-12", **given: Any) -> NodeGroupSpec:
    return NodeGroupSpec.model_validate({"machine": machine, "nodes": {"min": 0, "max": 4}, **given})


def settings(group: NodeGroupSpec) -> dict[str, Any]:
    found: dict[str, Any] = node_pool_inputs(group, location="us-central1", zones=ZONES)["upgrade_settings"]
    return found


@pytest.mark.parametrize(
    ("machine", "upgrade", "surge", "unavailable"),
    [
        ("g2-standard-12", None, 0, 1),
        ("e2-standard-8", None, 1, 0),
        ("g2-standard-12", {"strategy": "surge"}, 0, 1),
        ("g2-standard-12", {"strategy": "surge", "max_surge": 2}, 2, 1),
        ("e2-standard-8", {"strategy": "surge", "max_unavailable": 2}, 1, 2),
        ("g2-standard-12", {"strategy": "surge", "max_surge": 3, "max_unavailable": 0}, 3, 0),
    ],
)
def test_what_a_surge_does_not_say_is_as_without_one(machine: str, upgrade: Any, surge: int, unavailable: int) -> None:
    found = settings(spec(machine, upgrade=upgrade))
    assert found == {"strategy": "SURGE", "max_surge": surge, "max_unavailable": unavailable}


def test_a_reserved_node_goes_before_its_successor_comes_whatever_it_is() -> None:
    found = settings(spec("n2-standard-8", capacity=RESERVATION))
    assert found == {"strategy": "SURGE", "max_surge": 0, "max_unavailable": 1}, "the reservation has no fifth machine"


def test_blue_and_green_stand_beside_each_other_for_an_hour() -> None:
    found = settings(spec(upgrade=BLUE_GREEN))
    assert found["strategy"] == "BLUE_GREEN"
    settings_of_api = BlueGreenSettings.from_json(
        '{"standardRolloutPolicy": {"batchNodeCount": 1, "batchSoakDuration": "0s"}, "nodePoolSoakDuration": "3600s"}'
    )
    assert found["blue_green_settings"] == {
        "standard_rollout_policy": {"batch_node_count": 1, "batch_soak_duration": "0s"},
        "node_pool_soak_duration": "3600s",
    }
    assert settings_of_api.node_pool_soak_duration.total_seconds() == 3600


@given(
    upgrade=st.fixed_dictionaries(
        {"strategy": st.just("surge"), "max_surge": st.integers(0, 10), "max_unavailable": st.integers(1, 10)}
    )
    | st.fixed_dictionaries(
        {
            "strategy": st.just("blue_green"),
            "batch": st.integers(1, 9),
            "soak": st.sampled_from(["30m", "1h", "36h", "7d"]),
        }
    ),
    machine=st.sampled_from(["g2-standard-12", "e2-standard-8", "ct6e-standard-4t"]),
)
def test_the_api_takes_every_way_to_upgrade(upgrade: dict[str, Any], machine: str) -> None:
    slice_ = {"topology": "2x2"} if machine.startswith("ct") else {}
    group = spec(machine, upgrade=upgrade, **slice_)
    account = "nodes@example-dev.iam.gserviceaccount.com"
    inputs = {
        **node_pool_inputs(group, location="us-central1", zones=ZONES),
        "node_config": node_config("any", group, service_account=account, tags={}),
        "cluster": "projects/example-dev/locations/us-central1/clusters/dev",
    }
    assert problems({"type": "gcp:container/nodePool:NodePool", "inputs": camel(inputs)}) == []


def camel(value: Any) -> Any:
    if isinstance(value, dict):
        return {_camel(key): camel(each) for key, each in value.items()}
    return [camel(each) for each in value] if isinstance(value, list) else value


def _camel(key: str) -> str:
    first, *others = key.split("_")
    return key if "/" in key or "." in key else first + "".join(other.title() for other in others)


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"machine": "a3-highgpu-8g", "capacity": RESERVATION}, "a reservation has each once: give strategy surge"),
        (
            {"placement": "compact", "machine": "a2-highgpu-8g", "zones": ZONES},
            "placement compact has each once: give strategy surge",
        ),
        ({"capacity": {"kind": "flex_start"}}, "flex_start nodes live out their time instead: leave upgrade out"),
        ({"machine": "ct6e-standard-4t", "topology": "4x4", "zones": ZONES}, "a 4x4 slice has each once"),
        ({"upgrade": {**BLUE_GREEN, "soak": "8d"}}, "upgrade.soak 8d is longer than GKE keeps old nodes: give 7d"),
        ({"upgrade": {**BLUE_GREEN, "soak": "forever"}}, "should match pattern"),
        ({"upgrade": {**BLUE_GREEN, "max_surge": 1}}, "Extra inputs are not permitted"),
        ({"upgrade": {"strategy": "surge", "soak": "1h"}}, "Extra inputs are not permitted"),
        ({"upgrade": {"strategy": "surge", "max_unavailable": 0}}, "are 0 nodes at once: give 1 to 20 together"),
        ({"upgrade": {"strategy": "surge", "max_surge": 20}}, "are 21 nodes at once: give 1 to 20 together"),
        (
            {"machine": "a3-highgpu-8g", "capacity": RESERVATION, "upgrade": {"strategy": "surge", "max_surge": 1}},
            "needs 5 machines, and the reservation has 4: give max_surge 0 and max_unavailable, or nodes.max 3",
        ),
        ({"capacity": {"kind": "flex_start"}, "upgrade": {"strategy": "surge"}}, "live out their time instead"),
        ({"upgrade": {"strategy": "recreate"}}, "does not match any of the expected tags: 'surge', 'blue_green'"),
    ],
)
def test_an_upgrade_that_nobody_has_the_machines_for_is_refused(changes: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ValidationError, match=sentence):
        spec(**{"upgrade": BLUE_GREEN, **changes})


def test_a_reservation_with_room_takes_a_surge() -> None:
    surge = {"strategy": "surge", "max_surge": 1}
    group = spec("a3-highgpu-8g", capacity=RESERVATION, nodes={"min": 0, "max": 3}, upgrade=surge)
    assert settings(group)["max_surge"] == 1


def test_the_clusters_addresses_hold_what_an_upgrade_adds() -> None:
    platform = described("dev")
    platform["node_groups"]["l4"]["nodes"] = {"min": 0, "max": 3}
    platform["cluster"]["network"] = {"cidr": "10.40.0.0/20"}
    load(platform, "dev")
    platform["node_groups"]["l4"]["upgrade"] = BLUE_GREEN
    with pytest.raises(InvalidStack, match="its addresses suffice for"):
        load(platform, "dev")
