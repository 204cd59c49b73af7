"""What holds for every kind: names, defaults, secrets, unknown parts, reads, and what the schema does not take."""

from __future__ import annotations

import json
from typing import Any

import pytest
from clouds.aws.iam import ROLE
from clouds.aws.vpc import VPC
from clouds.client import Client, ProviderError
from clouds.cloud import Cloud
from clouds.estate import Eks
from clouds.gcp.kinds import API
from clouds.kind import KINDS
from clouds.package import FUNCTIONS, package
from clouds.wire import UNKNOWN, Secret
from pulumi.runtime.proto import provider_pb2 as messages

TRUST = json.dumps(
    {
        "Version": "2012-10-17",
        "Statement": [{"Effect": "Allow", "Action": "sts:AssumeRole", "Principal": {"Service": "ec2.amazonaws.com"}}],
    }
)


def test_a_name_is_made_from_the_engines_seed_and_stays(aws: Client) -> None:
    first = aws.check(ROLE, "nodes", {"assumeRolePolicy": TRUST}, seed=b"a")
    assert first["name"] == aws.check(ROLE, "nodes", {"assumeRolePolicy": TRUST}, seed=b"a")["name"]
    assert first["name"] != aws.check(ROLE, "nodes", {"assumeRolePolicy": TRUST}, seed=b"b")["name"]
    assert first["name"].startswith("nodes-")
    assert first["name"] == aws.check(ROLE, "nodes", {"assumeRolePolicy": TRUST}, old=first, seed=b"c")["name"]


def test_a_name_that_is_given_is_taken(aws: Client) -> None:
    checked = aws.check(ROLE, "nodes", {"assumeRolePolicy": TRUST, "name": "mine"})
    assert checked["name"] == "mine"
    assert "name" not in checked["__defaults"]


def test_a_given_name_that_is_taken_out_becomes_a_made_one(aws: Client) -> None:
    given = aws.check(ROLE, "nodes", {"assumeRolePolicy": TRUST, "name": "mine"})
    assert aws.check(ROLE, "nodes", {"assumeRolePolicy": TRUST}, old=given)["name"].startswith("nodes-")


def test_a_long_name_leaves_room_for_its_digits(aws: Client) -> None:
    name = aws.check(ROLE, "n" * 80, {"assumeRolePolicy": TRUST})["name"]
    assert len(name) == 64
    assert name[-8] == "-"


def test_a_resource_with_a_given_name_is_deleted_before_its_replacement(aws: Client) -> None:
    given = aws.create(ROLE, "a", {"assumeRolePolicy": TRUST, "name": "mine"})
    assert aws.diff(given, {"assumeRolePolicy": TRUST, "name": "mine", "path": "/x/"}).deleteBeforeReplace
    made = aws.create(ROLE, "b", {"assumeRolePolicy": TRUST})
    assert not aws.diff(made, {"assumeRolePolicy": TRUST, "path": "/x/"}).deleteBeforeReplace


def test_defaults_are_marked_in_the_block_that_they_are_added_to(aws: Client) -> None:
    checked = aws.check("aws:eks/cluster:Cluster", "x", {"roleArn": "r", "vpcConfig": {"subnetIds": ["s"]}})
    assert checked["bootstrapSelfManagedAddons"] is True
    assert checked["__defaults"] == ["bootstrapSelfManagedAddons", "name"]
    assert checked["vpcConfig"]["endpointPublicAccess"] is True
    assert checked["vpcConfig"]["__defaults"] == ["endpointPublicAccess"]


def test_tags_and_region_of_the_provider_are_added(cloud: Cloud) -> None:
    tags = json.dumps({"tags": {"owner": "ml", "stack": "dev"}})
    with Client(package("aws"), cloud, region="us-west-2", defaultTags=tags) as client:
        checked = client.check(VPC, "net", {"cidrBlock": "10.0.0.0/16", "tags": {"stack": "prod"}})
    assert checked["tagsAll"] == {"owner": "ml", "stack": "prod"}
    assert checked["region"] == "us-west-2"


@pytest.mark.parametrize(
    ("inputs", "problem"),
    [
        ({}, "assumeRolePolicy: Missing required argument"),
        ({"assumeRolePolicy": TRUST, "nmae": "x"}, "nmae: Invalid or unknown key"),
        ({"assumeRolePolicy": TRUST, "description": ["x"]}, "description: Inappropriate value"),
        ({"assumeRolePolicy": TRUST, "maxSessionDuration": "long"}, "maxSessionDuration: Inappropriate value"),
        ({"assumeRolePolicy": TRUST, "inlinePolicies": [{"nmae": "x"}]}, r"inlinePolicies\[0\].nmae: Invalid"),
        ({"assumeRolePolicy": TRUST, "tags": {"a": ["b"]}}, "tags.a: Inappropriate value"),
    ],
)
def test_what_the_schema_does_not_take_fails_the_check(aws: Client, inputs: dict[str, Any], problem: str) -> None:
    with pytest.raises(ProviderError, match=problem):
        aws.check(ROLE, "x", inputs)


def test_what_is_not_known_is_not_checked(aws: Client) -> None:
    checked = aws.check(ROLE, "x", {"assumeRolePolicy": UNKNOWN, "tags": {"a": UNKNOWN}})
    assert checked["assumeRolePolicy"] is UNKNOWN
    assert checked["tagsAll"] is UNKNOWN


def test_a_secret_stays_a_secret(aws: Client, cloud: Cloud) -> None:
    inputs = {"assumeRolePolicy": TRUST, "description": Secret("hush"), "tags": {"a": Secret("b")}}
    made = aws.create(ROLE, "x", inputs)
    assert made.inputs["description"] == made.outputs["description"] == Secret("hush")
    assert made.outputs["tags"] == {"a": Secret("b")}
    assert cloud.resources()[0].inputs["description"] == "hush"


def test_no_change_is_no_difference(aws: Client) -> None:
    made = aws.create(ROLE, "x", {"assumeRolePolicy": TRUST, "description": Secret("hush")})
    answer = aws.diff(made, {"assumeRolePolicy": TRUST, "description": Secret("hush")})
    assert answer.changes == messages.DiffResponse.DIFF_NONE


def test_something_that_became_unknown_is_a_change(aws: Client) -> None:
    made = aws.create(ROLE, "x", {"assumeRolePolicy": TRUST})
    answer = aws.diff(made, {"assumeRolePolicy": UNKNOWN})
    assert {path: kind.kind for path, kind in answer.detailedDiff.items()} == {
        "assumeRolePolicy": messages.PropertyDiff.UPDATE
    }


def test_what_is_there_can_be_imported_and_then_changes_nothing(aws: Client) -> None:
    made = aws.create(ROLE, "x", {"assumeRolePolicy": TRUST, "tags": {"a": "b"}})
    imported = aws.read(ROLE, "x", made.id)
    assert imported is not None
    assert imported.outputs == made.outputs
    same = {"assumeRolePolicy": TRUST, "tags": {"a": "b"}, "name": made.outputs["name"]}
    assert aws.diff(imported, same).changes == messages.DiffResponse.DIFF_NONE


def test_a_refresh_sees_what_somebody_changed(aws: Client, cloud: Cloud) -> None:
    made = aws.create(ROLE, "x", {"assumeRolePolicy": TRUST, "description": "ours"})
    cloud.drift(ROLE, made.id, {"description": "theirs"})
    seen = aws.read(ROLE, "x", made.id, state=made)
    assert seen is not None
    assert seen.inputs["description"] == seen.outputs["description"] == "theirs"
    assert list(aws.diff(seen, {"assumeRolePolicy": TRUST, "description": "ours"}).diffs) == ["description"]


def test_a_refresh_of_what_nobody_changed_changes_nothing(aws: Client) -> None:
    estate = Eks(aws)
    for state in (estate.vpc, estate.cluster, estate.template, estate.group):
        seen = aws.read(state.token, state.name, state.id, state=state)
        assert seen == state, state.token


def test_what_is_gone_is_read_as_nothing(aws: Client) -> None:
    made = aws.create(ROLE, "x", {"assumeRolePolicy": TRUST})
    aws.delete(made)
    assert aws.read(ROLE, "x", made.id, state=made) is None


def test_what_is_gone_is_deleted_without_complaint(aws: Client) -> None:
    made = aws.create(ROLE, "x", {"assumeRolePolicy": TRUST})
    aws.delete(made)
    aws.delete(made)


def test_a_type_that_nobody_thought_of_asks_for_a_row(aws: Client) -> None:
    with pytest.raises(ProviderError, match=r"the stand-in has no aws:sns/topic:Topic; add a row"):
        aws.check("aws:sns/topic:Topic", "x", {})


def test_a_function_that_nobody_thought_of_asks_to_be_added(aws: Client) -> None:
    with pytest.raises(ProviderError, match=r"the stand-in has no aws:ec2/getAmi:getAmi; add a function"):
        aws.invoke("aws:ec2/getAmi:getAmi")


def test_functions_answer_for_the_account(aws: Client, gcp: Client) -> None:
    assert aws.invoke("aws:index/getCallerIdentity:getCallerIdentity")["accountId"] == "111122223333"
    assert aws.invoke("aws:index/getRegion:getRegion")["region"] == "us-east-1"
    assert "us-east-1a" in aws.invoke("aws:index/getAvailabilityZones:getAvailabilityZones")["names"]
    principals = [{"type": "Service", "identifiers": ["ec2.amazonaws.com"]}]
    document = aws.invoke(
        "aws:iam/getPolicyDocument:getPolicyDocument",
        statements=[{"actions": ["sts:AssumeRole"], "principals": principals}],
    )
    assert json.loads(document["json"]) == json.loads(TRUST)
    assert gcp.invoke("gcp:organizations/getProject:getProject")["projectId"] == "example-dev"
    assert set(FUNCTIONS) >= {"gcp:compute/getZones:getZones", "gcp:container/getEngineVersions:getEngineVersions"}


@pytest.mark.parametrize(
    ("settings", "problem"),
    [
        ({}, "Invalid or missing region"),
        ({"region": "us-east"}, "invalid AWS Region: us-east"),
        (
            {"region": "us-east-1", "allowedAccountIds": json.dumps(["444455556666"])},
            "AWS account ID not allowed: 111122223333",
        ),
    ],
)
def test_a_provider_that_cannot_work_says_why(cloud: Cloud, settings: dict[str, str], problem: str) -> None:
    with pytest.raises(ProviderError, match=problem), Client(package("aws"), cloud, **settings):
        pass


@pytest.mark.parametrize("name", ["aws", "gcp"])
def test_without_credentials_nothing_is_done(cloud: Cloud, name: str) -> None:
    cloud.set("no_credentials", True)
    with pytest.raises(ProviderError, match="credential"), Client(package(name), cloud, region="us-east-1"):
        pass


def test_the_provider_reports_the_version_of_the_sdk(aws: Client, gcp: Client) -> None:
    from importlib.metadata import version

    for client, name in ((aws, "pulumi-aws"), (gcp, "pulumi-gcp")):
        assert client.version() == version(name)


def test_addresses_and_names_mean_the_same_resource() -> None:
    reference = KINDS["gcp:compute/subnetwork:Subnetwork"].references[0]
    network = "projects/example-dev/global/networks/dev"
    from clouds.cloud import Thing

    thing = Thing("gcp:compute/network:Network", network, {}, {})
    for name in (network, API + network, "dev"):
        assert reference.refers({"network": name}, thing), name
    assert not reference.refers({"network": "deva"}, thing)
