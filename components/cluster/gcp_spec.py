"""What a stack says about its GKE cluster."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Annotated, Literal, Self

from pydantic import Field, field_validator, model_validator

from gpuyard.components.cluster.existing import KubernetesVersion
from gpuyard.components.cluster.gcp_access import Member
from gpuyard.components.cluster.gcp_network import NetworkSpec, OwnNetwork, is_internal, parse_cidr
from gpuyard.components.gcp import ProjectId, Region, Zone, region_of
from gpuyard.components.spec import Cidr, Spec

NAME = re.compile(r"^[a-z]([-a-z0-9]{0,20}[a-z0-9])?$")
"""A service account's id has at most 30 characters, and 8 of them are Pulumi's random suffix."""

KEY = r"^projects/[^/]+/locations/[^/]+/keyRings/[^/]+/cryptoKeys/[^/]+$"

GROUP = re.compile(r"^[^\s:@]+@[^\s:@]+\.[a-z]{2,}$")
"""A Google group's e-mail address, by which Kubernetes knows it."""

WIDEST_ALLOWED = 8
"""A block of the API's callers that is wider than a /8 excludes nobody to speak of."""

DOMAIN = r"^[a-z0-9]([-a-z0-9.]*[a-z0-9])?\.[a-z]{2,}$"


class ApiSpec(Spec):
    """Who reaches the Kubernetes API by network. Being let in is another matter: see admins."""

    allow: Annotated[list[Cidr], Field(min_length=1, max_length=50)]
    """Networks of those who may, 50 at most (container API). While all of them are private the API has no public
    address: name the networks that reach the VPC by VPN or peering. One public network gives it a public address."""

    @field_validator("allow")
    @classmethod
    def _narrow(cls, allow: list[str]) -> list[str]:
        for cidr in allow:
            if parse_cidr(cidr).prefixlen < WIDEST_ALLOWED:
                raise ValueError(
                    f"{cidr} opens the API to the internet: give the addresses of your callers, "
                    "or leave api out, and the API is private"
                )
        return allow

    @property
    def public(self) -> bool:
        """Whether the API has a public address."""
        return not all(is_internal(parse_cidr(cidr)) for cidr in self.allow)


class ClusterSpec(Spec):
    """A regional GKE cluster of the Standard kind. The project's APIs compute, container, iam and, unless
    `secrets_key` is given, cloudkms are enabled already."""

    cloud: Literal["gcp"]
    """Google GKE."""
    project: ProjectId
    """Id of the project that owns the cluster."""
    region: Region
    """Region of the control plane, which runs in three of its zones whatever `zones` says."""
    zones: Annotated[list[Zone], Field(min_length=1)]
    """Zones of the nodes, in the region. A node group may narrow them."""
    kubernetes: KubernetesVersion
    """Minor version that the cluster starts with, quoted: "1.35". The channel must offer it; later the channel moves
    the cluster on, and a higher version here moves it sooner. It never goes back."""
    driver_version: Annotated[str, Field(pattern=r"^[1-9][0-9]{2}(\.[0-9]{1,3}){0,2}$")] | None = None
    """NVIDIA's driver that GKE installs on the nodes, by version or branch, quoted: "580". It follows from the node
    version and is in no table of ours: `nvidia-smi` on a node says it. Left out, nobody knows before the deployment
    whether an image's CUDA runs on it, and the review says so."""
    channel: Literal["rapid", "regular", "stable", "extended"] = "regular"
    """How soon GKE upgrades the cluster and its nodes. extended keeps a minor version for up to 24 months, and costs
    more once its standard support ends."""
    network: NetworkSpec
    """{cidr: …} for a network of its own, or the names of an existing one."""
    api: ApiSpec | None = None
    """Who reaches the Kubernetes API by network. Left out, only the cluster's own subnet does, and whoever deploys must
    be in it."""
    admins: list[Member] = Field(default_factory=list)
    """Those who may do everything in the cluster, as user:EMAIL, group:EMAIL or serviceAccount:EMAIL. Owners of the
    project may anyway."""
    groups_domain: Annotated[str, Field(pattern=DOMAIN)] | None = None
    """Domain whose Google groups the cluster knows; needed before a group can get a role. The domain must have a group
    called gke-security-groups, and each group that is used must be a member of it."""
    secrets_key: Annotated[str, Field(pattern=KEY)] | None = None
    """Cloud KMS key that encrypts Secrets, in the cluster's region; GKE's service agent may use it already. Left out,
    the cluster gets a key of its own, renewed every 90 days."""
    pull_from: list[ProjectId] = Field(default_factory=list)
    """Projects whose Artifact Registry the nodes may pull images from."""

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        for problem in (_zone_problem(self), _admin_problem(self), _key_problem(self), _subnet_problem(self)):
            if problem:
                raise ValueError(problem)
        return self


def check_name(name: str) -> str:
    """The name of a cluster, when Google Cloud takes it for all that bears it.

    Raises ValueError otherwise.
    """
    if not NAME.match(name):
        raise ValueError(
            f"{name!r} cannot name a cluster on Google Cloud: "
            "give at most 22 lower-case letters, digits and dashes, a letter first"
        )
    return name


def check_groups(spec: ClusterSpec, groups: Sequence[str]) -> None:
    """Sees whether the cluster can know these groups, which are the tenants'.

    Raises ValueError for one that is no Google group's address, and where the cluster knows no groups.
    """
    for group in groups:
        if not GROUP.match(group):
            raise ValueError(f"group {group} is not a Google group's address: give one such as research@example.com")
        if not spec.groups_domain:
            raise ValueError(
                f"group {group} is unknown to the cluster, which knows no groups: "
                f"give cluster.groups_domain, such as {group.partition('@')[2]}"
            )


def workload_pool(spec: ClusterSpec) -> str:
    """The pool of a cluster's Kubernetes service accounts: one a project."""
    return f"{spec.project}.svc.id.goog"


def _zone_problem(spec: ClusterSpec) -> str | None:
    abroad = [zone for zone in spec.zones if region_of(zone) != spec.region]
    if abroad:
        return f"zones {', '.join(abroad)} are not in region {spec.region}: give zones such as {spec.region}-a"
    if len(set(spec.zones)) < len(spec.zones):
        return f"zones {', '.join(spec.zones)} name one twice: name each once"
    return None


def _admin_problem(spec: ClusterSpec) -> str | None:
    twice = next((member for member in spec.admins if spec.admins.count(member) > 1), None)
    if twice:
        return f"admins has {twice} twice: give each once"
    groups = [member for member in spec.admins if member.startswith("group:")]
    if groups and not spec.groups_domain:
        return (
            f"admins has {groups[0]}, but the cluster knows no groups: "
            f"give groups_domain, such as {groups[0].partition('@')[2]}"
        )
    return None


def _key_problem(spec: ClusterSpec) -> str | None:
    if spec.secrets_key is None:
        return None
    place = spec.secrets_key.split("/")[3]
    if place == spec.region:
        return None
    return f"secrets_key is in {place}, and the cluster in {spec.region}: give a key of that region, or leave it out"


def _subnet_problem(spec: ClusterSpec) -> str | None:
    if isinstance(spec.network, OwnNetwork):
        return None
    region = spec.network.subnetwork.split("/")[3]
    if region == spec.region:
        return None
    return f"network.subnetwork is in {region}, and the cluster in {spec.region}: give a subnet of that region"
