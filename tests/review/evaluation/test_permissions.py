"""What roles and accounts may do, whichever resource says it."""

from __future__ import annotations

import json
from typing import Any

import pytest

from gpuyard.review.evaluation.permissions import permissions, trusts

Json = dict[str, Any]

ROLE_POLICY = "aws:iam/rolePolicy:RolePolicy"


def statement(**given: Any) -> Json:
    """What is read of one statement."""
    policy = json.dumps({"Version": "2012-10-17", "Statement": {"Effect": "Allow"} | given})
    (found,) = permissions(ROLE_POLICY, {"role": "nodes", "policy": policy})
    (read,) = found["statements"]
    return read


@pytest.mark.parametrize(
    ("resource", "everything"),
    [
        ("*", True),
        (["arn:aws:s3:::models", "*"], True),
        ("arn:aws:s3:::*", True),
        ("arn:aws:s3:::*/*", True),
        ("arn:aws:iam::111122223333:role/*", True),
        ("arn:aws:secretsmanager:us-east-1:111122223333:secret:*", True),
        ("arn:aws:s3:::models", False),
        ("arn:aws:s3:::models/*", False),
        ("arn:aws:s3:::models-*", False),
        ("arn:aws:iam::111122223333:role/fraud-*", False),
        (7, False),
    ],
)
def test_everything_of_a_kind_is_told_from_some_of_it(resource: Any, everything: bool) -> None:
    assert statement(Action="s3:GetObject", Resource=resource)["everything"] is everything


def test_a_statement_is_read_as_iam_reads_it() -> None:
    assert statement(Action=["S3:Get*", 7], Resource="*") == {
        "actions": ["s3:get*"],
        "all_but": False,
        "everything": True,
        "conditional": False,
    }
    assert statement(NotAction="iam:*", Resource="*")["all_but"]
    assert statement(Action="s3:*", NotResource="arn:aws:s3:::logs")["everything"]
    assert statement(Action="kms:Decrypt", Resource="*", Condition={"Bool": {}})["conditional"]
    assert statement(Effect="Deny", Action="s3:*", Resource="*")["actions"] == []


@pytest.mark.parametrize(
    ("type_", "inputs", "expected"),
    [
        (
            "aws:iam/rolePolicyAttachment:RolePolicyAttachment",
            {"role": "nodes", "policyArn": "arn:aws:iam::aws:policy/AdministratorAccess"},
            [{"holder": "/role", "name": "nodes", "path": "/policyArn", "managed": "AdministratorAccess"}],
        ),
        (
            "aws:iam/rolePolicyAttachment:RolePolicyAttachment",
            {"policyArn": "arn:aws-cn:iam::aws:policy/service-role/AmazonEBSCSIDriverPolicy"},
            [{"holder": "/role", "path": "/policyArn", "managed": "AmazonEBSCSIDriverPolicy"}],
        ),
        (
            "aws:iam/policyAttachment:PolicyAttachment",
            {"roles": ["nodes", None], "policyArn": "arn:aws:iam::111122223333:policy/models"},
            [
                {"holder": "/roles/0", "name": "nodes", "path": "/policyArn", "policy": "/policyArn"},
                {"holder": "/roles/1", "path": "/policyArn", "policy": "/policyArn"},
            ],
        ),
        (
            "aws:iam/rolePolicyAttachmentsExclusive:RolePolicyAttachmentsExclusive",
            {"roleName": "nodes", "policyArns": ["arn:aws:iam::aws:policy/AmazonS3FullAccess"]},
            [{"holder": "/roleName", "name": "nodes", "path": "/policyArns/0", "managed": "AmazonS3FullAccess"}],
        ),
        (
            "aws:iam/role:Role",
            {
                "managedPolicyArns": ["arn:aws:iam::aws:policy/AmazonS3FullAccess"],
                "inlinePolicies": [{"name": "none", "policy": '{"Statement": []}'}],
            },
            [
                {"holder": "", "path": "/managedPolicyArns/0", "managed": "AmazonS3FullAccess"},
                {"holder": "", "path": "/inlinePolicies/0/policy", "statements": []},
            ],
        ),
        ("aws:iam/policy:Policy", {"policy": "{"}, [{"path": "/policy", "statements": []}]),
        (
            "gcp:projects/iAMMember:IAMMember",
            {"role": "roles/editor", "member": "serviceAccount:nodes@example.iam.gserviceaccount.com"},
            [
                {
                    "path": "/role",
                    "role": "roles/editor",
                    "conditional": False,
                    "members": [{"path": "/member", "account": "nodes@example.iam.gserviceaccount.com"}],
                }
            ],
        ),
        (
            "gcp:organizations/iAMBinding:IAMBinding",
            {"role": "roles/owner", "members": ["user:anna@example.com", None]},
            [{"path": "/role", "role": "roles/owner", "conditional": False, "members": [{"path": "/members/1"}]}],
        ),
        (
            "gcp:folder/iAMPolicy:IAMPolicy",
            {"policyData": '{"bindings": [{"role": "roles/owner", "members": ["serviceAccount:a@b"]}]}'},
            [
                {
                    "path": "/policyData",
                    "role": "roles/owner",
                    "conditional": False,
                    "members": [{"path": "/policyData", "account": "a@b"}],
                }
            ],
        ),
    ],
)
def test_every_form_of_a_grant_is_read(type_: str, inputs: Json, expected: list[Json]) -> None:
    assert list(permissions(type_, inputs)) == expected


def test_a_policy_may_be_an_object() -> None:
    policy = {"Statement": [{"Effect": "Allow", "Action": "*", "Resource": "*"}]}
    (found,) = permissions(ROLE_POLICY, {"policy": policy})
    assert found["statements"][0]["actions"] == ["*"]


def test_who_may_take_a_role_is_told() -> None:
    def trusted(*services: Any) -> list[str]:
        allowed = [{"Effect": "Allow", "Principal": {"Service": one}, "Action": "sts:AssumeRole"} for one in services]
        return trusts({"assumeRolePolicy": json.dumps({"Statement": allowed})})

    assert trusted("ec2.amazonaws.com") == ["ec2.amazonaws.com"]
    assert trusted(["ec2.amazonaws.com", "eks.amazonaws.com"], 7) == ["ec2.amazonaws.com", "eks.amazonaws.com"]
    assert trusts({}) == trusts({"assumeRolePolicy": "{"}) == trusts({"assumeRolePolicy": '{"Statement": 7}'}) == []


@pytest.mark.parametrize("odd", [None, 7, "x", "[", "[]", [], {}, [None], [7], {"a": None}, True, '{"Statement": [7]}'])
def test_grants_of_any_shape_are_read(odd: Any) -> None:
    types = (
        "aws:iam/role:Role",
        ROLE_POLICY,
        "aws:iam/policyAttachment:PolicyAttachment",
        "gcp:projects/iAMBinding:IAMBinding",
        "gcp:projects/iAMPolicy:IAMPolicy",
    )
    for type_ in types:
        for field in (
            "policy",
            "inlinePolicies",
            "managedPolicyArns",
            "policyArn",
            "roles",
            "members",
            "policyData",
            "role",
        ):
            list(permissions(type_, {field: odd}))
    trusts({"assumeRolePolicy": odd})
