"""Who may do what on a GKE cluster: its nodes, and those who log in."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

import pulumi
import pulumi_gcp as gcp
from pydantic import Field

from gpuyard.components import kubernetes
from gpuyard.components.spec import Manifest

Member = Annotated[str, Field(pattern=r"^(user|group|serviceAccount):[^\s:@]+@[^\s:@]+$")]
"""Somebody as IAM writes it: user:EMAIL, group:EMAIL or serviceAccount:EMAIL."""

NODE_ROLE = "roles/container.defaultNodeServiceAccount"
"""The least that a node needs: logs, metrics. Source: GKE, configure node service accounts."""

PULL_ROLE = "roles/artifactregistry.reader"

VIEWER_ROLE = "roles/container.clusterViewer"
"""Lets one find a cluster and log in to it, and nothing inside it: the rest is Kubernetes' own RBAC."""

ADMINS = "gpuyard-admins"
"""Name of the administrators' ClusterRoleBinding."""


class NodeIdentity(pulumi.ComponentResource):
    """The service account of a cluster's nodes."""

    email: pulumi.Output[str]
    """Address of the account."""
    roles: Sequence[pulumi.Resource]
    """What it may do; nodes that start earlier lose their first logs or fail to pull."""

    def __init__(
        self, name: str, *, project: str, pull_from: list[str], opts: pulumi.ResourceOptions | None = None
    ) -> None:
        super().__init__("gpuyard:index:GkeNodeIdentity", name, {"project": project, "pull_from": pull_from}, opts)
        child = pulumi.ResourceOptions(parent=self)
        account = gcp.serviceaccount.Account(name, project=project, display_name=f"Nodes of {name}", opts=child)
        self.email = account.email
        self.roles = [
            gcp.projects.IAMMember(f"{name}-{suffix}", **grant, member=account.member, opts=child)
            for suffix, grant in node_grants(project, pull_from).items()
        ]
        self.register_outputs({"email": self.email})


class Access(pulumi.ComponentResource):
    """Who may log in to one cluster, and who may do everything in it. Neither is a right elsewhere in the project."""

    def __init__(
        self,
        name: str,
        *,
        admins: Sequence[str],
        groups: Sequence[str],
        project: str,
        provider: pulumi.ProviderResource,
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        super().__init__("gpuyard:index:GkeAccess", name, {"admins": admins, "groups": groups}, opts)
        for member in who_logs_in(admins, groups):
            gcp.projects.IAMMember(
                f"{name}-{member.replace(':', '-')}",
                project=project,
                role=VIEWER_ROLE,
                member=member,
                opts=pulumi.ResourceOptions(parent=self),
            )
        inside = pulumi.ResourceOptions(parent=self, provider=provider)
        kubernetes.declare_all(name, admin_bindings(admins), inside)
        self.register_outputs({})


def who_logs_in(admins: Sequence[str], groups: Sequence[str]) -> list[str]:
    """The administrators, and the Google groups by their e-mail addresses, each once and as IAM writes them."""
    return list(dict.fromkeys([*admins, *(f"group:{group}" for group in groups)]))


def node_grants(project: str, pull_from: list[str]) -> dict[str, dict[str, str]]:
    """The grants of the nodes' account by a short name: project and role of each."""
    pulls = {f"pull-{source}": {"project": source, "role": PULL_ROLE} for source in pull_from}
    return {"node": {"project": project, "role": NODE_ROLE}, **pulls}


def admin_bindings(admins: Sequence[str]) -> list[Manifest]:
    """Makes the members administrators of the cluster; nothing where there are none."""
    if not admins:
        return []
    return [
        {
            "apiVersion": "rbac.authorization.k8s.io/v1",
            "kind": "ClusterRoleBinding",
            "metadata": {"name": ADMINS, "labels": {"app.kubernetes.io/managed-by": "gpuyard"}},
            "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "cluster-admin"},
            "subjects": [_subject(member) for member in admins],
        }
    ]


def _subject(member: str) -> dict[str, Any]:
    """GKE calls people and service accounts by their e-mail address: both are users to Kubernetes."""
    kind, _, email = member.partition(":")
    return {
        "apiGroup": "rbac.authorization.k8s.io",
        "kind": "Group" if kind == "group" else "User",
        "name": email,
    }
