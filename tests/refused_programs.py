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
    ]
    bare, a3, dgx = (resource_["urn"] for resource_ in (resources[2], resources[10], resources[11]))
    lines = [
        {"urn": bare, "group": "bare", "market": "on_demand", "month": None, "unknown": "its region is not known"},
        {"urn": a3, "group": "a3", "month": {"min": 0, "initial": 1.5, "max": 1900000.25}, "unknown": None},
    ]
    groups = [
        group(bare, "p9.48xlarge", None, {"min": 0, "max": 2}, None),
        group(a3, "a3-highgpu-8g", 8, {"min": 0, "max": 8}, 64) | {"accelerator": "h100-80"},
        group(dgx, "dgx-b200", 8, {"min": None, "max": None}, None),
    ]
    tenants = {"fraud": {"quota": 10.0, "worst": 20.5, "budget": 15.0}}
    return document(
        resources,
        cost=cost(lines, tenants=tenants),
        capacity={"groups": groups, "accelerators": {"h100-80": 64}, "total": 64, "tenants": {}},
    )


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


BROKEN = {"clouds": broken_clouds, "pods": broken_pods}
