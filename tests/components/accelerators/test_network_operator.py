"""What NVIDIA's network operator is told. Checked by hand against its resource definitions and its chart's values."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from registered import registered

from gpuyard.components.accelerators.network_operator import (
    RESOURCE,
    Infiniband,
    NetworkOperator,
    gpu_driver,
    policy,
    values,
)
from gpuyard.components.artifacts import ArtifactsSpec
from gpuyard.components.scheduling.kueue_values import NOT_COUNTED

UPSTREAM = ArtifactsSpec()
MIRROR = ArtifactsSpec(images="mirror.example/ai")
HOST = Infiniband([{"gpuyard.io/node-group": "dgx"}, {"rack": "7", "gpu": "h100"}], "host", brings_nfd=False)
OPERATOR = replace(HOST, driver="operator", brings_nfd=True)


def test_one_discovery_is_in_a_cluster() -> None:
    assert values(HOST, UPSTREAM)["nfd"] == {"enabled": False, "deployNodeFeatureRules": False}
    own = values(OPERATOR, UPSTREAM)
    assert own["nfd"] == {"enabled": True, "deployNodeFeatureRules": True}
    assert own["node-feature-discovery"]["worker"]["tolerations"] == [{"operator": "Exists"}]


def test_the_driver_comes_from_the_operator_only_where_no_host_has_it(golden: Callable[[str, Any], None]) -> None:
    assert "ofedDriver" not in policy(HOST, UPSTREAM)["spec"]
    driver = policy(OPERATOR, UPSTREAM)["spec"]["ofedDriver"]
    assert (driver["repository"], driver["image"]) == ("nvcr.io/nvidia/mellanox", "doca-driver")
    assert driver["upgradePolicy"]["maxParallelUpgrades"] == 1
    assert driver["upgradePolicy"]["drain"]["enable"] is True
    golden("infiniband", [values(OPERATOR, MIRROR), policy(OPERATOR, MIRROR)])


def test_nodes_are_those_of_the_groups_each_by_all_its_labels() -> None:
    terms = policy(HOST, UPSTREAM)["spec"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]
    assert terms["nodeSelectorTerms"] == [
        {"matchExpressions": [{"key": "gpuyard.io/node-group", "operator": "In", "values": ["dgx"]}]},
        {
            "matchExpressions": [
                {"key": "rack", "operator": "In", "values": ["7"]},
                {"key": "gpu", "operator": "In", "values": ["h100"]},
            ]
        },
    ]


def test_pods_ask_for_what_the_plugin_offers_and_queues_do_not_count_it() -> None:
    [shared] = json.loads(policy(HOST, UPSTREAM)["spec"]["rdmaSharedDevicePlugin"]["config"])["configList"]
    assert f"rdma/{shared['resourceName']}" == RESOURCE
    assert shared["selectors"] == {"vendors": ["15b3"], "linkTypes": ["infiniband"]}
    assert RESOURCE.startswith(NOT_COUNTED)


def test_a_mirror_stands_in_for_nvidias_registry() -> None:
    text = json.dumps([values(OPERATOR, MIRROR), policy(OPERATOR, MIRROR)])
    assert "nvcr.io" not in text
    assert text.count("mirror.example/ai/nvidia/") == 5


def test_the_gpu_driver_is_built_against_the_cards_driver_whoever_brings_that() -> None:
    assert gpu_driver(HOST) == {"enabled": True, "useHostMofed": True}
    assert gpu_driver(OPERATOR) == {"enabled": True, "useHostMofed": False}


def test_the_policy_waits_for_its_kind_and_goes_before_the_operator() -> None:
    component, space, release, told = registered(lambda: NetworkOperator("net", HOST, artifacts=UPSTREAM))
    assert component["inputs"] == {"driver": "host"}
    assert space["inputs"]["metadata"]["labels"] == {"pod-security.kubernetes.io/enforce": "privileged"}
    assert release["options"]["depends_on"] == [space["urn"]]
    assert told["type"] == "kubernetes:mellanox.com/v1alpha1:NicClusterPolicy"
    assert told["options"]["depends_on"] == [release["urn"]]
