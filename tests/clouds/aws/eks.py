"""Clusters of EKS. What forces a new resource: terraform-provider-aws, internal/service/eks."""

from __future__ import annotations

import base64
import secrets
from typing import Any, ClassVar

from clouds.aws.iam import trusted_role
from clouds.aws.kinds import AwsKind, arn, marked, region
from clouds.aws.readiness import may
from clouds.aws.versions import NEWEST, refuse_step
from clouds.aws.vpc import INTERFACE, SUBNET, in_subnets
from clouds.cloud import Thing
from clouds.kind import AutoName, Inputs, Reference, Session
from clouds.paths import at
from clouds.refused import RefusedError

CLUSTER = "aws:eks/cluster:Cluster"
CREATED = "2026-11-30T00:00:00Z"

POLICY = "AmazonEKSClusterPolicy"
"""What EKS needs to run a cluster and to take it down."""


class EksKind(AwsKind):
    """A resource of EKS."""

    service = "EKS"
    invalid_code = "InvalidParameterException"


class Cluster(EksKind):
    token, what = CLUSTER, "EKS Cluster"
    create, update, delete = "CreateCluster", "UpdateClusterConfig", "DeleteCluster"
    autoname = AutoName("name", 100)
    defaults: ClassVar[dict[str, Any]] = {
        "bootstrapSelfManagedAddons": True,
        "accessConfig.bootstrapClusterCreatorAdminPermissions": True,
        "vpcConfig.endpointPublicAccess": True,
    }
    source = "eks/cluster.go@00555dc"
    replaces = marked(
        "region name roleArn bootstrapSelfManagedAddons accessConfig.bootstrapClusterCreatorAdminPermissions "
        "kubernetesNetworkConfig.ipFamily kubernetesNetworkConfig.serviceIpv4Cidr "
        "outpostConfig.controlPlaneInstanceType outpostConfig.controlPlanePlacement.groupName "
        "remoteNetworkConfig"
    )
    sets = marked(
        "enabledClusterLogTypes encryptionConfig.resources vpcConfig.subnetIds vpcConfig.securityGroupIds "
        "vpcConfig.publicAccessCidrs"
    )
    kept = marked("accessConfig kubernetesNetworkConfig upgradePolicy version vpcConfig.publicAccessCidrs")
    computed = (
        "arn",
        "accessConfig.authenticationMode",
        "certificateAuthority.data",
        "clusterId",
        "createdAt",
        "endpoint",
        "identities",
        "kubernetesNetworkConfig.ipFamily",
        "kubernetesNetworkConfig.serviceIpv4Cidr",
        "platformVersion",
        "status",
        "upgradePolicy.supportType",
        "version",
        "vpcConfig.clusterSecurityGroupId",
        "vpcConfig.publicAccessCidrs",
        "vpcConfig.vpcId",
    )
    references = (
        in_subnets("vpcConfig.subnetIds"),
        Reference(
            "encryptionConfig.provider.keyArn",
            "aws:kms/key:Key",
            "InvalidParameterException",
            "The key {} of the encryptionConfig does not exist",
            by="arn",
            holds=False,
        ),
    )
    taken = ("ResourceInUseException", "Cluster already exists with name: {}")
    in_use = ("ResourceInUseException", "Cluster has nodegroups attached")

    def identify(self, session: Session, inputs: Inputs) -> str:
        return str(inputs["name"])

    def refuse_create(self, session: Session, inputs: Inputs) -> None:
        trusted_role(session, inputs["roleArn"], "eks.amazonaws.com")
        if not may(session, inputs["roleArn"], POLICY):
            message = f"The provided role doesn't have the Amazon EKS Managed Policies associated with it: {POLICY}"
            raise RefusedError("InvalidParameterException", message)
        if len(_zones(session, inputs)) < 2:
            message = "Subnets specified must be in at least two different AZs"
            raise RefusedError("InvalidParameterException", message)
        refuse_step(None, inputs.get("version"))

    def refuse_update(self, session: Session, thing: Thing, inputs: Inputs) -> None:
        refuse_step(thing.outputs["version"], inputs.get("version"))
        old, new = _zones(session, thing.inputs), _zones(session, inputs)
        if old != new:
            message = (
                f"Provided subnets belong to the AZs {', '.join(sorted(new))}. But they should belong to the exact set "
                f"of AZs {', '.join(sorted(old))} in which subnets were provided during cluster creation."
            )
            raise RefusedError("InvalidParameterException", message)

    def refuse_delete(self, session: Session, thing: Thing) -> None:
        real = session.find(CLUSTER, thing.id)
        if real and real.inputs.get("deletionProtection"):
            message = f"Cluster {thing.id} has deletion protection enabled: disable it before deleting the cluster"
            raise RefusedError("InvalidRequestException", message)

    def outputs(self, session: Session, name: str, inputs: Inputs, before: Inputs) -> dict[str, Any]:
        place = region(session, inputs)
        authority = base64.b64encode((session.cloud.setting("plane_ca") or "no certificate").encode()).decode()
        subnet = session.find(SUBNET, inputs["vpcConfig"]["subnetIds"][0])
        issuer = f"https://oidc.eks.{place}.amazonaws.com/id/{secrets.token_hex(16).upper()}"
        group = at(before, "vpcConfig.clusterSecurityGroupId") or f"sg-{secrets.token_hex(9)[:17]}"
        return {
            "arn": arn("eks", session, f"cluster/{name}", inputs=inputs),
            "accessConfig.authenticationMode": at(inputs, "accessConfig.authenticationMode") or "CONFIG_MAP",
            "certificateAuthority.data": authority,
            "clusterId": "",
            "createdAt": CREATED,
            "endpoint": session.cloud.setting("plane_url") or f"https://{name}.gr7.{place}.eks.amazonaws.com",
            "identities": at(before, "identities") or [{"oidcs": [{"issuer": issuer}]}],
            "kubernetesNetworkConfig.ipFamily": at(inputs, "kubernetesNetworkConfig.ipFamily") or "ipv4",
            "kubernetesNetworkConfig.serviceIpv4Cidr": at(inputs, "kubernetesNetworkConfig.serviceIpv4Cidr")
            or "172.20.0.0/16",
            "platformVersion": "eks.1",
            "status": "ACTIVE",
            "upgradePolicy.supportType": at(inputs, "upgradePolicy.supportType") or "EXTENDED",
            "version": inputs.get("version") or at(before, "version") or NEWEST,
            "vpcConfig.clusterSecurityGroupId": group,
            "vpcConfig.publicAccessCidrs": at(inputs, "vpcConfig.publicAccessCidrs") or _everywhere(inputs),
            "vpcConfig.vpcId": subnet.outputs["vpcId"] if subnet else "",
        }

    def deleted(self, session: Session, thing: Thing) -> None:
        for part in session.cloud.resources():
            if part.kind.startswith("aws:eks/") and part.inputs.get("clusterName") == thing.id:
                session.cloud.remove(part)
        if not may(session, thing.inputs["roleArn"], POLICY):
            # Without its permissions EKS leaves its network interfaces behind, and they hold the subnet and the VPC.
            place = thing.inputs["vpcConfig"]["subnetIds"][0]
            left = {"subnetId": place, "description": f"Amazon EKS {thing.id}"}
            session.cloud.put(Thing(INTERFACE, f"eni-{secrets.token_hex(9)[:17]}", left, left))


def _everywhere(inputs: Inputs) -> list[str]:
    return ["0.0.0.0/0"] if at(inputs, "vpcConfig.endpointPublicAccess") is not False else []


def _zones(session: Session, inputs: Inputs) -> set[str]:
    found = [session.find(SUBNET, name) for name in inputs["vpcConfig"]["subnetIds"]]
    return {subnet.outputs["availabilityZone"] for subnet in found if subnet}


def of_cluster(*, holds: bool = False) -> Reference:
    """The cluster that something is in."""
    message = "No cluster found for name: {}."
    return Reference("clusterName", CLUSTER, "ResourceNotFoundException", message, by="name", holds=holds, status=404)
