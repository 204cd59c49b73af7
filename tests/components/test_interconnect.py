"""What a stack file says of fast networks, and what follows for its platform."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from ruamel.yaml import YAML
from shipped import ROOT

from gpuyard import catalogue
from gpuyard.components.managed_platform import ManagedPlatformSpec
from gpuyard.components.node_groups import efa
from gpuyard.components.scheduling import topology
from gpuyard.components.stack import load
from gpuyard.components.tenancy.tenant import manifests
from gpuyard.components.validation import InvalidStack

READ = YAML(typ="safe", pure=True)
EFA = {"kind": "efa"}
INFINIBAND = {"kind": "infiniband"}
TRAIN = {"machine": "p5.48xlarge", "nodes": {"min": 4, "max": 4}, "zones": ["us-east-1a"], "interconnect": EFA}


def given(stack: str) -> Any:
    return copy.deepcopy(
        READ.load((ROOT / "stacks" / f"Pulumi.{stack}.yaml").read_text())["config"]["gpuyard:platform"]
    )


def platform(value: Any, stack: str = "prod-aws") -> ManagedPlatformSpec:
    spec = load(value, stack)
    assert isinstance(spec, ManagedPlatformSpec)
    return spec


def with_group(name: str, group: dict[str, Any], **changes: Any) -> Any:
    value = given("prod-aws")
    value["node_groups"][name] = group | changes
    return value


def onprem(**changes: Any) -> Any:
    value = given("onprem")
    [name] = [name for name, group in value["node_groups"].items() if group["machine"].startswith("dgx")]
    value["node_groups"][name] |= changes
    return value


def test_a_group_of_fixed_size_has_the_levels_that_ec2_tells_and_one_that_scales_has_none() -> None:
    fixed = platform(with_group("train", TRAIN))
    assert fixed.accelerator_groups()["train"].levels == topology.aws_levels("p5.48xlarge") != ()
    scaled = platform(with_group("train", TRAIN, nodes={"min": 0, "max": 4}))
    assert scaled.accelerator_groups()["train"].levels == (), "a job would wait for nodes that nobody asks for"
    assert platform(with_group("train", TRAIN | {"interconnect": None})).accelerator_groups()["train"].levels == ()


def test_a_tenant_with_a_share_gets_the_settings_and_no_other_does() -> None:
    value = with_group("train", TRAIN)
    value["tenants"]["assistants"]["accelerators"]["train"] = {"quota": 16}
    spec = platform(value)
    groups = spec.accelerator_groups()
    made = {name: manifests(name, tenant, groups=groups, kubernetes="1.35") for name, tenant in spec.tenants.items()}
    settings = {name: [m for m in objects if m["kind"] == "ConfigMap"] for name, objects in made.items()}
    [found] = settings.pop("assistants")
    assert (found["metadata"]["name"], found["metadata"]["namespace"]) == ("nccl-train", "assistants")
    assert found["data"] == {"FI_PROVIDER": "efa", "NCCL_NET": "AWS Libfabric"}
    assert not any(settings.values())


def test_a_tenant_claims_the_cards_of_its_nodes_by_a_template_of_the_platforms_and_writes_none() -> None:
    value = given("dev")
    direct = {"machine": "a3-ultragpu-8g", "nodes": {"min": 0, "max": 2}, "zones": ["us-central1-a"]}
    way = {"capacity": {"kind": "spot"}, "interconnect": {"kind": "gpudirect"}}
    value["node_groups"] |= {"h200": direct | way, "plain": direct | way | {"interconnect": None}}
    [tenant] = list(value["tenants"])[:1]
    value["tenants"][tenant]["accelerators"] |= {"h200": {"quota": 8}, "plain": {"quota": 8}}
    spec = platform(value, "dev")
    objects = manifests(tenant, spec.tenants[tenant], groups=spec.accelerator_groups(), kubernetes="1.35")
    [claim] = [m for m in objects if m["kind"] == "ResourceClaimTemplate"]
    assert (claim["metadata"]["name"], claim["metadata"]["namespace"]) == ("rdma-h200", tenant)
    [request] = claim["spec"]["spec"]["devices"]["requests"]
    assert request["exactly"] == {"deviceClassName": "mrdma.google.com", "allocationMode": "All"}
    [role] = [m for m in objects if m["kind"] == "Role"]
    rights = [rule["verbs"] for rule in role["rules"] if rule["apiGroups"] == ["resource.k8s.io"]]
    assert rights == [["get", "list", "watch"]], "a claim of another class would be counted by no quota"


def test_a_renamed_group_keeps_what_the_cluster_knows_it_by() -> None:
    value = with_group("training", TRAIN | {"was": "train"})
    assert platform(value).with_efa() == ["train"]
    assert platform(value).accelerator_groups()["training"].name == "train"


def test_efa_over_all_zones_of_the_cluster_is_refused_with_the_remedy() -> None:
    with pytest.raises(
        InvalidStack, match=r"node_groups\.train: EFA reaches no other zone, and the group is in us-east-1a"
    ):
        load(with_group("train", {key: value for key, value in TRAIN.items() if key != "zones"}), "prod-aws")


def test_a_network_add_on_that_is_too_old_is_refused_where_a_group_has_efa_and_taken_elsewhere() -> None:
    value = with_group("train", TRAIN)
    value["cluster"]["addons"] = {"vpc-cni": "v1.18.3-eksbuild.1"}
    with pytest.raises(
        InvalidStack, match=r"cluster\.addons: vpc-cni v1\.18\.3-eksbuild\.1 does not know .* v1\.18\.5 or newer"
    ):
        load(value, "prod-aws")
    del value["node_groups"]["train"]
    load(value, "prod-aws")


def test_a_kind_of_another_place_is_refused() -> None:
    with pytest.raises(InvalidStack, match=r"node_groups\.train\.interconnect\.kind"):
        load(with_group("train", TRAIN | {"interconnect": INFINIBAND}), "prod-aws")
    with pytest.raises(InvalidStack, match=r"interconnect\.kind"):
        load(onprem(interconnect=EFA), "onprem")


def test_infiniband_is_told_to_the_network_operator_and_leaves_discovery_to_the_gpu_operator() -> None:
    assert platform(given("onprem"), "onprem").infiniband() is None
    cards = platform(onprem(interconnect=INFINIBAND), "onprem").infiniband()
    assert cards is not None
    assert (cards.driver, cards.brings_nfd) == ("host", False)
    assert list(cards.selectors) == [{"gpuyard.io/node-group": "dgx"}]
    other = onprem(machine="onprem-mi300x-x8", interconnect=INFINIBAND | {"driver": "operator"})
    other |= {"tenants": {}, "endpoints": {}}
    cards = platform(other, "onprem").infiniband()
    assert cards is not None
    assert (cards.driver, cards.brings_nfd) == ("operator", True), "no GPU Operator of NVIDIA brings one"


def test_levels_on_prem_are_the_labels_that_the_inventory_names() -> None:
    racks = ["example.com/block", "example.com/rack"]
    assert list(platform(onprem(topology=racks), "onprem").accelerator_groups()["dgx"].levels) == racks
    with pytest.raises(InvalidStack, match=r"topology names kubernetes\.io/hostname, which is always its last level"):
        load(onprem(topology=[*racks, "kubernetes.io/hostname"]), "onprem")


def test_cards_whose_driver_comes_from_two_sides_are_refused() -> None:
    value = onprem(interconnect=INFINIBAND)
    other = {
        "machine": "dgx-h200",
        "count": 1,
        "names": ["dgx-09"],
        "interconnect": INFINIBAND | {"driver": "operator"},
    }
    value["node_groups"]["h200"] = other
    told = r"the driver of InfiniBand cards is brought in different ways \(dgx host, h200 operator\)"
    with pytest.raises(InvalidStack, match=told):
        load(value, "onprem")


def test_a_machine_without_accelerators_has_no_use_for_either() -> None:
    plain = {"machine": "onprem-cpu", "count": 1, "names": ["plain-01"]}
    for field in ({"interconnect": INFINIBAND}, {"topology": ["example.com/rack"]}):
        value = given("onprem")
        value["node_groups"]["plain"] = plain | field
        with pytest.raises(InvalidStack, match=r"leave .* out"):
            load(value, "onprem")


def test_the_namespace_of_the_network_operator_is_no_tenants() -> None:
    value = given("onprem")
    value["tenants"]["network-operator"] = {"groups": ["x"], "monthly_budget": 1}
    with pytest.raises(InvalidStack, match="a namespace network-operator has another use"):
        load(value, "onprem")


def test_the_group_of_the_documentation_is_taken_and_its_job_asks_for_what_a_node_offers() -> None:
    text = (ROOT / "docs" / "interconnect.md").read_text()
    group, containers = (READ.load(block.split("```")[0]) for block in text.split("```yaml\n")[1:3])
    value = given("prod-aws")
    value["node_groups"] |= group["node_groups"]
    spec = platform(value)
    [container] = containers["containers"]
    fabric = catalogue.fabric("p5.48xlarge")
    assert fabric is not None
    limits, offered = container["resources"]["limits"], efa.offered(fabric)
    assert limits["nvidia.com/gpu"] == spec.machine("train").accelerators
    assert str(limits[efa.RESOURCE]) == offered[efa.RESOURCE]
    assert int(limits["hugepages-2Mi"][:-2]) <= int(offered["hugepages-2Mi"][:-2])
    assert container["envFrom"] == [{"configMapRef": {"name": "nccl-train"}}]
    assert spec.accelerator_groups()["train"].settings


def test_every_setting_is_in_the_documentation() -> None:
    text = (ROOT / "docs" / "interconnect.md").read_text()
    missing = [s for s in catalogue.nccl_settings().values() if f"`{s.variable}={s.value}`" not in text]
    assert not missing
