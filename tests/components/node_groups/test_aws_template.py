from __future__ import annotations

import base64
import email
import tomllib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles.aws import problems
from ruamel.yaml import YAML

from gpuyard import catalogue
from gpuyard.components.node_groups.aws_template import Image, ephemeral_storage, template_inputs
from gpuyard.components.spec import in_gib

TAGS = {"owner": "ml-platform", "stack": "prod"}


def template(machine: str = "g6e.12xlarge", system: str = "al2023", disk_gib: int = 500) -> dict[str, Any]:
    return template_inputs("l40s", Image(catalogue.machine(machine), system, disk_gib, None), TAGS)


def user_data(system: str) -> str:
    return base64.b64decode(template(system=system)["user_data"]).decode()


def test_every_image_family_exists_and_none_is_of_amazon_linux_2() -> None:
    assert not any(image.startswith("AL2_") for image in catalogue.eks_images()), "EKS publishes none since 2025-11-26"
    needed = {"clusterName": "c", "nodeRoleArn": "r", "subnetIds": ["s"], "scalingConfig": {}}
    for image in catalogue.eks_images():
        assert problems({"type": "aws:eks/nodeGroup:NodeGroup", "inputs": {**needed, "amiType": image}}) == []


def test_only_processes_of_the_node_reach_its_credentials() -> None:
    assert template()["metadata_options"] == {
        "http_endpoint": "enabled",
        "http_tokens": "required",
        "http_put_response_hop_limit": 1,
    }


@pytest.mark.parametrize(
    ("system", "devices"), [("al2023", ["/dev/xvda"]), ("bottlerocket", ["/dev/xvda", "/dev/xvdb"])]
)
def test_every_volume_is_encrypted_and_the_large_one_is_where_images_go(system: str, devices: list[str]) -> None:
    mappings = template(system=system)["block_device_mappings"]
    assert [mapping["device_name"] for mapping in mappings] == devices
    assert all(mapping["ebs"]["encrypted"] == "true" for mapping in mappings)
    assert all(mapping["ebs"]["volume_type"] == "gp3" for mapping in mappings)
    assert mappings[-1]["ebs"]["volume_size"] == 500


def test_local_disks_of_amazon_linux_are_striped_by_nodeadm() -> None:
    message = email.message_from_string(user_data("al2023"))
    assert message.get_content_type() == "multipart/mixed"
    [part] = [part for part in message.walk() if not part.is_multipart()]
    assert part.get_content_type() == "application/node.eks.aws"
    assert YAML(typ="safe", pure=True).load(str(part.get_payload())) == {
        "apiVersion": "node.eks.aws/v1alpha1",
        "kind": "NodeConfig",
        "spec": {"instance": {"localStorage": {"strategy": "RAID0"}}},
    }


def test_local_disks_of_bottlerocket_are_bound_to_images_and_pods() -> None:
    [command] = tomllib.loads(user_data("bottlerocket"))["settings"]["bootstrap-commands"].values()
    assert command["commands"][0] == ["apiclient", "ephemeral-storage", "init"]
    assert {"/var/lib/containerd", "/var/lib/kubelet"} < set(command["commands"][1])
    assert command["essential"] is True


def test_a_machine_without_local_disks_is_told_nothing_at_its_start() -> None:
    assert "user_data" not in template("inf2.xlarge")


def test_user_data_is_within_ec2s_limit() -> None:
    assert all(len(user_data(system)) < 16_384 for system in ("al2023", "bottlerocket"))


def test_instances_and_volumes_carry_the_owners_tags() -> None:
    specifications = template()["tag_specifications"]
    assert [s["resource_type"] for s in specifications] == ["instance", "volume"]
    assert all(TAGS.items() <= s["tags"].items() for s in specifications)


@given(st.integers(1, 10**6), st.sampled_from(["Mi", "Gi", "Ti"]))
def test_a_quantity_is_never_rounded_up(number: int, unit: str) -> None:
    size = {"Mi": 1, "Gi": 1024, "Ti": 1024**2}[unit]
    assert in_gib(f"{number}{unit}") * 1024 <= number * size < (in_gib(f"{number}{unit}") + 1) * 1024


@given(st.integers(20, 65_536))
def test_pods_may_never_ask_for_the_whole_disk(disk: int) -> None:
    promised = ephemeral_storage(Image(catalogue.machine("m7i.2xlarge"), "al2023", disk, None))
    assert in_gib(promised) < disk * 0.9, "kubelet evicts below 10 % free"
