"""The least that each cloud needs around a cluster, as resources of a client."""

from __future__ import annotations

import json
from typing import Any

from clouds.aws.eks import CLUSTER
from clouds.aws.iam import ATTACHMENT, ROLE
from clouds.aws.nodes import TEMPLATE, NodeGroup
from clouds.aws.routing import Route, RouteTable, RouteTableAssociation
from clouds.aws.vpc import GATEWAY, SUBNET, VPC
from clouds.client import Client, State
from clouds.gcp.gke import CLUSTER as GKE
from clouds.gcp.network import NETWORK
from clouds.gcp.network import SUBNET as GCP_SUBNET
from clouds.gcp.nodes import POOL

GROUP = NodeGroup.token
ZONES = ("us-east-1a", "us-east-1b")


def role(client: Client, name: str, service: str, *policies: str) -> State:
    """A role that a service may take, with policies of AWS."""
    statement = {"Effect": "Allow", "Action": "sts:AssumeRole", "Principal": {"Service": service}}
    trust = json.dumps({"Version": "2012-10-17", "Statement": [statement]})
    made = client.create(ROLE, name, {"assumeRolePolicy": trust})
    for policy in policies:
        attach(client, made, policy)
    return made


def attach(client: Client, owner: State, policy: str) -> State:
    """A policy of a role."""
    inputs = {"role": owner.id, "policyArn": f"arn:aws:iam::aws:policy/{policy}"}
    return client.create(ATTACHMENT, f"{owner.name}-{policy}", inputs)


def way_out(client: Client, vpc: State, *places: State) -> list[State]:
    """An internet gateway, and the routes by which machines of subnets reach it."""
    gateway = client.create(GATEWAY, "out", {"vpcId": vpc.id})
    table = client.create(RouteTable.token, "out", {"vpcId": vpc.id})
    to = {"routeTableId": table.id, "destinationCidrBlock": "0.0.0.0/0", "gatewayId": gateway.id}
    route = client.create(Route.token, "out", to)
    link = RouteTableAssociation.token
    links = [client.create(link, p.name, {"routeTableId": table.id, "subnetId": p.id}) for p in places]
    return [*links, route, table, gateway]


def subnets(client: Client) -> list[State]:
    """A VPC with a subnet in each of two zones."""
    vpc = client.create(VPC, "net", {"cidrBlock": "10.40.0.0/16", "tags": {"Name": "net"}})
    return [vpc, *(subnet(client, vpc, zone, 32 * number) for number, zone in enumerate(ZONES))]


def subnet(client: Client, vpc: State, zone: str, third: int) -> State:
    """A subnet of a VPC."""
    inputs = {
        "vpcId": vpc.id,
        "availabilityZone": zone,
        "cidrBlock": f"10.40.{third}.0/19",
        "mapPublicIpOnLaunch": True,
    }
    return client.create(SUBNET, f"private-{zone}", inputs)


def cluster_inputs(control_plane: State, places: list[State], **changes: Any) -> dict[str, Any]:
    """A cluster in the first two of the places."""
    network = {"subnetIds": [place.id for place in places[:2]], "endpointPrivateAccess": True}
    return {"roleArn": control_plane.outputs["arn"], "version": "1.35", "vpcConfig": network, **changes}


def group_inputs(cluster: State, nodes: State, places: list[State], **changes: Any) -> dict[str, Any]:
    """A node group of a cluster."""
    return {
        "clusterName": cluster.id,
        "nodeRoleArn": nodes.outputs["arn"],
        "subnetIds": [place.id for place in places],
        "instanceTypes": ["m7i.2xlarge"],
        "version": "1.35",
        "scalingConfig": {"minSize": 1, "desiredSize": 2, "maxSize": 3},
        **changes,
    }


class Eks:
    """A cluster on EKS with a node group and its launch template."""

    def __init__(self, client: Client) -> None:
        self.vpc, *self.subnets = subnets(client)
        self.out = way_out(client, self.vpc, *self.subnets)
        self.control_plane = role(client, "control-plane", "eks.amazonaws.com")
        self.nodes = role(client, "nodes", "ec2.amazonaws.com")
        self.policies = [
            attach(client, self.control_plane, "AmazonEKSClusterPolicy"),
            attach(client, self.nodes, "AmazonEKSWorkerNodePolicy"),
            attach(client, self.nodes, "AmazonEKS_CNI_Policy"),
        ]
        self.cluster = client.create(CLUSTER, "prod", cluster_inputs(self.control_plane, self.subnets))
        self.template = client.create(TEMPLATE, "system", {"metadataOptions": {"httpTokens": "required"}})
        self.group = client.create(GROUP, "system", self.group_inputs())

    def cluster_inputs(self, **changes: Any) -> dict[str, Any]:
        """What the cluster was made of, changed."""
        return cluster_inputs(self.control_plane, self.subnets, **changes)

    def group_inputs(self, **changes: Any) -> dict[str, Any]:
        """What the node group was made of, changed."""
        template = {"id": self.template.id, "version": "1"}
        return group_inputs(self.cluster, self.nodes, self.subnets, **{"launchTemplate": template, **changes})


class Gke:
    """A cluster on GKE with a node pool."""

    RANGES = (
        {"rangeName": "pods", "ipCidrRange": "10.60.128.0/17"},
        {"rangeName": "services", "ipCidrRange": "10.60.16.0/20"},
    )

    def __init__(self, client: Client) -> None:
        self.network = client.create(NETWORK, "dev", {"autoCreateSubnetworks": False})
        place = {"network": self.network.id, "region": "us-central1", "ipCidrRange": "10.60.0.0/20"}
        self.subnet = client.create(GCP_SUBNET, "dev", {**place, "secondaryIpRanges": list(self.RANGES)})
        self.cluster = client.create(GKE, "dev", self.cluster_inputs())
        self.pool = client.create(POOL, "system", self.pool_inputs())

    def cluster_inputs(self, **changes: Any) -> dict[str, Any]:
        """What the cluster was made of, changed."""
        return {
            "location": "us-central1",
            "minMasterVersion": "1.34",
            "initialNodeCount": 1,
            "removeDefaultNodePool": True,
            "network": self.network.id,
            "subnetwork": self.subnet.id,
            "deletionProtection": False,
            "resourceLabels": {"owner": "ml"},
            **changes,
        }

    def pool_inputs(self, **changes: Any) -> dict[str, Any]:
        """What the node pool was made of, changed."""
        node = {"machineType": "e2-standard-8", "diskType": "pd-balanced", **changes.pop("nodeConfig", {})}
        autoscaling = {"totalMinNodeCount": 1, "totalMaxNodeCount": 3}
        return {
            "cluster": self.cluster.id,
            "location": "us-central1",
            "nodeLocations": ["us-central1-a"],
            "initialNodeCount": 1,
            "autoscaling": autoscaling,
            "nodeConfig": node,
            **changes,
        }
