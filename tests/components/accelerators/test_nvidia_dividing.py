from __future__ import annotations

import json
from typing import Any

import pytest
from pydantic import TypeAdapter

from gpuyard.components.accelerators.nvidia import charts, decide
from gpuyard.components.artifacts import ArtifactsSpec
from gpuyard.components.node_groups.partition import Divided, Partition, operator_labels

SLICES = {"kind": "mig", "profiles": {"1g.10gb": 7}}
MIXED = {"kind": "mig", "profiles": {"3g.40gb": 1, "1g.10gb": 4}}
MPS = {"kind": "mps", "clients": 4}
TURNS = {"kind": "time_slicing", "clients": 8}

IMAGES = {"aws": "AL2023_x86_64_NVIDIA", "onprem": "host"}


def partition(fields: dict[str, Any]) -> Divided:
    found: Divided = TypeAdapter(Partition).validate_python(fields)
    return found


def operator(cloud: str = "aws", mirror: str | None = None, **groups: dict[str, Any]) -> Any:
    parts = {group: partition(fields) for group, fields in groups.items()}
    spec = decide(cloud, dict.fromkeys([*groups, "whole"], IMAGES[cloud]), parts)
    return charts(spec, ArtifactsSpec(images=mirror), monitored=True)["gpu-operator"]


def test_whole_gpus_need_no_manager_of_slices_and_no_configuration_of_the_plugin() -> None:
    given = operator()
    assert not given["migManager"]["enabled"]
    assert given["devicePlugin"] == {"enabled": True}
    assert "mig" not in given


def test_gpus_that_are_cut_no_more_become_whole_when_no_group_is_cut_any_more() -> None:
    spec = decide("aws", {"whole": IMAGES["aws"]}, cuttable=["whole"])
    given = charts(spec, ArtifactsSpec(), monitored=True)["gpu-operator"]
    config = given["migManager"]["config"]
    assert given["migManager"]["enabled"]
    assert config["default"] == "all-disabled", "the operator labels nodes with this one alone"
    assert json.loads(config["data"]["config.yaml"])["mig-configs"] == {
        "all-disabled": [{"devices": "all", "mig-enabled": False}]
    }
    assert "mig" not in given
    image = decide("aws", {"whole": "BOTTLEROCKET_x86_64_NVIDIA"}, cuttable=["whole"])
    assert "gpu-operator" not in charts(image, ArtifactsSpec(), monitored=True), "nobody cuts these"


def test_every_cut_is_a_configuration_that_its_nodes_label_names() -> None:
    given = operator(small=SLICES, other={**SLICES, "profiles": {"2g.20gb": 3}})
    assert given["mig"] == {"strategy": "single"}
    config = json.loads(given["migManager"]["config"]["data"]["config.yaml"])
    for fields in (SLICES, {**SLICES, "profiles": {"2g.20gb": 3}}):
        [name] = operator_labels(partition(fields)).values()
        [cut] = config["mig-configs"][name]
        assert cut == {"devices": "all", "mig-enabled": True, "mig-devices": fields["profiles"]}
    default = given["migManager"]["config"]["default"]
    assert config["mig-configs"][default] == [{"devices": "all", "mig-enabled": False}], "nodes without a label"


def test_slices_of_several_profiles_have_the_mixed_strategy() -> None:
    assert operator(mixed=MIXED)["mig"] == {"strategy": "mixed"}


def test_two_strategies_in_one_operator_are_refused_with_the_group_to_change() -> None:
    with pytest.raises(ValueError, match=r"give small partition\.strategy mixed") as raised:
        operator(mixed=MIXED, small=SLICES)
    assert "\n" not in str(raised.value)
    assert operator(mixed=MIXED, small={**SLICES, "strategy": "mixed"})["mig"] == {"strategy": "mixed"}


def test_virtual_machines_start_again_to_be_cut_and_ones_own_do_not() -> None:
    assert operator("aws", slices=SLICES)["migManager"]["env"] == [{"name": "WITH_REBOOT", "value": "true"}]
    assert "env" not in operator("onprem", slices=SLICES)["migManager"]


def test_a_shared_gpu_gets_another_name_and_a_container_one_place_on_it() -> None:
    given = operator(a=MPS, b=TURNS)["devicePlugin"]["config"]
    for fields, kind in ((MPS, "mps"), (TURNS, "timeSlicing")):
        [name] = operator_labels(partition(fields)).values()
        assert json.loads(given["data"][name])["sharing"][kind] == {
            "renameByDefault": True,
            "failRequestsGreaterThanOne": True,
            "resources": [{"name": "nvidia.com/gpu", "replicas": fields["clients"]}],
        }
    assert json.loads(given["data"][given["default"]]) == {"version": "v1"}, "nodes without a label keep whole GPUs"


def test_a_configuration_never_changes_under_the_name_that_nodes_go_by() -> None:
    before = operator(a=MPS)["devicePlugin"]["config"]["data"]
    after = operator(a={**MPS, "clients": 8}, b=MPS)["devicePlugin"]["config"]["data"]
    assert before.items() <= after.items()


def test_groups_that_gke_or_bottlerocket_divides_are_nothing_to_the_operator() -> None:
    parts = {"l4": partition(TURNS)}
    assert set(charts(decide("gcp", {"l4": "COS_CONTAINERD"}, parts), ArtifactsSpec(), monitored=False)) == {
        "dcgm-exporter"
    }
    both = decide("aws", {"l4": "BOTTLEROCKET_x86_64_NVIDIA", "h100": "AL2023_x86_64_NVIDIA"}, parts)
    assert "config" not in charts(both, ArtifactsSpec(), monitored=False)["gpu-operator"]["devicePlugin"]


def test_a_mirror_stands_in_for_the_manager_of_slices_too() -> None:
    given = operator(mirror="mirror.example/ai", slices=SLICES, shared=MPS)
    assert given["migManager"]["repository"] == "mirror.example/ai/nvidia/cloud-native"
    assert given["devicePlugin"]["repository"] == "mirror.example/ai/nvidia"
