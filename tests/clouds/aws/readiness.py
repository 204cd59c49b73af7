"""What nodes and add-ons of EKS need before they become ready, as far as it is declared.

What was there before (planted) is taken to be well set up: nobody declares its routes and permissions.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterator

from clouds.aws.iam import ATTACHMENT, ROLE
from clouds.aws.vpc import ROUTE, SUBNET
from clouds.cloud import Thing
from clouds.kind import Session
from clouds.paths import at

ADDON, GROUP = "aws:eks/addon:Addon", "aws:eks/nodeGroup:NodeGroup"
ASSOCIATION = "aws:ec2/routeTableAssociation:RouteTableAssociation"

NEED_NODES = ("coredns", "aws-ebs-csi-driver", "metrics-server")
"""Add-ons that are, or have, a Deployment: EKS calls them degraded until it runs."""

JOIN = "Instances failed to join the kubernetes cluster"
UNHEALTHY = "Unhealthy nodes in the kubernetes cluster"
"""Reasons that EKS gives. Source: EKS API, NodegroupIssueCode NodeCreationFailure."""


def nodes_problem(session: Session, group: Thing, cluster: Thing | None) -> str | None:
    """Why the nodes of a group do not become ready; None where they do."""
    if not at(group.inputs, "scalingConfig.desiredSize"):
        return None
    if any(not _has_way_out(session, name) for name in group.inputs["subnetIds"]):
        return JOIN
    if not may(session, group.inputs["nodeRoleArn"], "AmazonEKSWorkerNodePolicy"):
        return JOIN
    if cluster is None or session.cloud.is_planted(cluster):
        return None
    return None if _has_network(session, cluster, group) else UNHEALTHY


def addon_problem(session: Session, addon: Thing) -> str | None:
    """The state in which an add-on stays; None where it becomes active."""
    if addon.inputs["addonName"] not in NEED_NODES:
        return None
    groups = session.having(GROUP, "clusterName", addon.inputs["clusterName"])
    return None if any(_takes_any_pod(group) for group in groups) else "DEGRADED"


def instance() -> str:
    """The id of a machine."""
    return f"i-{secrets.token_hex(9)[:17]}"


def _takes_any_pod(group: Thing) -> bool:
    tainted = any(taint.get("effect") != "PREFER_NO_SCHEDULE" for taint in group.inputs.get("taints") or [])
    return not tainted and group.outputs["status"] == "ACTIVE" and bool(at(group.inputs, "scalingConfig.desiredSize"))


def _has_way_out(session: Session, name: str) -> bool:
    subnet = session.find(SUBNET, name)
    if subnet is None or session.cloud.is_planted(subnet):
        return subnet is not None
    for association in session.having(ASSOCIATION, "subnetId", name):
        for route in session.having(ROUTE, "routeTableId", association.inputs["routeTableId"]):
            public = route.inputs.get("gatewayId") and subnet.inputs.get("mapPublicIpOnLaunch")
            if route.inputs.get("destinationCidrBlock") == "0.0.0.0/0" and (public or route.inputs.get("natGatewayId")):
                return True
    return False


def may(session: Session, role_arn: str, policy: str) -> bool:
    """Whether a role has one of AWS's own policies."""
    role = session.find(ROLE, role_arn, "arn")
    if role is None or session.cloud.is_planted(role):
        return role is not None
    attached = session.having(ATTACHMENT, "role", role.id)
    return any(one.inputs["policyArn"].rpartition("/")[2] == policy for one in attached)


def _has_network(session: Session, cluster: Thing, group: Thing) -> bool:
    """Whether the VPC CNI runs, and may do what it does."""
    addons = {one.inputs["addonName"]: one for one in session.having(ADDON, "clusterName", cluster.id)}
    cni = addons.get("vpc-cni")
    if cni is None:
        own = cluster.inputs.get("bootstrapSelfManagedAddons") is not False
        return own and may(session, group.inputs["nodeRoleArn"], "AmazonEKS_CNI_Policy")
    return any(may(session, role, "AmazonEKS_CNI_Policy") for role in _roles(cni, group, addons))


def _roles(cni: Thing, group: Thing, addons: dict[str, Thing]) -> Iterator[str]:
    """Roles that the CNI acts as. With EKS Pod Identity it needs the agent, which answers for it."""
    associations = cni.inputs.get("podIdentityAssociations") or []
    if associations:
        yield from (one["roleArn"] for one in associations if "eks-pod-identity-agent" in addons)
    else:
        yield cni.inputs.get("serviceAccountRoleArn") or group.inputs["nodeRoleArn"]
