"""Programs that break every rule, in as many ways as a rule knows."""

from __future__ import annotations

import base64

from documents import Json, cost, document, kubernetes, resource, workload

HUGGING_FACE = "hf_" + "aB3dE6gH" * 4 + "x9"
GITHUB = "ghp_" + "aB3dE6gH" * 4 + "x9Yz"


def broken_clouds() -> Json:
    """Clusters and machines with the clouds' own defaults, and worse."""
    resources = [
        resource("aws:eks/cluster:Cluster", "open", {"vpcConfig": {"publicAccessCidrs": ["0.0.0.0/0", "::/0"]}}),
        resource("aws:eks/cluster:Cluster", "silent", {"vpcConfig": {"subnetIds": ["subnet-1"]}}),
        resource("aws:eks/nodeGroup:NodeGroup", "bare", {"instanceTypes": ["p5.48xlarge"], "tags": {"owner": ""}}),
        resource(
            "aws:ec2/launchTemplate:LaunchTemplate",
            "loose",
            {
                "instanceType": "p4d.24xlarge",
                "instanceRequirements": {"allowedInstanceTypes": ["p5.*"]},
                "metadataOptions": {"httpTokens": "optional", "httpPutResponseHopLimit": 2.0},
                "userData": base64.b64encode(f"export HF_TOKEN={HUGGING_FACE}".encode()).decode(),
            },
        ),
        resource("aws:ec2/launchConfiguration:LaunchConfiguration", "old", {"instanceType": "p3.2xlarge"}),
        resource(
            "aws:autoscaling/group:Group",
            "mixed",
            {"mixedInstancesPolicy": {"launchTemplate": {"overrides": [{"instanceType": "p4d.24xlarge"}]}}},
        ),
        resource("aws:ec2/instance:Instance", "pet", {"instanceType": "p4d.24xlarge", "userData": f"x={GITHUB}"}),
        resource("aws:eks/addon:Addon", "cni", {"addonName": "vpc-cni", "configurationValues": "{}"}),
        resource(
            "gcp:container/cluster:Cluster",
            "wide",
            {
                "masterAuthorizedNetworksConfig": {
                    "cidrBlocks": [{"cidrBlock": "0.0.0.0/1"}],
                    "gcpPublicCidrsAccessEnabled": True,
                },
                "nodeConfig": {"machineType": "a3-highgpu-8g"},
                "nodePools": [{"nodeConfig": {"machineType": "a3-megagpu-8g"}}],
            },
        ),
        resource("gcp:container/cluster:Cluster", "quiet", {"location": "us-central1"}),
        resource("gcp:container/nodePool:NodePool", "a3", {"nodeConfig": {"machineType": "a3-highgpu-8g"}}),
        resource("gpuyard:index:NodeInventory", "dgx", {"machine": "dgx-b200", "count": 8}),
        resource("aws:ec2/capacityReservation:CapacityReservation", "over", {"endDate": "2020-01-01T00:00:00Z"}),
        resource(
            "gcp:container/nodePool:NodePool",
            "l4",
            {"location": "us-central1-a", "nodeCount": 1, "nodeConfig": {"machineType": "g2-standard-4"}},
        ),
    ]
    bare, a3, dgx = (resource_["urn"] for resource_ in (resources[2], resources[10], resources[11]))
    lines = [
        {"urn": bare, "group": "bare", "market": "on_demand", "month": None, "unknown": "its region is not known"},
        {
            "urn": a3,
            "group": "a3",
            "date": "2025-06-01",
            "age_days": 547,
            "month": {"min": 0, "initial": 1.5, "max": 1900000.25},
            "unknown": None,
        },
    ]
    groups = [
        group(bare, "p9.48xlarge", None, {"min": 0, "max": 2}, None),
        group(a3, "a3-highgpu-8g", 8, {"min": 0, "max": 8}, 64) | {"accelerator": "h100-80"},
        group(dgx, "dgx-b200", 8, {"min": None, "max": None}, None),
    ]
    windows = [
        window(a3, "/nodeConfig/0", -20, -1),
        window(a3, "/nodeConfig/1", -5, 2),
        window(a3, "/nodeConfig/2", 3, 30),
        window(a3, "/nodeConfig/3", None, None),
    ]
    tenants = {"fraud": {"quota": 10.0, "worst": 20.5, "budget": 15.0}}
    return document(
        resources,
        cost=cost(lines, tenants=tenants),
        capacity={
            "groups": groups,
            "accelerators": {"h100-80": 64},
            "total": 64,
            "tenants": {},
            "quotas": [account_quota(bare), account_quota(a3) | {"limit": None, "unchecked": "no snapshot"}],
            "windows": windows,
        },
        compatibility=[incompatible(bare, "refused"), incompatible(a3, "unknown")],
    )


def window(urn: str, path: str, starts: int | None, ends: int | None) -> Json:
    """Capacity that is reserved for a time, as the capacity part of a document has it."""
    return {
        "urn": urn,
        "path": path,
        "what": "Capacity Block cr-0123456789abcdef0",
        "start": None if starts is None else "2026-12-03T11:30:00Z",
        "end": None if ends is None else "2026-12-30T11:30:00Z",
        "starts_in_days": starts,
        "ends_in_days": ends,
    }


def account_quota(name: str) -> Json:
    """A quota of a cloud's account, as the capacity part of a document has it."""
    about = {"cloud": "aws", "account": "111122223333", "region": "us-east-1", "code": "L-417A185B", "name": name}
    return about | {
        "unit": "vcpus",
        "need": 384,
        "limit": 192.0,
        "usage": None,
        "groups": ["bare", "a3"],
        "uncounted": [],
        "fetched": "2026-09-20",
        "age_days": 71,
        "unchecked": None,
    }


def incompatible(urn: str, status: str) -> Json:
    """A node group and an image that do not go together, or may not, as a document has them."""
    about = {"urn": urn, "path": "/instanceTypes", "group": "bare", "machine": "p5.48xlarge", "driver": "550"}
    return about | {"image": "vllm/vllm-openai:v0.32.0", "status": status, "reason": "the driver is 550"}


def group(urn: str, machine: str, each: int | None, nodes: Json, most: int | None) -> Json:
    """A node group, as the capacity part of a document has it."""
    return {
        "urn": urn,
        "name": machine,
        "machine": machine,
        "machine_path": "/machine",
        "accelerators_a_node": each,
        "nodes": nodes,
        "accelerators": {"max": most},
    }


def broken_pods() -> Json:
    """Pods with power over their node, images from anywhere and tokens in plain text."""
    context = {
        "privileged": True,
        "capabilities": {"add": ["SYS_ADMIN", "NET_BIND_SERVICE"]},
        "windowsOptions": {"hostProcess": True},
    }
    server = {
        "name": "server",
        "image": "evil.example/vllm",
        "args": ["--model", "x", "--api-key", "0123456789abcdefABCDEF", f"--hf-token={HUGGING_FACE}"],
        "env": [
            {"name": "HF_TOKEN", "value": HUGGING_FACE},
            {"name": "WANDB_API_KEY", "value": "0123456789abcdef0123456789abcdef01234567"},
        ],
        "securityContext": context,
    }
    spec = {
        "hostNetwork": True,
        "hostPID": True,
        "hostIPC": True,
        "containers": [server],
        "initContainers": [{"name": "fetch", "image": "curlimages/curl:latest", "command": ["sh", "-c", GITHUB]}],
        "ephemeralContainers": [{"name": "debug", "image": "docker.io/library/busybox", "securityContext": context}],
        "volumes": [{"name": "dev", "hostPath": {"path": "/dev"}}, {"name": "shm", "emptyDir": {}}],
        "securityContext": {"windowsOptions": {"hostProcess": True}},
    }
    fraud = {"name": "settings", "namespace": "fraud"}
    data = {"HF_TOKEN": HUGGING_FACE, "config": f"token: {GITHUB}"}
    karpenter = {"key": "node.kubernetes.io/instance-type", "operator": "In", "values": ["p5.48xlarge"]}
    template = {"spec": {"requirements": [karpenter]}}
    metadata_options = {"metadataOptions": {"httpTokens": "optional", "httpPutResponseHopLimit": 3}}
    manifests = [
        workload("Deployment", spec),
        workload("CronJob", spec, name="nightly"),
        workload("RayCluster", spec, name="ray"),
        {"apiVersion": "v1", "kind": "ConfigMap", "metadata": fraud, "data": data},
        {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "fraud"}},
        {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "open"}},
        policy("allow-all", {"podSelector": {}, "policyTypes": ["Ingress", "Egress"], "ingress": [{}], "egress": [{}]}),
        policy("some", {"podSelector": {"matchLabels": {"a": "b"}}, "policyTypes": ["Ingress"]}),
        {
            "apiVersion": "v1",
            "kind": "PersistentVolume",
            "metadata": {"name": "d"},
            "spec": {"hostPath": {"path": "/"}},
        },
        {
            "apiVersion": "karpenter.sh/v1",
            "kind": "NodePool",
            "metadata": {"name": "g"},
            "spec": {"template": template},
        },
        {
            "apiVersion": "karpenter.k8s.aws/v1",
            "kind": "EC2NodeClass",
            "metadata": {"name": "gpu"},
            "spec": metadata_options,
        },
        {
            "apiVersion": "cloud.google.com/v1",
            "kind": "ComputeClass",
            "metadata": {"name": "gpu"},
            "spec": {"priorities": [{"machineType": "a3-highgpu-8g"}]},
        },
    ]
    values = {
        "image": {"repository": "evil.example/app", "tag": "latest"},
        "sidecar": {"image": "evil.example/sidecar:1"},
        "securityContext": {"privileged": True, "capabilities": {"add": ["SYS_ADMIN", "CHOWN"]}},
        "extraVolumes": [{"name": "dev", "hostPath": {"path": "/dev"}}],
        "hostNetwork": True,
        "extraEnv": [{"name": "HF_TOKEN", "value": HUGGING_FACE}],
        "config": {"token": GITHUB},
    }
    release = {"chart": "evil", "namespace": "fraud", "values": values}
    objects = [kubernetes(manifest, name=f"o{i}") for i, manifest in enumerate(manifests)]
    return document([*objects, resource("kubernetes:helm.sh/v3:Release", "evil", release)])


def policy(name: str, spec: Json) -> Json:
    """A network policy of the namespace `open`."""
    metadata = {"name": name, "namespace": "open"}
    return {"apiVersion": "networking.k8s.io/v1", "kind": "NetworkPolicy", "metadata": metadata, "spec": spec}


def rival_plugins() -> Json:
    """Every way to offer a GPU twice."""
    plugin = {
        "containers": [{"name": "plugin", "image": "nvcr.io/nvidia/k8s-device-plugin:v0.20.0"}],
        "tolerations": [{"key": "nvidia.com/gpu", "operator": "Exists"}],
        "nodeSelector": {"pool": "gpus"},
    }
    pool = {"guestAccelerators": [{"type": "nvidia-l4", "count": 1}], "labels": {"pool": "gpus"}}
    charts = {
        "gpu-operator": {"devicePlugin": {"enabled": True}, "nfd": {"enabled": True}},
        "nvidia-device-plugin": {"gfd": {"enabled": True}, "nodeSelector": {"pool": "gpus"}},
        "dra-driver-nvidia-gpu": {
            "gpuResourcesEnabledOverride": True,
            "resources": {"gpus": {"enabled": True}},
            "kubeletPlugin": {"nodeSelector": {"pool": "gpus"}},
        },
    }
    releases = [
        resource("kubernetes:helm.sh/v3:Release", chart, {"chart": chart, "values": values})
        for chart, values in charts.items()
    ]
    nodes = [
        resource("gcp:container/nodePool:NodePool", "l4", {"nodeConfig": pool}),
        resource(
            "aws:eks/nodeGroup:NodeGroup",
            "bottlerocket",
            {"amiType": "BOTTLEROCKET_x86_64_NVIDIA", "labels": {"pool": "gpus"}},
        ),
    ]
    return document([*nodes, *releases, kubernetes(workload("DaemonSet", plugin, namespace="gpu-operator"))])


BROKEN = {"clouds": broken_clouds, "pods": broken_pods, "plugins": rival_plugins}
