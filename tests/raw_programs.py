"""Programs that never heard of gpuyard, as they are recorded: well configured, so that no rule may object."""

from __future__ import annotations

import json
from typing import Any

from documents import Json, cost, document, kubernetes, pod_spec, resource, workload

COMMIT = "0123456789abcdef0123456789abcdef01234567"
TAGS = {"owner": "ml-platform", "cost-center": "4711"}
DNS = {"ports": [{"port": 53, "protocol": "UDP"}], "to": [{"namespaceSelector": {}}]}


def tenant(name: str = "fraud", *, stack: str = "dev", provider: Json | str = "") -> list[Json]:
    """A namespace with a default deny and a quota of accelerators, which refuses privileged pods."""
    labels = {"pod-security.kubernetes.io/enforce": "restricted", "pod-security.kubernetes.io/enforce-version": "v1.35"}
    space = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name, "labels": labels}}
    policy = {
        "apiVersion": "networking.k8s.io/v1",
        "kind": "NetworkPolicy",
        "metadata": {"name": "default-deny", "namespace": name},
        "spec": {"podSelector": {}, "policyTypes": ["Ingress", "Egress"], "egress": [DNS]},
    }
    quota = {
        "apiVersion": "v1",
        "kind": "ResourceQuota",
        "metadata": {"name": "accelerators", "namespace": name},
        "spec": {"hard": {"requests.nvidia.com/gpu": "4"}},
    }
    least = {"type": "Container", "defaultRequest": {"cpu": "100m", "memory": "256Mi"}, "default": {"memory": "1Gi"}}
    limits = {
        "apiVersion": "v1",
        "kind": "LimitRange",
        "metadata": {"name": "defaults", "namespace": name},
        "spec": {"limits": [least]},
    }
    return [
        kubernetes(manifest, stack=stack, provider=provider, name=f"{name}-{manifest['kind']}")
        for manifest in (space, policy, quota, limits)
    ]


def raw_aws() -> Json:
    """EKS with a managed node group and a launch template; ids are unknown, tags come from the provider."""
    tagged = {"region": "us-east-1", "defaultTags": json.dumps({"tags": TAGS})}
    provider = resource("pulumi:providers:aws", "aws", tagged)
    cluster = resource(
        "aws:eks/cluster:Cluster",
        "ml",
        {
            "roleArn": None,
            "vpcConfig": {"subnetIds": [None, None], "endpointPrivateAccess": True, "endpointPublicAccess": False},
            "version": "1.35",
        },
        unknown=["/roleArn", "/vpcConfig/subnetIds/0", "/vpcConfig/subnetIds/1"],
        provider=provider,
    )
    template = resource(
        "aws:ec2/launchTemplate:LaunchTemplate",
        "gpu",
        {
            "blockDeviceMappings": [{"deviceName": "/dev/xvda", "ebs": {"encrypted": "true", "volumeSize": 200}}],
            "metadataOptions": {"httpEndpoint": "enabled", "httpTokens": "required", "httpPutResponseHopLimit": 1.0},
            "userData": None,
        },
        unknown=["/userData"],
        provider=provider,
    )
    group = resource(
        "aws:eks/nodeGroup:NodeGroup",
        "gpu",
        {
            "clusterName": None,
            "nodeRoleArn": None,
            "subnetIds": [None],
            "instanceTypes": ["g6.12xlarge"],
            "scalingConfig": {"minSize": 0, "desiredSize": 1, "maxSize": 2},
            "launchTemplate": {"id": None, "version": None},
        },
        unknown=["/clusterName", "/nodeRoleArn", "/subnetIds/0", "/launchTemplate/id", "/launchTemplate/version"],
        depends_on=[cluster, template],
        provider=provider,
    )
    addon = resource(
        "aws:eks/addon:Addon",
        "cni",
        {
            "addonName": "vpc-cni",
            "clusterName": None,
            "configurationValues": json.dumps({"enableNetworkPolicy": "true"}),
        },
        unknown=["/clusterName"],
        depends_on=[cluster],
        provider=provider,
    )
    inside = resource("pulumi:providers:kubernetes", "k8s", {"kubeconfig": None}, unknown=["/kubeconfig"])
    model = kubernetes(
        workload(
            "Deployment",
            pod_spec(
                args=["--model", "Qwen/Qwen3-8B", "--revision", COMMIT, "--api-key", "$(VLLM_API_KEY)"],
                env=[
                    {"name": "VLLM_API_KEY", "valueFrom": {"secretKeyRef": {"name": "vllm", "key": "key"}}},
                    {"name": "OPENAI_API_KEY", "value": "EMPTY"},
                    {"name": "BUCKET", "value": None},
                ],
                resources={"limits": {"nvidia.com/gpu": 1}},
                securityContext={"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}},
            ),
        ),
        unknown=["/spec/template/spec/containers/0/env/2/value"],
        provider=inside,
    )
    line = {"urn": group["urn"], "name": "gpu", "machine": "g6.12xlarge", "market": "on_demand", "region": "us-east-1"}
    month = {"min": 0.0, "initial": 3000.0, "max": 6000.0}
    return document(
        [provider, cluster, template, group, addon, inside, model, *tenant(provider=inside)],
        cost=cost([line | {"month": month}]),
        capacity={"groups": [], "accelerators": {"l4": 8}, "total": 8, "tenants": {}},
    )


def raw_gcp() -> Json:
    """GKE with a node pool; labels are the cluster's."""
    cluster = resource(
        "gcp:container/cluster:Cluster",
        "ml",
        {
            "location": "us-central1",
            "datapathProvider": "ADVANCED_DATAPATH",
            "masterAuthorizedNetworksConfig": {
                "cidrBlocks": [{"cidrBlock": "203.0.113.0/24", "displayName": "office"}]
            },
            "privateClusterConfig": {"enablePrivateNodes": True, "enablePrivateEndpoint": False},
            "resourceLabels": TAGS,
            "removeDefaultNodePool": True,
            "initialNodeCount": 1,
        },
    )
    pool = resource(
        "gcp:container/nodePool:NodePool",
        "l4",
        {
            "cluster": None,
            "autoscaling": {"totalMinNodeCount": 0, "totalMaxNodeCount": 4},
            "nodeConfig": {
                "machineType": "g2-standard-8",
                "spot": True,
                "guestAccelerators": [{"type": "nvidia-l4"}],
                "serviceAccount": "nodes@example-ml.iam.gserviceaccount.com",
            },
        },
        unknown=["/cluster"],
        depends_on=[cluster],
    )
    operator = resource(
        "kubernetes:helm.sh/v3:Release",
        "gpu-operator",
        {
            "chart": "gpu-operator",
            "version": "v26.7.0",
            "namespace": "gpu-operator",
            "repositoryOpts": {"repo": "https://helm.ngc.nvidia.com/nvidia"},
            "values": {
                "driver": {"enabled": False, "repository": "nvcr.io/nvidia", "image": "driver", "version": "580.1"},
                "toolkit": {
                    "securityContext": {"privileged": True},
                    "env": [{"name": "ACCEPT_NVIDIA_VISIBLE_DEVICES_ENVVAR_WHEN_UNPRIVILEGED", "value": "false"}],
                },
                "devicePlugin": {"enabled": False},
            },
        },
    )
    return document([cluster, pool, operator, *tenant()])


def raw_kubernetes() -> Json:
    """Objects of every workload kind on a cluster that somebody else runs."""
    kinds = ("Deployment", "StatefulSet", "DaemonSet", "ReplicaSet", "Job", "CronJob", "Pod", "RayCluster")
    models = [kubernetes(workload(kind, pod_spec(), name=kind.lower())) for kind in kinds]
    exporter = pod_spec("quay.io/prometheus/node-exporter:v1.10.2", securityContext={"privileged": True})
    exporter |= {"hostNetwork": True, "hostPID": True, "volumes": [{"name": "root", "hostPath": {"path": "/"}}]}
    node_exporter = kubernetes(workload("DaemonSet", exporter, namespace="monitoring", name="node-exporter"))
    settings = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "settings", "namespace": "fraud"},
        "data": {"MAX_TOKENS": "4096", "TOKENIZERS_PARALLELISM": "false", "url": "https://hf.co/hf_models/bert"},
    }
    return document([*models, node_exporter, kubernetes(settings), *tenant()])


def named_aws() -> Json:
    """`raw_aws`, with names by which its parts are told apart."""
    given = raw_aws()
    for part in given["resources"]:
        if part["name"] == "gpu":
            part["name"] = "gpu-group" if part["type"].endswith("NodeGroup") else "gpu-template"
    return given


def named(given: Json, name: str) -> Json:
    """A resource of a program; not a provider."""
    return next(r for r in given["resources"] if r["name"] == name and not r["type"].startswith("pulumi:"))


def untagged(given: Json) -> None:
    """Takes the default tags from the provider."""
    del next(r for r in given["resources"] if r["type"] == "pulumi:providers:aws")["inputs"]["defaultTags"]


def unknown(given: Json, pointer: str) -> None:
    """Makes a value of a resource unknown, as the recorder does."""
    at: Any = given["inputs"]
    *before, last = [int(step) if step.isdigit() else step for step in pointer.split("/")[1:]]
    for step in before:
        at = at[step]
    at[last] = None
    given["unknown"].append(pointer)


PROGRAMS = {"aws": raw_aws, "gcp": raw_gcp, "kubernetes": raw_kubernetes}
