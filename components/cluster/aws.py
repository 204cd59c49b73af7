"""An EKS cluster: private nodes, encrypted secrets, every log, an API that is private unless addresses are given."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from ipaddress import IPv4Network
from typing import Annotated, Any, Literal, Self

import pulumi
import pulumi_aws as aws
import pulumi_kubernetes
from pydantic import Field, model_validator

from gpuyard.components.aws import AccountId, Region, RoleArn, region_of
from gpuyard.components.cluster.aws_addons import BEFORE_NODES, AddonName, AddonVersion, Home, declare_addons
from gpuyard.components.cluster.aws_iam import CLUSTER_POLICIES, NODE_POLICIES, Role, declare_role, service_trust
from gpuyard.components.cluster.aws_network import NetworkSpec, attach, parse_cidr
from gpuyard.components.node_groups.aws_upgrade import Al2023Release
from gpuyard.components.spec import Cidr, Spec

Version = Literal["1.34", "1.35", "1.36"]
"""Kubernetes versions of EKS in standard support on 2026-11-30; an older one costs more an hour. Sources: dates of
endoflife.date/amazon-eks (1.34 until 2026-12-02, 1.35 until 2027-03-27); for 1.36, amazon-eks-ami v20260714."""

LOGS = ("api", "audit", "authenticator", "controllerManager", "scheduler")
"""All that EKS can log. Source: the EKS API, LogType."""

ADMIN_POLICY = "arn:aws:eks::aws:cluster-access-policy/AmazonEKSClusterAdminPolicy"

KEY_DELETION_DAYS = 30
"""Days in which the deletion of the secrets' key can be taken back: the longest that KMS grants."""

WIDEST_ALLOWED = 8
"""A block of the API's callers that is wider than a /8 excludes nobody to speak of."""

RESERVED = tuple(IPv4Network(block) for block in ("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "100.64.0.0/10"))
"""Addresses that never arrive from the internet (RFC 1918, RFC 6598); EKS refuses them in its list of callers."""

GroupName = Annotated[str, Field(pattern=r"^[A-Za-z0-9][-A-Za-z0-9_.@/]{0,99}$")]
"""A group that Kubernetes knows people by. No colon: those with one are kept for Kubernetes and AWS."""


class ApiSpec(Spec):
    """Who reaches the Kubernetes API over the internet, beside those in the VPC."""

    allow: Annotated[list[Cidr], Field(min_length=1, max_length=40)]
    """Public addresses of offices, VPNs and runners, such as 203.0.113.0/24; at most 40 blocks (EKS quota)."""

    @model_validator(mode="after")
    def _narrow(self) -> Self:
        for block in self.allow:
            network = parse_cidr(block)
            if network.prefixlen < WIDEST_ALLOWED:
                raise ValueError(
                    f"allow {block} opens the API to the internet: give the addresses of your callers, "
                    "or leave api out, and the API is private"
                )
            if any(network.overlaps(reserved) for reserved in RESERVED):
                raise ValueError(
                    f"allow {block} holds private addresses, which never arrive here: give the public addresses "
                    "that your callers leave from; callers inside the VPC need no entry"
                )
        return self


NAME = re.compile(r"^[0-9A-Za-z][-_0-9A-Za-z]{0,29}$")
"""What EKS takes as the name of a cluster. A role's name has at most 64 characters, of which 8 are Pulumi's random
suffix, and 26 the end of the longest one here: -addons-aws-ebs-csi-driver."""


def check_name(name: str) -> str:
    """The name of a cluster, when AWS takes it for all that bears it.

    Raises ValueError otherwise.
    """
    if not NAME.match(name):
        raise ValueError(
            f"{name!r} cannot name a cluster on AWS: "
            "give at most 30 letters, digits, dashes and underscores, a letter or digit first"
        )
    return name


class ClusterSpec(Spec):
    """An EKS cluster, its network and who may enter it."""

    cloud: Literal["aws"]
    """Amazon EKS."""
    account: AccountId
    """The account that the cluster is made in; nothing is made when the credentials are of another."""
    region: Region
    """Region of everything here."""
    kubernetes: Version
    """Minor version of Kubernetes, in quotes."""
    node_release: Al2023Release | None = None
    """Release of EKS's image of AL2023, with kubelet and NVIDIA's driver, of every node group that does not say its
    own: "1.35.0-20260714". Left out, a managed node group gets the latest when it is made or changes its version."""
    network: NetworkSpec
    """A VPC of its own, {cidr, zones}, or private subnets that exist, {subnets: {zone: id}}."""
    api: ApiSpec | None = None
    """Who reaches the API from the internet; left out, only the VPC does, and whoever deploys must be inside."""
    admins: Annotated[list[RoleArn], Field(min_length=1)]
    """Roles that administer the cluster. The role that deploys must be one of them: making a cluster gives no rights
    in it."""
    groups: dict[RoleArn, Annotated[list[GroupName], Field(min_length=1)]] = Field(default_factory=dict)
    """Roles of people and pipelines, and the Kubernetes groups that each belongs to, such as a tenant's."""
    addons: dict[AddonName, AddonVersion] = Field(default_factory=dict)
    """Versions of EKS add-ons, such as kube-proxy. EKS takes its default when it makes one that is left out, and never
    moves it by itself: name the versions for the new `kubernetes` when you raise that."""

    @model_validator(mode="after")
    def _in_one_region(self) -> Self:
        for zone in self.network.zones:
            if region_of(zone) != self.region:
                raise ValueError(
                    f"zone {zone} is not in region {self.region}: give zones of {self.region}, such as {self.region}a"
                )
        return self


class Cluster(pulumi.ComponentResource):
    """An EKS cluster that nodes can join. Its node groups depend on `ready`."""

    cluster_name: pulumi.Output[str]
    """How EKS calls the cluster; node groups and add-ons name it."""
    node_role: Role
    """The role that nodes take."""
    subnets: Mapping[str, Any]
    """Zone to private subnet, for node groups; the ids may be Outputs."""
    security_group: pulumi.Output[str]
    """The group that EKS makes for the cluster, and puts its nodes in: all that is in it reaches all else in it."""
    ready: Sequence[pulumi.Resource]
    """What nodes need to become ready, and to leave in order."""
    kubernetes: pulumi.ProviderResource
    """Declares objects in the cluster."""

    def __init__(
        self,
        name: str,
        spec: ClusterSpec,
        *,
        tags: Mapping[str, str],
        protect: bool = True,
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        """While `protect` is on, EKS and Pulumi refuse to delete the cluster."""
        super().__init__("gpuyard:index:EksCluster", check_name(name), spec.model_dump(mode="json"), opts)
        child = pulumi.ResourceOptions(parent=self)
        network = attach(f"{name}-network", spec.network, region=spec.region, tags=tags, opts=child)
        node = declare_role(
            f"{name}-node", service_trust("ec2.amazonaws.com"), managed=NODE_POLICIES, tags=tags, opts=child
        )
        kept = pulumi.ResourceOptions.merge(child, pulumi.ResourceOptions(protect=protect))
        control_plane = _control_plane(name, spec, network.subnets, tags, child, kept)
        _identities(name, control_plane, tags, child)
        home = Home(spec.account, spec.region, control_plane.name, spec.addons)
        addons = declare_addons(name, BEFORE_NODES, home=home, tags=tags, opts=child)
        access = _declare_access(name, spec, control_plane.name, tags, child)
        self.cluster_name, self.node_role, self.subnets = control_plane.name, node, network.subnets
        self.security_group = control_plane.vpc_config.apply(lambda network: network.cluster_security_group_id)
        self.ready = [*network.ready, *node.permissions, *addons]
        self.kubernetes = _provider(name, spec, control_plane, access, kept)
        self.register_outputs({"cluster_name": control_plane.name, "endpoint": control_plane.endpoint})


def provider_inputs(spec: ClusterSpec) -> dict[str, Any]:
    """The AWS provider of the cluster: credentials of another account are refused before anything is made."""
    return {"region": spec.region, "allowed_account_ids": [spec.account]}


def key_inputs() -> dict[str, Any]:
    """The key of the cluster's secrets, with a new version a year."""
    return {
        "description": "Encrypts the secrets of an EKS cluster",
        "enable_key_rotation": True,
        "deletion_window_in_days": KEY_DELETION_DAYS,
    }


def cluster_inputs(spec: ClusterSpec, subnets: Mapping[str, Any], key_arn: Any, *, protect: bool) -> dict[str, Any]:
    """The control plane. Its subnets are in the first two zones only: EKS refuses a change of that set of zones, while
    node groups in any zone of the VPC reach it."""
    public: dict[str, Any] = {"endpoint_public_access": False}
    if spec.api:
        public = {"endpoint_public_access": True, "public_access_cidrs": spec.api.allow}
    return {
        "version": spec.kubernetes,
        "deletion_protection": protect,
        "access_config": {"authentication_mode": "API", "bootstrap_cluster_creator_admin_permissions": False},
        # The add-ons are declared, so that they have versions, and network policies are enforced.
        "bootstrap_self_managed_addons": False,
        "enabled_cluster_log_types": list(LOGS),
        "encryption_config": {"provider": {"key_arn": key_arn}, "resources": ["secrets"]},
        "vpc_config": {
            "subnet_ids": [subnets[zone] for zone in spec.network.zones[:2]],
            "endpoint_private_access": True,
            **public,
        },
    }


def access_entries(spec: ClusterSpec) -> dict[str, dict[str, Any]]:
    """Role to its entry, for every role that may enter."""
    entries: dict[str, dict[str, Any]] = {}
    for role in [*spec.admins, *spec.groups]:
        entries[role] = {"principal_arn": role, "type": "STANDARD"}
        if role in spec.groups:
            entries[role]["kubernetes_groups"] = spec.groups[role]
    return entries


def admin_inputs(role: str) -> dict[str, Any]:
    """What makes a role that may enter an administrator."""
    return {"principal_arn": role, "policy_arn": ADMIN_POLICY, "access_scope": {"type": "cluster"}}


def kubeconfig(endpoint: str, certificate: str, cluster_name: str, region: str) -> str:
    """How the cluster is reached. Each user's own AWS identity gives the token, so none is stored, and none expires."""
    arguments = ["eks", "get-token", "--cluster-name", cluster_name, "--region", region, "--output", "json"]
    token = {
        "apiVersion": "client.authentication.k8s.io/v1beta1",
        "command": "aws",
        "args": arguments,
        "interactiveMode": "Never",
    }
    return json.dumps(
        {
            "apiVersion": "v1",
            "kind": "Config",
            "clusters": [{"name": "eks", "cluster": {"server": endpoint, "certificate-authority-data": certificate}}],
            "users": [{"name": "aws", "user": {"exec": token}}],
            "contexts": [{"name": "eks", "context": {"cluster": "eks", "user": "aws"}}],
            "current-context": "eks",
        }
    )


def _control_plane(
    name: str,
    spec: ClusterSpec,
    subnets: Mapping[str, Any],
    tags: Mapping[str, str],
    child: pulumi.ResourceOptions,
    kept: pulumi.ResourceOptions,
) -> Any:
    trust = service_trust("eks.amazonaws.com")
    role = declare_role(f"{name}-cluster", trust, managed=CLUSTER_POLICIES, tags=tags, opts=child)
    # Without its key no Secret of the cluster can be read again: it is as hard to delete as the cluster.
    key = aws.kms.Key(f"{name}-secrets", **key_inputs(), tags=dict(tags), opts=kept)
    # EKS needs its permissions until the last of its network interfaces is gone; the role's ARN does not wait for them.
    opts = pulumi.ResourceOptions.merge(kept, pulumi.ResourceOptions(depends_on=role.permissions))
    inputs = cluster_inputs(spec, subnets, key.arn, protect=bool(kept.protect))
    return aws.eks.Cluster(name, **inputs, role_arn=role.arn, tags=dict(tags), opts=opts)


def _identities(name: str, control_plane: Any, tags: Mapping[str, str], child: pulumi.ResourceOptions) -> None:
    # Roles of endpoints trust this issuer. Pod Identity does not do for them: servers with an older AWS SDK do not know
    # it, and each association would need AWS credentials of whoever deploys an endpoint.
    issuer = control_plane.identities.apply(lambda identities: identities[0].oidcs[0].issuer)
    aws.iam.OpenIdConnectProvider(name, url=issuer, client_id_lists=["sts.amazonaws.com"], tags=dict(tags), opts=child)


def _declare_access(
    name: str, spec: ClusterSpec, cluster_name: Any, tags: Mapping[str, str], child: pulumi.ResourceOptions
) -> list[pulumi.Resource]:
    declared: list[pulumi.Resource] = []
    for role, inputs in access_entries(spec).items():
        own = f"{name}-{role.split(':')[4]}-{role.partition(':role/')[2]}"
        entry = aws.eks.AccessEntry(own, cluster_name=cluster_name, **inputs, tags=dict(tags), opts=child)
        declared.append(entry)
        if role in spec.admins:
            # The role is named by its text, so that reviews can read it; EKS wants its entry first.
            opts = pulumi.ResourceOptions.merge(child, pulumi.ResourceOptions(depends_on=[entry]))
            declared.append(
                aws.eks.AccessPolicyAssociation(own, cluster_name=cluster_name, **admin_inputs(role), opts=opts)
            )
    return declared


def _provider(
    name: str, spec: ClusterSpec, cluster: Any, access: list[pulumi.Resource], kept: pulumi.ResourceOptions
) -> pulumi.ProviderResource:
    config = pulumi.Output.all(cluster.endpoint, cluster.certificate_authority.data, cluster.name).apply(
        lambda known: kubeconfig(known[0], known[1], known[2], spec.region)
    )
    # The provider acts as one of the admins, whose entries it does not name.
    opts = pulumi.ResourceOptions.merge(kept, pulumi.ResourceOptions(depends_on=access))
    provider: pulumi.ProviderResource = pulumi_kubernetes.Provider(
        name,
        kubeconfig=config,
        # A plain text: were it taken from the cluster, every change of the cluster would preview the replacement of all
        # that is in it.
        cluster_identifier=f"eks:{spec.account}:{spec.region}:{name}",
        enable_server_side_apply=True,
        opts=opts,
    )
    return provider
