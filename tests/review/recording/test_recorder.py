"""What a recording has of each resource of a program that has everything."""

from __future__ import annotations

import json
from collections.abc import Mapping

import pytest
from recorded import PROGRAMS, record

from gpuyard.review import document
from gpuyard.review.program.record import find_project
from gpuyard.review.recording import Recording, Resource

STACK = "urn:pulumi:dev::everything::pulumi:pulumi:Stack::everything-dev"
PLATFORM = "urn:pulumi:dev::everything::everything:index:Platform"
GROUP = f"{PLATFORM}$everything:index:NodeGroup"
CIPHERTEXTS = ("dG9rZW4tY2lwaGVydGV4dA==", "cG9ydC1jaXBoZXJ0ZXh0", "cGFzc3dvcmQtY2lwaGVydGV4dA==")


@pytest.fixture(scope="module")
def everything() -> Recording:
    return record(find_project(PROGRAMS / "everything"))


@pytest.fixture(scope="module")
def by_urn(everything: Recording) -> Mapping[str, Resource]:
    return {resource["urn"]: resource for resource in everything.resources}


def named(by_urn: Mapping[str, Resource], type_: str, name: str) -> Resource:
    (found,) = (r for r in by_urn.values() if r["type"] == type_ and r["name"] == name)
    return found


def test_urns_chain_the_types_of_all_parents_but_the_stack(by_urn: Mapping[str, Resource]) -> None:
    assert set(by_urn) == {
        "urn:pulumi:dev::everything::aws:ec2/subnet:Subnet::in-existing",
        "urn:pulumi:dev::everything::aws:ec2/subnet:Subnet::in-shared",
        "urn:pulumi:dev::everything::aws:s3/bucketObject:BucketObject::asset",
        f"{PLATFORM}::main",
        f"{PLATFORM}$aws:eks/cluster:Cluster::main",
        f"{PLATFORM}$aws:iam/role:Role::main-node",
        f"{PLATFORM}$aws:kms/key:Key::main-key",
        f"{GROUP}::main-h100",
        f"{GROUP}$aws:ec2/launchTemplate:LaunchTemplate::main-h100",
        f"{GROUP}$aws:eks/nodeGroup:NodeGroup::main-h100",
        "urn:pulumi:dev::everything::gcp:container/cluster:Cluster::gke",
        "urn:pulumi:dev::everything::gcp:container/nodePool:NodePool::l4",
        "urn:pulumi:dev::everything::kubernetes:apps/v1:DaemonSet::raw",
        "urn:pulumi:dev::everything::kubernetes:apps/v1:Deployment::llama",
        "urn:pulumi:dev::everything::kubernetes:core/v1:ConfigMap::uses",
        "urn:pulumi:dev::everything::kubernetes:core/v1:Namespace::known",
        "urn:pulumi:dev::everything::kubernetes:core/v1:Namespace::team",
        "urn:pulumi:dev::everything::kubernetes:core/v1:Secret::hf",
        "urn:pulumi:dev::everything::kubernetes:helm.sh/v3:Release::operator",
        "urn:pulumi:dev::everything::kubernetes:yaml/v2:ConfigGroup::new-group",
        "urn:pulumi:dev::everything::kubernetes:yaml:ConfigGroup::old-group",
        "urn:pulumi:dev::everything::kubernetes:yaml:ConfigGroup$kubernetes:core/v1:ConfigMap::decoded",
        "urn:pulumi:dev::everything::pulumi:providers:kubernetes::later",
        "urn:pulumi:dev::everything::pulumi:providers:kubernetes::now",
    }


def test_parents_providers_and_places_are_kept(by_urn: Mapping[str, Resource]) -> None:
    group = by_urn[f"{GROUP}$aws:eks/nodeGroup:NodeGroup::main-h100"]
    assert group["parent"] == f"{GROUP}::main-h100"
    assert group["source"] == "parts.py:18"
    assert by_urn[f"{GROUP}::main-h100"]["parent"] == f"{PLATFORM}::main"
    platform = by_urn[f"{PLATFORM}::main"]
    assert platform["parent"] == STACK
    assert platform["custom"] is False
    assert platform["inputs"] == {"environment": "dev"}
    secret = named(by_urn, "kubernetes:core/v1:Secret", "hf")
    assert secret["provider"] == "urn:pulumi:dev::everything::pulumi:providers:kubernetes::later"
    assert group["provider"] == ""


def test_options_are_kept_and_inherited(by_urn: Mapping[str, Resource]) -> None:
    assert by_urn[f"{GROUP}$aws:eks/nodeGroup:NodeGroup::main-h100"]["options"] == {
        "protect": True,
        "retain_on_delete": True,
        "ignore_changes": ["scaling_config.desired_size"],
        "aliases": [
            "urn:pulumi:dev::everything::aws:eks/nodeGroup:NodeGroup::root",
            f"{GROUP}$aws:eks/nodeGroup:NodeGroup::old",
        ],
        "depends_on": [
            f"{PLATFORM}$aws:eks/cluster:Cluster::main",
            f"{PLATFORM}$aws:iam/role:Role::main-node",
            f"{GROUP}$aws:ec2/launchTemplate:LaunchTemplate::main-h100",
        ],
    }


def test_depending_on_a_component_is_depending_on_what_is_in_it(by_urn: Mapping[str, Resource]) -> None:
    assert named(by_urn, "kubernetes:apps/v1:DaemonSet", "raw")["options"]["depends_on"] == [
        f"{GROUP}$aws:ec2/launchTemplate:LaunchTemplate::main-h100",
        f"{GROUP}$aws:eks/nodeGroup:NodeGroup::main-h100",
    ]


def test_what_is_not_known_before_the_update_is_null_and_listed(by_urn: Mapping[str, Resource]) -> None:
    group = by_urn[f"{GROUP}$aws:eks/nodeGroup:NodeGroup::main-h100"]
    assert group["unknown"] == ["/launchTemplate/id", "/launchTemplate/version", "/nodeRoleArn"]
    assert group["inputs"]["launchTemplate"] == {"id": None, "version": None}
    assert group["inputs"]["clusterName"] == "given", "an input that is a scalar is known as an output"
    template = by_urn[f"{GROUP}$aws:ec2/launchTemplate:LaunchTemplate::main-h100"]
    assert template["unknown"] == ["/networkInterfaces/0/securityGroups/0"], "a cloud fills nested blocks itself"
    cluster = by_urn[f"{PLATFORM}$aws:eks/cluster:Cluster::main"]
    assert cluster["unknown"] == ["/encryptionConfig/provider/keyArn", "/roleArn"]
    assert cluster["inputs"]["encryptionConfig"]["resources"] == ["secrets"]


def test_numbers_empty_values_and_nulls_stay_what_they_are(by_urn: Mapping[str, Resource]) -> None:
    values = named(by_urn, "kubernetes:helm.sh/v3:Release", "operator")["inputs"]["values"]
    assert values["driver"] == {"enabled": False}
    assert (values["empty"], values["none"], values["list"]) == ({}, None, [])
    deployment = named(by_urn, "kubernetes:apps/v1:Deployment", "llama")["inputs"]["spec"]
    assert deployment["replicas"] == 2
    assert isinstance(deployment["replicas"], int)


def test_nothing_is_known_of_a_provider_that_cannot_be_configured_yet(by_urn: Mapping[str, Resource]) -> None:
    uses = named(by_urn, "kubernetes:core/v1:ConfigMap", "uses")
    assert uses["inputs"]["metadata"]["namespace"] is None, "its provider waits for the cluster's endpoint"
    assert "/metadata/namespace" in uses["unknown"]
    assert uses["inputs"]["metadata"]["annotations"] == {"k": "known"}, "this one's provider is configured"


def test_secrets_are_marked_and_those_of_the_configuration_unknown(by_urn: Mapping[str, Resource]) -> None:
    deployment = named(by_urn, "kubernetes:apps/v1:Deployment", "llama")
    env = "/spec/template/spec/containers/0/env"
    assert deployment["secret"] == [f"{env}/0/value", f"{env}/2/value"]
    assert deployment["unknown"] == [f"{env}/0/value", f"{env}/1/value", f"{env}/3/value"]
    values = [v["value"] for v in deployment["inputs"]["spec"]["template"]["spec"]["containers"][0]["env"]]
    assert values == [None, None, "hunter2-in-the-clear", None]
    uses = named(by_urn, "kubernetes:core/v1:ConfigMap", "uses")
    assert uses["secret"] == ["/data/port"], "a secret number is read without its value"
    assert uses["inputs"]["data"]["host"] == "db.example", "only a part of that configuration value is secret"
    assert named(by_urn, "kubernetes:core/v1:Secret", "hf")["secret"] == ["/stringData"]


def test_transforms_of_the_stack_and_of_ancestors_run(by_urn: Mapping[str, Resource]) -> None:
    role = by_urn[f"{PLATFORM}$aws:iam/role:Role::main-node"]
    assert role["inputs"]["tags"] == {"by": "stack"}
    key = by_urn[f"{PLATFORM}$aws:kms/key:Key::main-key"]
    assert key["inputs"] == {"description": "changed", "enableKeyRotation": True}
    assert key["options"] == {"protect": True, "retain_on_delete": True}
    assert role["options"] == {"retain_on_delete": True}


def test_functions_are_answered_where_the_program_needs_the_result(
    everything: Recording, by_urn: Mapping[str, Resource]
) -> None:
    assert everything.log == [{"severity": "warning", "message": "region eu-west-1, size 3"}]
    role = by_urn[f"{PLATFORM}$aws:iam/role:Role::main-node"]
    assert json.loads(role["inputs"]["assumeRolePolicy"]) == {
        "Version": "2012-10-17",
        "Statement": [{"Effect": "Allow", "Action": "sts:AssumeRole", "Principal": {"Service": "ec2.amazonaws.com"}}],
    }
    decoded = named(by_urn, "kubernetes:core/v1:ConfigMap", "decoded")
    assert decoded["inputs"]["data"] == {"yes": "no"}


def test_output_forms_and_other_stacks_are_unknown(by_urn: Mapping[str, Resource]) -> None:
    asset = named(by_urn, "aws:s3/bucketObject:BucketObject", "asset")
    assert asset["unknown"] == ["/content"], "an example's account would only look like an answer"
    assert named(by_urn, "aws:ec2/subnet:Subnet", "in-shared")["unknown"] == ["/vpcId"]


def test_of_an_existing_resource_the_id_is_known(by_urn: Mapping[str, Resource]) -> None:
    subnet = named(by_urn, "aws:ec2/subnet:Subnet", "in-existing")
    assert subnet["inputs"] == {"cidrBlock": "10.0.0.0/24", "tags": {"zone": None}, "vpcId": "vpc-0123456789abcdef0"}


def test_the_text_of_an_asset_is_kept(by_urn: Mapping[str, Resource]) -> None:
    source = named(by_urn, "aws:s3/bucketObject:BucketObject", "asset")["inputs"]["source"]
    assert source == {"archive": {"assets": {"a.txt": {"asset": {"text": "in the asset"}}}}}


def test_no_secret_leaves_the_review(everything: Recording) -> None:
    whole = document.build(everything, date="2026-11-30", environment="dev")
    shown = document.dumps(document.public(whole))
    for secret in ("hunter2-in-the-clear", *CIPHERTEXTS):
        assert secret not in shown
    assert "hunter2-in-the-clear" in document.dumps(whole), "rules see it in memory"


def test_two_recordings_are_equal_to_the_byte(everything: Recording) -> None:
    again = record(find_project(PROGRAMS / "everything"))
    first, second = (document.build(r, date="2026-11-30", environment="dev") for r in (everything, again))
    assert document.dumps(first) == document.dumps(second)


@pytest.mark.parametrize(
    "levers",
    [
        ("collector", "pump", "inline"),
        ("outputs", "aliases"),
        ("source", "urn"),
        ("types", "unknowns", "debug"),
        (),
    ],
)
def test_levers_change_nothing_of_what_is_recorded(everything: Recording, levers: tuple[str, ...]) -> None:
    plain = record(find_project(PROGRAMS / "everything"), levers=levers)
    assert json.dumps(plain.resources, sort_keys=True) == json.dumps(everything.resources, sort_keys=True)
    assert plain.log == everything.log
