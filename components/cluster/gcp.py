"""A GKE cluster: private nodes, Dataplane V2, its own network and key unless others are named."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pulumi
import pulumi_gcp as gcp
import pulumi_kubernetes

from gpuyard.components.cluster.gcp_access import Access, NodeIdentity
from gpuyard.components.cluster.gcp_key import SecretsKey
from gpuyard.components.cluster.gcp_network import (
    PODS_A_NODE,
    Attachment,
    OwnNetwork,
    attach,
    control_plane_rule,
    most_nodes,
)
from gpuyard.components.cluster.gcp_spec import ClusterSpec, check_groups, check_name, workload_pool
from gpuyard.components.gcp import node_security, resource_labels

__all__ = ["Cluster", "ClusterSpec", "check_groups", "check_name", "most_nodes"]


class Cluster(pulumi.ComponentResource):
    """A GKE cluster without nodes, and the way into it. `groups` are the tenants' Google groups, by their addresses:
    they may log in, and inside do what their tenants' role bindings say."""

    kubernetes: pulumi_kubernetes.Provider
    """Provider for everything inside the cluster; logs in as whoever deploys, by gke-gcloud-auth-plugin."""
    cluster_id: pulumi.Output[str]
    """projects/PROJECT/locations/REGION/clusters/NAME, for node groups."""
    location: str
    """The region."""
    zones: Sequence[str]
    """Zones of the nodes."""
    service_account: pulumi.Output[str]
    """E-mail address of the nodes' account."""

    def __init__(
        self,
        name: str,
        spec: ClusterSpec,
        *,
        groups: Sequence[str],
        tags: Mapping[str, str],
        multi_networking: bool = False,
        protect: bool = True,
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        """`multi_networking` is for nodes that have interfaces in several networks. While `protect` is on, GKE's
        provider and Pulumi refuse to delete the cluster."""
        super().__init__("gpuyard:index:GkeCluster", check_name(name), spec.model_dump(mode="json"), opts)
        check_groups(spec, groups)
        child = pulumi.ResourceOptions(parent=self)
        nodes = NodeIdentity(name, project=spec.project, pull_from=spec.pull_from, opts=child)
        kept = pulumi.ResourceOptions.merge(child, pulumi.ResourceOptions(protect=protect))
        cluster = _control_plane(name, spec, nodes, tags, kept, multi_networking)
        self.kubernetes = pulumi_kubernetes.Provider(name, **provider_inputs(name, spec, cluster), opts=kept)
        Access(name, admins=spec.admins, groups=groups, project=spec.project, provider=self.kubernetes, opts=child)
        self.cluster_id, self.service_account = cluster.id, nodes.email
        self.location, self.zones = spec.region, spec.zones
        self.register_outputs({"name": cluster.name, "endpoint": cluster.endpoint})


def _control_plane(
    name: str,
    spec: ClusterSpec,
    nodes: NodeIdentity,
    tags: Mapping[str, str],
    kept: pulumi.ResourceOptions,
    multi_networking: bool,
) -> gcp.container.Cluster:
    child = pulumi.ResourceOptions(parent=kept.parent)
    protect = bool(kept.protect)
    where = attach(name, spec.network, project=spec.project, region=spec.region, opts=child)
    key = spec.secrets_key or _own_key(name, spec, tags, protect, child)
    inputs = cluster_inputs(spec, where, key=key, service_account=nodes.email, tags=tags, protect=protect)
    if multi_networking:
        inputs["enable_multi_networking"] = True
    if isinstance(spec.network, OwnNetwork):
        to = {"project": spec.project, "network": where.network, "target_service_accounts": [nodes.email]}
        gcp.compute.Firewall(f"{name}-control-plane", **control_plane_rule(spec.network), **to, opts=child)
    # Nodes log, pull and fetch from their first minute: their grants and their way out come first. The default pool
    # is gone once the cluster is there, so what GKE reports of its nodes is no change to make.
    after = pulumi.ResourceOptions(depends_on=[*nodes.roles, *where.ready], ignore_changes=["nodeConfig"])
    return gcp.container.Cluster(name, **inputs, opts=pulumi.ResourceOptions.merge(kept, after))


def _own_key(
    name: str, spec: ClusterSpec, tags: Mapping[str, str], protect: bool, child: pulumi.ResourceOptions
) -> pulumi.Output[str]:
    place = {"project": spec.project, "region": spec.region}
    return SecretsKey(name, **place, tags=tags, protect=protect, opts=child).key


def cluster_inputs(
    spec: ClusterSpec, where: Attachment, *, key: Any, service_account: Any, tags: Mapping[str, str], protect: bool
) -> dict[str, Any]:
    """Inputs of the cluster. `key` and `service_account` may be Outputs."""
    return {
        "project": spec.project,
        "location": spec.region,
        "node_locations": list(spec.zones),
        "min_master_version": spec.kubernetes,
        "release_channel": {"channel": spec.channel.upper()},
        "deletion_protection": protect,
        "resource_labels": resource_labels(tags),
        "cost_management_config": {"enabled": True},
        **_network(where),
        **_api(spec),
        **_identities(spec),
        **_nodes(service_account),
        **_observability(),
        "database_encryption": {"state": "ENCRYPTED", "key_name": key},
    }


def _network(where: Attachment) -> dict[str, Any]:
    return {
        "network": where.network,
        "subnetwork": where.subnetwork,
        "networking_mode": "VPC_NATIVE",
        "ip_allocation_policy": {
            "cluster_secondary_range_name": where.pods_range,
            "services_secondary_range_name": where.services_range,
        },
        "default_max_pods_per_node": PODS_A_NODE,
        # Dataplane V2 enforces network policies by itself; network_policy would install Calico beside it.
        "datapath_provider": "ADVANCED_DATAPATH",
        # Tenants' policies let them ask the kube-dns pods, so these answer. GKE's cache on each node, which it adds by
        # itself since 1.33.1, would need an exception of its own.
        "dns_config": {"cluster_dns": "KUBE_DNS"},
        "addons_config": {"dns_cache_config": {"enabled": False}},
    }


def _api(spec: ClusterSpec) -> dict[str, Any]:
    allowed = spec.api.allow if spec.api else []
    return {
        "private_cluster_config": {
            "enable_private_nodes": True,
            "enable_private_endpoint": not (spec.api and spec.api.public),
        },
        "master_authorized_networks_config": {
            "cidr_blocks": [{"cidr_block": cidr} for cidr in allowed],
            # Otherwise every virtual machine of every Google customer reaches a public API.
            "gcp_public_cidrs_access_enabled": False,
            "private_endpoint_enforcement_enabled": True,
        },
        # The DNS name of a control plane is public: with this it would answer from anywhere, by IAM alone.
        "control_plane_endpoints_config": {"dns_endpoint_config": {"allow_external_traffic": False}},
    }


def _identities(spec: ClusterSpec) -> dict[str, Any]:
    groups = (
        {"authenticator_groups_config": {"security_group": f"gke-security-groups@{spec.groups_domain}"}}
        if spec.groups_domain
        else {}
    )
    return {
        "workload_identity_config": {"workload_pool": workload_pool(spec)},
        "enable_legacy_abac": False,
        "master_auth": {"client_certificate_config": {"issue_client_certificate": False}},
        "anonymous_authentication_config": {"mode": "LIMITED"},
        # system:authenticated is everybody with a Google account: no role may be bound to it.
        "rbac_binding_config": {
            "enable_insecure_binding_system_authenticated": False,
            "enable_insecure_binding_system_unauthenticated": False,
        },
        **groups,
    }


def _nodes(service_account: Any) -> dict[str, Any]:
    return {
        # GKE makes a default pool before it can be removed; an organisation may forbid the account that it would use.
        "remove_default_node_pool": True,
        "initial_node_count": 1,
        "node_config": node_security(service_account),
        "enable_shielded_nodes": True,
        "node_pool_defaults": {
            "node_config_defaults": {
                "insecure_kubelet_readonly_port_enabled": "FALSE",
                # Image streaming serves Artifact Registry alone; the images here come from their own registries.
                "gcfs_config": {"enabled": False},
            }
        },
    }


def _observability() -> dict[str, Any]:
    """Logs go to Cloud Logging. Metrics are kube-prometheus-stack's: GKE's own collection and its DCGM exporter are
    off, so that each GPU has one exporter."""
    control_plane = ["APISERVER", "CONTROLLER_MANAGER", "SCHEDULER"]
    return {
        "logging_config": {"enable_components": ["SYSTEM_COMPONENTS", "WORKLOADS", *control_plane]},
        "monitoring_config": {
            "enable_components": ["SYSTEM_COMPONENTS"],
            "managed_prometheus": {"enabled": False},
        },
    }


def provider_inputs(name: str, spec: ClusterSpec, cluster: gcp.container.Cluster) -> dict[str, Any]:
    """Inputs of the Kubernetes provider."""
    server = pulumi.Output.concat("https://", cluster.endpoint)
    return {
        "kubeconfig": pulumi.Output.json_dumps(kubeconfig(server, cluster.master_auth.cluster_ca_certificate)),
        "cluster_identifier": cluster_identifier(name, spec),
        "enable_server_side_apply": True,
    }


def cluster_identifier(name: str, spec: ClusterSpec) -> str:
    """Tells the Kubernetes provider when everything inside is gone: with another place or network GKE replaces the
    cluster. A plain text: were it taken from the cluster, every change of it would preview that replacement."""
    return "/".join(["gke", spec.project, spec.region, name, *spec.network.model_dump().values()])


def kubeconfig(server: Any, certificate: Any) -> dict[str, Any]:
    """A kubeconfig that holds no credential: the plugin asks for one at each use. Both values may be Outputs."""
    login = {
        "apiVersion": "client.authentication.k8s.io/v1beta1",
        "command": "gke-gcloud-auth-plugin",
        "installHint": "Install gke-gcloud-auth-plugin: gcloud components install gke-gcloud-auth-plugin",
        "provideClusterInfo": True,
    }
    return {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": "gke", "cluster": {"server": server, "certificate-authority-data": certificate}}],
        "users": [{"name": "gke", "user": {"exec": login}}],
        "contexts": [{"name": "gke", "context": {"cluster": "gke", "user": "gke"}}],
        "current-context": "gke",
    }
