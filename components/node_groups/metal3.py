"""Machines that Cluster API makes of bare hosts by Metal3: racked already, installed when a group wants them.

The hosts themselves (BareMetalHost, with the credentials of their management controllers), the Cluster and its control
plane are of whoever runs the hall: a stack never holds them.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Literal

import pulumi
from pydantic import Field

from gpuyard.components.kubernetes import declare
from gpuyard.components.node_groups import base
from gpuyard.components.spec import LabelKey, LabelValue, Manifest, Name, Spec, pattern

CLUSTER_API = "cluster.x-k8s.io"
VERSION = "v1beta2"
"""Of Cluster API's kinds, its kubeadm kinds and Metal3's. Source: their CRDs at Cluster API v1.14.0 and Metal3 v1.13.2,
which serve no other."""

HOST_LABEL = "metal3.io/uuid={{ ds.meta_data.uuid }}"
"""What Metal3 knows a host's node by. cloud-init fills it in from what the host is given. Source:
metal3-io/cluster-api-provider-metal3, docs/deployment_workflow.md."""

HOST_NAME = "{{ ds.meta_data.name }}"
"""The host's own name, which becomes the node's. Source: the same, docs/api.md; metal3-io/baremetal-operator."""

CHECKSUMS = {64: "sha256", 128: "sha512"}
"""Digits of a checksum, and what Metal3 calls it."""

LONGEST_NAME = 63
"""Characters of a MachineDeployment's name, which machines carry as a label."""

OLDEST_KUBELET = 3
"""Minor versions by which a kubelet may be older than the API server. Source: Kubernetes, version skew policy."""

KUBELET_LABELS = ("node.kubernetes.io", "kubelet.kubernetes.io")
"""Namespaces of Kubernetes in which a node may label itself. Source: Kubernetes, NodeRestriction admission."""


class HostImage(Spec):
    """A disk image with a system that cloud-init and kubeadm make a node of."""

    url: Annotated[str, pattern(r"^https?://[^\s@]+$", "an address that hosts download from: https://…/node.qcow2")]
    """Where hosts get it."""
    checksum: Annotated[
        str, pattern(r"^([0-9a-f]{64}|[0-9a-f]{128})$", "its SHA-256 or SHA-512, 64 or 128 digits of 0-9 and a-f")
    ]
    """SHA-256 or SHA-512 of the image, quoted: what is served at the address later is not installed unseen."""
    kubernetes: Annotated[str, pattern(r"^1\.[0-9]{2}\.[0-9]{1,2}$", 'the version of its kubelet, quoted: "1.35.2"')]
    """Version of the kubelet and of kubeadm in it, quoted: "1.35.2"."""


class Metal3Spec(Spec):
    """Bare hosts that Cluster API installs by Metal3, as many as the group counts. A change of the image, of labels or
    of taints installs them anew, one after the other; no host is needed beside those of the group."""

    kind: Literal["metal3"]
    """Who makes the machines."""
    management_context: Annotated[str, Field(min_length=1)] | None = None
    """Context of the management cluster in the same kubeconfig; the cluster manages itself when left out."""
    namespace: Name
    """Namespace in the management cluster that the Cluster and the hosts are in."""
    cluster: Name
    """Name of the Cluster there, whose nodes the machines become."""
    image: HostImage
    """What is installed."""
    hosts: Annotated[dict[LabelKey, LabelValue], Field(min_length=1)]
    """Labels of the BareMetalHosts to take, such as {machine: dgx-h100}. Hosts of another kind must not have them."""
    data_template: Name | None = None
    """Metal3DataTemplate in that namespace, where hosts get names or addresses from one; DHCP's when left out."""


class Machines(pulumi.ComponentResource):
    """The machines of one node group, and how they are installed."""

    deployment: pulumi.Resource
    """Makes and removes them."""

    def __init__(
        self,
        name: str,
        group: str,
        spec: Metal3Spec,
        *,
        count: int,
        labels: Mapping[str, str],
        taints: Sequence[base.Taint],
        protect: bool = False,
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        """`group` is the name that the cluster knows the group by. While `protect` is on, its machines are not
        deleted; the templates are, for each change makes new ones."""
        super().__init__("gpuyard:index:Metal3Machines", name, spec.model_dump(mode="json"), opts)
        child = pulumi.ResourceOptions(parent=self)
        host, node = host_template(group, spec), node_template(group, spec, labels, taints)
        templates: list[pulumi.Resource] = [
            declare(f"{name}-host", host, child),
            declare(f"{name}-node", node, child),
        ]
        # Cluster API looks its templates up by name.
        last = pulumi.ResourceOptions.merge(child, pulumi.ResourceOptions(depends_on=templates, protect=protect))
        self.deployment = declare(f"{name}-deployment", machine_deployment(group, spec, count, host, node), last)
        self.register_outputs({})


def machine_deployment(group: str, spec: Metal3Spec, count: int, host: Manifest, node: Manifest) -> Manifest:
    """So many machines, each made by the two templates. A host is given back before another is taken: hosts with
    accelerators are never spare."""
    name = deployment_name(group, spec)
    labels = {f"{CLUSTER_API}/cluster-name": spec.cluster, f"{CLUSTER_API}/deployment-name": name}
    return {
        "apiVersion": f"{CLUSTER_API}/{VERSION}",
        "kind": "MachineDeployment",
        "metadata": {"name": name, "namespace": spec.namespace, "labels": base.node_labels(group, {})},
        "spec": {
            "clusterName": spec.cluster,
            "replicas": count,
            "selector": {"matchLabels": dict(labels)},
            "rollout": {"strategy": {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 0, "maxUnavailable": 1}}},
            "template": {
                "metadata": {"labels": labels},
                "spec": {
                    "clusterName": spec.cluster,
                    "version": f"v{spec.image.kubernetes}",
                    "bootstrap": {"configRef": _reference(node)},
                    "infrastructureRef": _reference(host),
                },
            },
        },
    }


def host_template(group: str, spec: Metal3Spec) -> Manifest:
    """Which hosts to take, and what to install on them."""
    host: Manifest = {
        "hostSelector": {"matchLabels": dict(spec.hosts)},
        "image": {
            "url": spec.image.url,
            "checksum": spec.image.checksum,
            "checksumType": CHECKSUMS[len(spec.image.checksum)],
        },
    }
    if spec.data_template:
        host["dataTemplate"] = {"name": spec.data_template}
    return _template(f"infrastructure.{CLUSTER_API}", "Metal3MachineTemplate", group, spec, host)


def node_template(group: str, spec: Metal3Spec, labels: Mapping[str, str], taints: Sequence[base.Taint]) -> Manifest:
    """How an installed host joins the cluster, with the labels and taints that its kubelet registers it with."""
    said = ",".join([HOST_LABEL, *(f"{key}={value}" for key, value in sorted(labels.items()))])
    registration = {
        "name": HOST_NAME,
        "kubeletExtraArgs": [{"name": "node-labels", "value": said}],
        # In an order of their own: written in another one they would be another template, and install hosts anew.
        "taints": [taint.model_dump() for taint in sorted(taints, key=lambda taint: (taint.key, taint.effect))],
    }
    node = {"joinConfiguration": {"nodeRegistration": registration}}
    return _template(f"bootstrap.{CLUSTER_API}", "KubeadmConfigTemplate", group, spec, node)


def deployment_name(group: str, spec: Metal3Spec) -> str:
    """The MachineDeployment's name: other clusters may have their machines in the same namespace."""
    return f"{spec.cluster}-{group}"


def problems(groups: Mapping[str, tuple[str, Metal3Spec]], kubernetes: str) -> Iterator[str]:
    """What keeps machines from joining a cluster of that minor version, a sentence each. `groups` has, by their keys,
    the name that the cluster knows a group by, and its machines."""
    first: tuple[str, Metal3Spec] | None = None
    for key, (group, spec) in groups.items():
        where = f"node_groups.{key}.managed_by"
        first = first or (key, spec)
        if spec.management_context != first[1].management_context or _place(spec) != _place(first[1]):
            yield (
                f"{where}: its Cluster is {_place(spec)}, and that of {first[0]} is {_place(first[1])}: a stack is one "
                "cluster, so give all groups the same management_context, namespace and cluster"
            )
        name = deployment_name(group, spec)
        if len(name) > LONGEST_NAME:
            yield (
                f"{where}: its MachineDeployment would be {name}, {len(name)} characters, and {LONGEST_NAME} are "
                "possible: give the group a shorter name"
            )
        kubelet, server = (int(version.split(".")[1]) for version in (spec.image.kubernetes, kubernetes))
        if not server - OLDEST_KUBELET <= kubelet <= server:
            yield (
                f"{where}.image.kubernetes: {spec.image.kubernetes} does not go with a cluster of {kubernetes}: give "
                f"an image of 1.{server - OLDEST_KUBELET} to 1.{server}"
            )


def refused_label(label: str) -> bool:
    """Whether a node may not give itself a label."""
    return base.kubernetes_owns(label) and not base.within(label, KUBELET_LABELS)


def _place(spec: Metal3Spec) -> str:
    context = f" of context {spec.management_context}" if spec.management_context else ""
    return f"{spec.namespace}/{spec.cluster}{context}"


def _template(api_group: str, kind: str, group: str, spec: Metal3Spec, content: Manifest) -> Manifest:
    """A template named after its content: another content is another template, which is what makes Cluster API
    install the machines anew; it does not look into a template that has changed."""
    digest = hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()[:8]
    name = f"{deployment_name(group, spec)}-{digest}"
    return {
        "apiVersion": f"{api_group}/{VERSION}",
        "kind": kind,
        "metadata": {"name": name, "namespace": spec.namespace, "labels": base.node_labels(group, {})},
        "spec": {"template": {"spec": content}},
    }


def _reference(template: Manifest) -> dict[str, str]:
    api_group = template["apiVersion"].partition("/")[0]
    return {"apiGroup": api_group, "kind": template["kind"], "name": template["metadata"]["name"]}
