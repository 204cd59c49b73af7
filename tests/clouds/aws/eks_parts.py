"""What is in a cluster of EKS: add-ons, who may enter, identities of pods. What forces a new resource:
terraform-provider-aws, internal/service/eks."""

from __future__ import annotations

import secrets
from typing import Any, ClassVar

from clouds.aws.eks import CREATED, EksKind, of_cluster
from clouds.aws.iam import trusted_role
from clouds.aws.kinds import arn, marked
from clouds.aws.readiness import addon_problem
from clouds.cloud import Thing
from clouds.kind import Inputs, Session
from clouds.refused import RefusedError


class Addon(EksKind):
    token, what = "aws:eks/addon:Addon", "EKS Add-On"
    create, update, delete = "CreateAddon", "UpdateAddon", "DeleteAddon"
    source = "eks/addon.go@00a3530"
    replaces = marked("region addonName clusterName")
    sets = marked("podIdentityAssociations")
    kept = marked("addonVersion configurationValues")
    computed = ("arn", "addonVersion", "configurationValues", "createdAt", "modifiedAt")
    references = (of_cluster(),)
    taken = ("ResourceInUseException", "Addon {} already exists.")

    def identify(self, session: Session, inputs: Inputs) -> str:
        return f"{inputs['clusterName']}:{inputs['addonName']}"

    def refuse_create(self, session: Session, inputs: Inputs) -> None:
        for association in inputs.get("podIdentityAssociations") or []:
            trusted_role(session, association["roleArn"], "pods.eks.amazonaws.com")

    def refuse_update(self, session: Session, thing: Thing, inputs: Inputs) -> None:
        self.refuse_create(session, inputs)

    def not_ready(self, session: Session, thing: Thing) -> str | None:
        state = addon_problem(session, thing)
        if state is None:
            return None
        waited = f"timeout while waiting for state to become 'ACTIVE' (last state: '{state}', timeout: 20m0s)"
        return f"waiting for EKS Add-On ({thing.id}) create: {waited}"

    def outputs(self, session: Session, name: str, inputs: Inputs, before: Inputs) -> dict[str, Any]:
        cluster, addon = inputs["clusterName"], inputs["addonName"]
        return {
            "arn": before.get("arn")
            or arn("eks", session, f"addon/{cluster}/{addon}/{secrets.token_hex(16)}", inputs=inputs),
            "addonVersion": inputs.get("addonVersion") or before.get("addonVersion") or "v1.0.0-eksbuild.1",
            "configurationValues": inputs.get("configurationValues", ""),
            "createdAt": CREATED,
            "modifiedAt": CREATED,
        }

    def shown_name(self, inputs: Inputs) -> str:
        return f"{inputs.get('clusterName')}:{inputs.get('addonName')}"


class AccessEntry(EksKind):
    token, what = "aws:eks/accessEntry:AccessEntry", "EKS Access Entry"
    create, update, delete = "CreateAccessEntry", "UpdateAccessEntry", "DeleteAccessEntry"
    defaults: ClassVar[dict[str, Any]] = {"type": "STANDARD"}
    source = "eks/access_entry.go@01f4311"
    replaces = marked("region clusterName principalArn type")
    sets = marked("kubernetesGroups")
    kept = marked("kubernetesGroups userName")
    computed = ("accessEntryArn", "createdAt", "kubernetesGroups", "modifiedAt", "userName")
    references = (of_cluster(),)
    taken = ("ResourceInUseException", "The specified access entry resource is already in use on this cluster.")

    def identify(self, session: Session, inputs: Inputs) -> str:
        return f"{inputs['clusterName']}:{inputs['principalArn']}"

    def refuse_create(self, session: Session, inputs: Inputs) -> None:
        if session.find("aws:iam/role:Role", inputs["principalArn"], "arn") is None:
            message = "The specified principalArn is invalid: invalid principal."
            raise RefusedError("InvalidParameterException", message)

    def outputs(self, session: Session, name: str, inputs: Inputs, before: Inputs) -> dict[str, Any]:
        role = inputs["principalArn"].rpartition("/")[2]
        entry = f"access-entry/{inputs['clusterName']}/role/{session.account}/{role}/{secrets.token_hex(16)}"
        return {
            "accessEntryArn": before.get("accessEntryArn") or arn("eks", session, entry, inputs=inputs),
            "createdAt": CREATED,
            "kubernetesGroups": inputs.get("kubernetesGroups", []),
            "modifiedAt": CREATED,
            "userName": inputs.get("userName")
            or f"arn:aws:sts::{session.account}:assumed-role/{role}/{{{{SessionName}}}}",
        }

    def shown_name(self, inputs: Inputs) -> str:
        return f"{inputs.get('clusterName')}:{inputs.get('principalArn')}"


class AccessPolicyAssociation(EksKind):
    token = "aws:eks/accessPolicyAssociation:AccessPolicyAssociation"
    what = "EKS Access Policy Association"
    create, delete = "AssociateAccessPolicy", "DisassociateAccessPolicy"
    source = "eks/access_policy_association.go@01f4311"
    replaces = marked("region accessScope clusterName policyArn principalArn")
    computed = ("associatedAt", "modifiedAt")
    references = (of_cluster(),)

    def identify(self, session: Session, inputs: Inputs) -> str:
        return f"{inputs['clusterName']}#{inputs['principalArn']}#{inputs['policyArn']}"

    def refuse_create(self, session: Session, inputs: Inputs) -> None:
        entry = f"{inputs['clusterName']}:{inputs['principalArn']}"
        if session.find(AccessEntry.token, entry) is None:
            message = f"The specified principalArn could not be found. {inputs['principalArn']}"
            raise RefusedError("ResourceNotFoundException", message, status=404)

    def outputs(self, session: Session, name: str, inputs: Inputs, before: Inputs) -> dict[str, Any]:
        return {"associatedAt": CREATED, "modifiedAt": CREATED}

    def shown_name(self, inputs: Inputs) -> str:
        return f"{inputs.get('clusterName')}#{inputs.get('principalArn')}#{inputs.get('policyArn')}"


class PodIdentityAssociation(EksKind):
    token = "aws:eks/podIdentityAssociation:PodIdentityAssociation"
    what = "EKS Pod Identity Association"
    create, update, delete = (
        "CreatePodIdentityAssociation",
        "UpdatePodIdentityAssociation",
        "DeletePodIdentityAssociation",
    )
    source = "eks/pod_identity_association.go@00a3530"
    replaces = marked("region clusterName namespace serviceAccount")
    computed = ("associationArn", "associationId", "externalId")
    references = (of_cluster(),)

    def identify(self, session: Session, inputs: Inputs) -> str:
        return f"a-{secrets.token_hex(9)[:17]}"

    def found(self, session: Session, name: str) -> Thing | None:
        return super().found(session, name.rpartition(",")[2])

    def refuse_create(self, session: Session, inputs: Inputs) -> None:
        trusted_role(session, inputs["roleArn"], "pods.eks.amazonaws.com")
        who = ("clusterName", "namespace", "serviceAccount")
        for other in session.cloud.resources(self.token):
            if all(other.inputs[key] == inputs[key] for key in who):
                message = f"Association already exists: {other.id}"
                raise RefusedError("ResourceInUseException", message, status=409)

    def refuse_update(self, session: Session, thing: Thing, inputs: Inputs) -> None:
        trusted_role(session, inputs["roleArn"], "pods.eks.amazonaws.com")

    def outputs(self, session: Session, name: str, inputs: Inputs, before: Inputs) -> dict[str, Any]:
        path = f"podidentityassociation/{inputs['clusterName']}/{name}"
        return {
            "associationArn": arn("eks", session, path, inputs=inputs),
            "associationId": name,
            "externalId": before.get("externalId") or "",
        }

    def shown_name(self, inputs: Inputs) -> str:
        return f"{inputs.get('namespace')}/{inputs.get('serviceAccount')}"
