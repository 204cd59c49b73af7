"""What is there before a program of ours runs."""

from __future__ import annotations

from pathlib import Path

import pytest
from clouds.aws.iam import ROLE
from clouds.aws.vpc import SUBNET, VPC
from clouds.client import Client
from clouds.cloud import Cloud
from clouds.existing import plant, plant_named
from clouds.package import package

STACKS = Path(__file__).parents[2] / "stacks"


@pytest.fixture(autouse=True)
def _rows() -> None:
    package("aws")


def test_roles_that_a_stack_names_are_there(cloud: Cloud) -> None:
    plant_named(cloud, (STACKS / "Pulumi.prod-aws.yaml").read_text())
    arns = {thing.outputs["arn"] for thing in cloud.resources(ROLE)}
    assert "arn:aws:iam::111122223333:role/platform" in arns
    assert cloud.calls() == []


def test_subnets_that_a_stack_names_are_there_in_zones_of_their_own(cloud: Cloud) -> None:
    plant_named(cloud, "subnets: [subnet-0a1b2c3d4e5f60718, subnet-08172635445f6e7d8]", region="eu-west-1")
    zones = [thing.outputs["availabilityZone"] for thing in cloud.resources(SUBNET)]
    assert zones == ["eu-west-1a", "eu-west-1b"]
    assert {thing.inputs["vpcId"] for thing in cloud.resources(SUBNET)} == {t.id for t in cloud.resources(VPC)}


def test_what_is_planted_counts_as_made(aws: Client, cloud: Cloud) -> None:
    vpc = plant(cloud, VPC, {"cidrBlock": "10.0.0.0/16"})
    inputs = {"vpcId": vpc.id, "cidrBlock": "10.0.0.0/20", "availabilityZone": "us-east-1a"}
    assert aws.create(SUBNET, "x", inputs).outputs["vpcId"] == vpc.id
