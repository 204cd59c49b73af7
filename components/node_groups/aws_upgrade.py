"""Which image and which Kubernetes the nodes of an EKS group run, and how they move to another."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Annotated, Any

from gpuyard.components.node_groups.upgrade import Upgrade
from gpuyard.components.spec import pattern

OLDEST_KUBELET = 3
"""Minor versions that a kubelet may be older than the API server; it is never newer. Source: Kubernetes, version skew
policy."""

AL2023_RELEASE = r"^1\.[0-9]{2}\.[0-9]{1,2}-20[0-9]{6}$"

AL2023_KNOWN = "20260714"
"""Day of a release of EKS's AL2023 images, standard, NVIDIA and Neuron, for Kubernetes 1.30 to 1.36: what Karpenter's
nodes have when nobody names one. Source: amazon-eks-ami, release v20260714."""

FORMS = {
    "al2023": (re.compile(AL2023_RELEASE), "1.35.0-20260714, the version of kubelet and the day"),
    "bottlerocket": (
        re.compile(r"^[1-9][0-9]*\.[0-9]+\.[0-9]+-(?!20[0-9]{6}$)[0-9a-f]{8}$"),
        "1.47.0-6154605b, the version of Bottlerocket and its commit",
    ),
}
"""How releases are called, by system. Sources: EKS user guide, "Amazon EKS optimized Amazon Linux AMI versions";
aws-controllers-k8s/community, issue 2644."""

Al2023Release = Annotated[str, pattern(AL2023_RELEASE, f"a release of EKS's image such as {FORMS['al2023'][1]}")]
"""A release of EKS's image of AL2023."""


def form_refusals(system: str, release: str | None) -> Iterator[str]:
    """Why a system has no release of that name."""
    form, example = FORMS[system]
    if release and not form.match(release):
        yield f"release {release} is none of {system}: give one such as {example}"


def version_refusals(
    system: str, version: str | None, release: str | None, cluster: str, default: str | None
) -> Iterator[str]:
    """Why nodes of a version and a release cannot be in a cluster, of which `cluster` is the minor version and
    `default` the release of its AL2023 nodes."""
    minor = int((version or cluster).partition(".")[2])
    newest = int(cluster.partition(".")[2])
    if minor > newest:
        yield (
            f"kubernetes {version} is newer than the cluster's {cluster}, and nodes never are: "
            f"raise cluster.kubernetes first, or give {cluster} at the most"
        )
    elif minor < newest - OLDEST_KUBELET:
        yield (
            f"kubernetes {version} is more than {OLDEST_KUBELET} minor versions older than the cluster's {cluster}: "
            f"move the group to 1.{newest - OLDEST_KUBELET} or later first"
        )
    chosen = release_of(system, release, default)
    if system == "al2023" and chosen and not chosen.startswith(f"1.{minor}."):
        whose = "release" if release else "cluster.node_release"
        yield (
            f"{whose} {chosen} is not of Kubernetes 1.{minor}, which the group runs: "
            f"give the group a release of 1.{minor}, or kubernetes {'.'.join(chosen.split('.')[:2])!r}"
        )


def release_of(system: str, release: str | None, default: str | None) -> str | None:
    """The release of a group's image: its own, or the cluster's, which is one of AL2023. None is the latest."""
    return release or (default if system == "al2023" else None)


def karpenter_alias(system: str, release: str) -> str:
    """A release as Karpenter calls it. Source: karpenter-provider-aws v1.14.1, pkg/providers/amifamily."""
    version, _, day = release.partition("-")
    return f"{system}@v{day if system == 'al2023' else version}"


def update_config(upgrade: Upgrade, *, reserved: bool) -> dict[str, Any]:
    """How EKS replaces nodes. A full reservation has no room for the new node beside the old one, so there the old one
    goes first."""
    most = upgrade.max_unavailable
    if isinstance(most, int):
        config: dict[str, Any] = {"max_unavailable": most}
    else:
        config = {"max_unavailable_percentage": int(most.rstrip("%"))}
    return config | ({"update_strategy": "MINIMAL"} if reserved else {})
