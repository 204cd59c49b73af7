"""Roles of IAM. What forces a new resource: terraform-provider-aws, internal/service/iam, ForceNew."""

from __future__ import annotations

import secrets
from typing import Any, ClassVar

from clouds.aws.kinds import AwsKind, arn, marked
from clouds.cloud import Thing
from clouds.kind import AutoName, Inputs, Reference, Session
from clouds.refused import RefusedError

ROLE = "aws:iam/role:Role"
INSTANCE_PROFILE = "aws:iam/instanceProfile:InstanceProfile"
ATTACHMENT, ROLE_POLICY = "aws:iam/rolePolicyAttachment:RolePolicyAttachment", "aws:iam/rolePolicy:RolePolicy"

CREATED = "2026-11-30T00:00:00Z"
"""When everything here was made: no test is about it."""


def of_role(path: str, by: str = "name", *, holds: bool = True) -> Reference:
    """The role that something is of."""
    return Reference(
        path, ROLE, "NoSuchEntity", "The role with name {} cannot be found.", by=by, holds=holds, status=404
    )


class IamKind(AwsKind):
    """A resource of IAM."""

    service = "IAM"
    invalid_code = "ValidationError"


class Role(IamKind):
    token, what = ROLE, "IAM Role"
    create, update, delete = "CreateRole", "UpdateAssumeRolePolicy", "DeleteRole"
    autoname = AutoName("name", 64)
    defaults: ClassVar[dict[str, Any]] = {"maxSessionDuration": 3600, "path": "/"}
    source = "iam/role.go@0040ea6"
    replaces = marked("name namePrefix path")
    kept = marked("inlinePolicies managedPolicyArns")
    computed = ("arn", "createDate", "uniqueId", "managedPolicyArns", "inlinePolicies", "namePrefix")
    taken = ("EntityAlreadyExists", "Role with name {} already exists.")
    in_use = ("DeleteConflict", "Cannot delete entity, must detach all policies first.")

    def identify(self, session: Session, inputs: Inputs) -> str:
        return str(inputs["name"])

    def outputs(self, session: Session, name: str, inputs: Inputs, before: Inputs) -> dict[str, Any]:
        attached = [t.inputs["policyArn"] for t in session.having(ATTACHMENT, "role", name)]
        return {
            "arn": arn("iam", session, f"role{inputs.get('path', '/')}{name}"),
            "createDate": CREATED,
            "uniqueId": before.get("uniqueId") or f"AROA{secrets.token_hex(9)[:17].upper()}",
            "managedPolicyArns": inputs.get("managedPolicyArns", attached),
            "inlinePolicies": inputs.get("inlinePolicies", []),
            "namePrefix": inputs.get("namePrefix", ""),
        }


class RolePolicy(IamKind):
    token, what = ROLE_POLICY, "IAM Role Policy"
    create, update, delete = "PutRolePolicy", "PutRolePolicy", "DeleteRolePolicy"
    autoname = AutoName("name", 128)
    source = "iam/role_policy.go@02f97af"
    replaces = marked("name namePrefix role")
    computed = ("namePrefix",)
    references = (of_role("role"),)

    def identify(self, session: Session, inputs: Inputs) -> str:
        return f"{inputs['role']}:{inputs['name']}"

    def outputs(self, session: Session, name: str, inputs: Inputs, before: Inputs) -> dict[str, Any]:
        return {"namePrefix": inputs.get("namePrefix", "")}


class RolePolicyAttachment(IamKind):
    token, what = ATTACHMENT, "IAM Policy"
    create, delete = "AttachRolePolicy", "DetachRolePolicy"
    source = "iam/role_policy_attachment.go@04c7984"
    replaces = marked("role policyArn")
    references = (of_role("role"),)

    def identify(self, session: Session, inputs: Inputs) -> str:
        return f"{inputs['role']}/{inputs['policyArn']}"

    def shown_name(self, inputs: Inputs) -> str:
        return f"{inputs.get('policyArn')}) to IAM Role ({inputs.get('role')}"


class InstanceProfile(IamKind):
    token, what = INSTANCE_PROFILE, "IAM Instance Profile"
    create, update, delete = "CreateInstanceProfile", "AddRoleToInstanceProfile", "DeleteInstanceProfile"
    autoname = AutoName("name", 128)
    defaults: ClassVar[dict[str, Any]] = {"path": "/"}
    source = "iam/instance_profile.go@013f173"
    replaces = marked("name namePrefix path")
    computed = ("arn", "createDate", "namePrefix", "uniqueId")
    references = (of_role("role"),)
    taken = ("EntityAlreadyExists", "Instance Profile {} already exists.")

    def identify(self, session: Session, inputs: Inputs) -> str:
        return str(inputs["name"])

    def outputs(self, session: Session, name: str, inputs: Inputs, before: Inputs) -> dict[str, Any]:
        return {
            "arn": arn("iam", session, f"instance-profile{inputs.get('path', '/')}{name}"),
            "createDate": CREATED,
            "namePrefix": inputs.get("namePrefix", ""),
            "uniqueId": before.get("uniqueId") or f"AIPA{secrets.token_hex(9)[:17].upper()}",
        }


class OpenIdConnectProvider(IamKind):
    token, what = "aws:iam/openIdConnectProvider:OpenIdConnectProvider", "IAM OIDC Provider"
    create, update, delete = (
        "CreateOpenIDConnectProvider",
        "UpdateOpenIDConnectProviderThumbprint",
        "DeleteOpenIDConnectProvider",
    )
    source = "iam/openid_connect_provider.go@0160692"
    replaces = marked("url")
    sets = marked("clientIdLists")
    kept = marked("thumbprintLists")
    computed = ("arn", "thumbprintLists")
    taken = ("EntityAlreadyExists", "Provider with url {} already exists.")

    def identify(self, session: Session, inputs: Inputs) -> str:
        return arn("iam", session, f"oidc-provider/{inputs['url'].removeprefix('https://')}")

    def outputs(self, session: Session, name: str, inputs: Inputs, before: Inputs) -> dict[str, Any]:
        thumbprints = inputs.get("thumbprintLists") or before.get("thumbprintLists") or [secrets.token_hex(20)]
        return {"arn": name, "thumbprintLists": thumbprints}

    def shown_name(self, inputs: Inputs) -> str:
        return str(inputs.get("url"))


def trusted_role(session: Session, role_arn: str, service: str) -> Thing:
    """The role of an ARN, which a service may take. Raises RefusedError, as EKS does, when there is none or it may not."""
    role = session.find(ROLE, role_arn, "arn")
    if role is None:
        raise RefusedError("InvalidParameterException", f"The role with name {role_arn} cannot be found.")
    if service not in role.outputs["assumeRolePolicy"]:
        message = "Role could not be assumed because the trusted entity is not correct"
        raise RefusedError("InvalidParameterException", message)
    return role
