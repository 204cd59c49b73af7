"""Programs that break every rule, in as many ways as a rule knows."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable

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
        comparison={"cost": {"max": {"base": 20_000, "head": 40_000}}},
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
        "surge": 0,
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


def broken_walls() -> Json:
    """Tenants with power over each other and over the platform."""
    rbac = "rbac.authorization.k8s.io"
    team, everybody = ({"kind": "Group", "apiGroup": rbac, "name": name} for name in ("vision", "system:authenticated"))
    sharing = "version: v1\nsharing:\n  timeSlicing:\n    resources: [{name: nvidia.com/gpu, replicas: 4}]\n"
    server = {
        "name": "server",
        "image": "docker.io/vllm/vllm-openai:v0.32.0",
        "env": [{"name": "NVIDIA_VISIBLE_DEVICES", "value": "all"}],
        "resources": {"limits": {"nvidia.com/gpu": 1}},
        "volumeMounts": [{"name": "gpus", "mountPath": "/var/run/nvidia-container-devices/all"}],
        "securityContext": {"runAsUser": 0, "capabilities": {"drop": ["NET_RAW"]}},
    }
    spec = {"containers": [server], "runtimeClassName": "nvidia", "securityContext": {"runAsNonRoot": False}}
    untrusted = workload("Deployment", spec, namespace="vision", name="untrusted")
    untrusted["metadata"]["labels"] = {"trust": "untrusted", "data": "regulated"}
    labels = {"pod-security.kubernetes.io/enforce": "baseline"}
    rules = [{"apiGroups": ["*"], "resources": ["*", "secrets"], "verbs": ["*", "bind", "list"]}]
    added = {f"{rbac}/aggregate-to-view": "true", f"{rbac}/aggregate-to-edit": "true"}

    def bound(kind: str, name: str, role: str, subject: Json, namespace: str | None = None) -> Json:
        metadata = {"name": name} | ({"namespace": namespace} if namespace else {})
        reference = {"apiGroup": rbac, "kind": "ClusterRole", "name": role}
        return {
            "apiVersion": f"{rbac}/v1",
            "kind": kind,
            "metadata": metadata,
            "roleRef": reference,
            "subjects": [subject],
        }

    world = {"egress": [{}, {"to": [{"ipBlock": {"cidr": "0.0.0.0/1"}}], "ports": [{"port": 22, "endPort": 99}]}]}
    cilium = {"egress": [{"toEntities": ["world"], "toPorts": [{"ports": [{"port": "22"}]}]}, {"toCIDR": ["::/0"]}]}
    manifests = [
        {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "open"}},
        {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "vision", "labels": labels}},
        {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "plugin"}, "data": {"any": sharing}},
        untrusted,
        policy("world", world),
        {
            "apiVersion": "cilium.io/v2",
            "kind": "CiliumNetworkPolicy",
            "metadata": {"name": "c", "namespace": "vision"},
            "spec": cilium,
        },
        bound("RoleBinding", "own", "edit", team, "vision"),
        bound("RoleBinding", "climb", "wide", team, "vision"),
        bound("RoleBinding", "operators", "edit", team, "gpu-operator"),
        bound("ClusterRoleBinding", "all", "cluster-admin", everybody),
        bound("ClusterRoleBinding", "wide", "wide", {"kind": "ServiceAccount", "name": "a", "namespace": "vision"}),
        {
            "apiVersion": f"{rbac}/v1",
            "kind": "ClusterRole",
            "metadata": {"name": "wide", "labels": added},
            "rules": rules,
        },
        {"apiVersion": "nvidia.com/v1", "kind": "ClusterPolicy", "metadata": {"name": "p"}, "spec": {"toolkit": {}}},
    ]
    shared = {"gpuSharingStrategy": "TIME_SHARING", "maxSharedClientsPerGpu": 4}
    config = {
        "guestAccelerators": [{"type": "nvidia-l4", "gpuSharingConfig": shared}],
        "taints": [{"key": "nvidia.com/gpu"}],
    }
    principal = "arn:aws:iam::111122223333:role/fraud"
    power = "arn:aws:eks::aws:cluster-access-policy/AmazonEKSEditPolicy"
    others = [
        resource("gcp:container/nodePool:NodePool", "shared", {"nodeConfig": config}),
        resource("gcp:container/cluster:Cluster", "nested", {"nodePools": [{"nodeConfig": config}]}),
        resource("gpuyard:index:EksNodeGroup", "l4", {"partition": {"kind": "mps", "clients": 4}}),
        *(
            resource("gpuyard:index:Tenant", name, {"groups": [name], "accelerators": {"l4": {"quota": 1}}})
            for name in ("fraud", "vision")
        ),
        resource(
            "aws:eks/accessEntry:AccessEntry", "fraud", {"principalArn": principal, "kubernetesGroups": ["fraud"]}
        ),
        resource(
            "aws:eks/accessPolicyAssociation:AccessPolicyAssociation",
            "fraud",
            {"principalArn": principal, "policyArn": power, "accessScope": {"type": "cluster"}},
        ),
        resource(
            "kubernetes:helm.sh/v3:Release",
            "gpu-operator",
            {
                "chart": "gpu-operator",
                "version": "v25.3.4",
                "namespace": "gpu-operator",
                "values": {"devicePlugin": {"config": {"data": {"any": sharing}}}},
            },
        ),
    ]
    return document([*(kubernetes(manifest, name=f"w{i}") for i, manifest in enumerate(manifests)), *others])


def open_surface() -> Json:
    """A cloud that is open wherever it can be, judged by the limits of production."""

    def made(type_: str, name: str, inputs: Json) -> Json:
        return resource(type_, name, inputs, stack="prod")

    everything = {"Effect": "Allow", "Action": "s3:*", "Resource": "*"}
    nodes = made("aws:iam/role:Role", "nodes", {"name": "nodes", "assumeRolePolicy": json.dumps(trust("ec2"))})
    members = ["serviceAccount:nodes@example.iam.gserviceaccount.com"]
    balancer = made("aws:lb/loadBalancer:LoadBalancer", "front", {"name": "front", "tags": {}})
    target = made("aws:lb/targetGroup:TargetGroup", "models", {"name": "models", "port": 8000})
    action = {"type": "forward", "targetGroupArn": "targetgroup/models"}
    disk = {"deviceName": "/dev/xvda", "ebs": {"encrypted": "false"}}
    rule = {"protocol": "-1", "fromPort": 0, "toPort": 0, "cidrBlocks": ["0.0.0.0/0"]}
    cluster = {"location": "me-central2", "deletionProtection": False, "enableAutopilot": True}
    pool = {"machineType": "g2-standard-8", "serviceAccount": "nodes@example.iam.gserviceaccount.com"}
    resources = [
        nodes,
        made(
            "aws:iam/rolePolicy:RolePolicy", "all", {"role": "nodes", "policy": json.dumps({"Statement": everything})}
        ),
        made(
            "aws:iam/rolePolicyAttachment:RolePolicyAttachment",
            "admin",
            {"role": "nodes", "policyArn": "arn:aws:iam::aws:policy/AdministratorAccess"},
        ),
        made("aws:ec2/securityGroup:SecurityGroup", "open", {"ingress": [rule]}),
        made("aws:ec2/launchTemplate:LaunchTemplate", "plain", {"blockDeviceMappings": [disk, {"ebs": {}}]}),
        made("aws:efs/fileSystem:FileSystem", "weights", {}),
        made("aws:s3/bucket:Bucket", "models", {"forceDestroy": True, "region": "me-south-1"}),
        balancer,
        target,
        made(
            "aws:lb/listener:Listener",
            "front",
            {"loadBalancerArn": "loadbalancer/front", "defaultActions": [action]},
        ),
        made("gcp:container/cluster:Cluster", "auto", cluster),
        made(
            "gcp:container/nodePool:NodePool",
            "l4",
            {"nodeConfig": pool, "networkConfig": {"enablePrivateNodes": False}},
        ),
        made("gcp:projects/iAMBinding:IAMBinding", "editors", {"role": "roles/editor", "members": members}),
        made(
            "gcp:compute/firewall:Firewall",
            "ray",
            {"allows": [{"protocol": "tcp", "ports": ["8265"]}], "sourceRanges": ["::/0"]},
        ),
        made(
            "gcp:binaryauthorization/policy:Policy",
            "none",
            {"defaultAdmissionRule": {"evaluationMode": "ALWAYS_ALLOW", "enforcementMode": "DRYRUN_AUDIT_LOG_ONLY"}},
        ),
    ]
    resources += more_stores(made)
    scheme = {"alb.ingress.kubernetes.io/scheme": "internet-facing"}
    world = [{"from": [{"ipBlock": {"cidr": "0.0.0.0/0"}}], "ports": [{"port": 8000}]}]
    where = {"name": "chat", "namespace": "fraud"}
    config = {"iap": {"enabled": False}, "securityPolicy": {"name": ""}}
    manifests = [
        {"apiVersion": "v1", "kind": "Service", "metadata": where, "spec": {"type": "LoadBalancer"}},
        {
            "apiVersion": "gateway.networking.k8s.io/v1",
            "kind": "Gateway",
            "metadata": {"name": "chat", "namespace": "vision"},
            "spec": {"gatewayClassName": "gke-l7-global-external-managed"},
        },
        {"apiVersion": "cloud.google.com/v1", "kind": "BackendConfig", "metadata": where, "spec": config},
        {
            "apiVersion": "networking.gke.io/v1",
            "kind": "GCPBackendPolicy",
            "metadata": where,
            "spec": {"default": config},
        },
        {
            "apiVersion": "karpenter.k8s.aws/v1",
            "kind": "EC2NodeClass",
            "metadata": {"name": "gpu"},
            "spec": {"associatePublicIPAddress": True, "blockDeviceMappings": [{"ebs": {"encrypted": False}}]},
        },
        {
            "apiVersion": "storage.k8s.io/v1",
            "kind": "StorageClass",
            "metadata": {"name": "gp3"},
            "provisioner": "ebs.csi.aws.com",
            "parameters": {"encrypted": "false"},
        },
        {
            "apiVersion": "networking.k8s.io/v1",
            "kind": "Ingress",
            "metadata": where | {"annotations": scheme},
            "spec": {"ingressClassName": "alb"},
        },
        {
            "apiVersion": "networking.k8s.io/v1",
            "kind": "NetworkPolicy",
            "metadata": where,
            "spec": {"podSelector": {"matchLabels": {"app": "chat"}}, "ingress": world},
        },
        {
            "apiVersion": "policy.sigstore.dev/v1beta1",
            "kind": "ClusterImagePolicy",
            "metadata": {"name": "warn"},
            "spec": {"mode": "warn"},
        },
    ]
    objects = [kubernetes(manifest, stack="prod", name=f"s{i}") for i, manifest in enumerate(manifests)]
    return document([*resources, *objects], stack="prod", environment="production")


def more_stores(made: Callable[[str, str, Json], Json]) -> list[Json]:
    """Stores, machines and policies in the forms that no other program has."""
    subnet = made("aws:ec2/subnet:Subnet", "public", {"name": "public", "mapPublicIpOnLaunch": True})
    by_default = {"rules": [{"applyServerSideEncryptionByDefault": {"sseAlgorithm": "aws:kms"}}], "bucket": "kept"}
    old = {"rules": [{"applyServerSideEncryptionByDefaults": [{"sseAlgorithm": "aws:kms"}]}]}
    devices = {"rootBlockDevice": {"encrypted": False}, "ebsBlockDevices": [{"deviceName": "sdf", "encrypted": False}]}
    all_but = {"Statement": [{"Effect": "Allow", "NotAction": "iam:*", "NotResource": "x"}]}
    return [
        subnet,
        made("aws:eks/nodeGroup:NodeGroup", "public", {"subnetIds": ["public"], "nodeRoleArn": "nodes"}),
        made("aws:fsx/lustreFileSystem:LustreFileSystem", "scratch", {"deploymentType": "PERSISTENT_2"}),
        made("aws:ecr/repository:Repository", "images", {"forceDelete": True, "encryptionConfigurations": [{}]}),
        made("aws:s3/bucketV2:BucketV2", "old", {"serverSideEncryptionConfigurations": [old]}),
        made("aws:s3/bucket:Bucket", "kept", {"name": "kept"}),
        made(
            "aws:s3/bucketServerSideEncryptionConfiguration:BucketServerSideEncryptionConfiguration",
            "kept",
            by_default,
        ),
        made(
            "aws:ec2/instance:Instance",
            "pet",
            {"instanceType": "p5.48xlarge", "associatePublicIpAddress": True} | devices,
        ),
        made("aws:iam/policy:Policy", "all", {"name": "all", "policy": json.dumps(all_but)}),
        made(
            "aws:iam/policyAttachment:PolicyAttachment",
            "all",
            {"roles": ["nodes"], "policyArn": "arn:aws:iam::111122223333:policy/all"},
        ),
        made(
            "gcp:compute/instance:Instance",
            "pet",
            {"machineType": "a3-highgpu-8g", "networkInterfaces": [{"accessConfigs": [{"networkTier": "PREMIUM"}]}]},
        ),
        made("gcp:filestore/instance:Instance", "shared", {"tier": "ZONAL"}),
    ]


def trust(service: str) -> Json:
    """Who may take a role: one service of AWS."""
    allowed = {"Effect": "Allow", "Principal": {"Service": f"{service}.amazonaws.com"}, "Action": "sts:AssumeRole"}
    return {"Version": "2012-10-17", "Statement": [allowed]}


def careless_servers() -> Json:
    """Inference servers of old versions, that run and load what anybody may have changed; judged two years later."""
    vllm = {
        "name": "vllm",
        "image": "vllm/vllm-openai:v0.13.0",
        "command": [
            "sh",
            "-c",
            "vllm serve a/llava-b --trust-remote-code --load-format=pt --nnodes 2 --master-addr 0.0.0.0",
        ],
        "env": [
            {"name": "VLLM_HOST_IP", "value": "0.0.0.0"},  # noqa: S104 - the mistake itself
            {"name": "VLLM_ALLOW_INSECURE_SERIALIZATION", "value": "1"},
        ],
    }
    triton = {"name": "triton", "image": f"nvcr.io/nvidia/tritonserver@sha256:{'ab' * 32}"}
    old = {"name": "old", "image": "nvcr.io/nvidia/tritonserver:25.12-py3"}
    sglang = {"name": "sglang", "image": "lmsysorg/sglang:nightly", "args": ["pip install torch==2.5.1"]}
    start = {"name": "ray", "image": "x:1", "command": ["ray", "start", "--head", "--dashboard-host=0.0.0.0"]}
    pod = {"hostNetwork": True, "containers": [vllm, triton, old, sglang, start]}
    cluster = {
        "rayVersion": "2.54.0",
        "headGroupSpec": {"template": {"spec": {"containers": [{"name": "h", "image": "h:1"}]}}},
    }
    text = "applications: [{args: {llm_configs: [{model_loading_config: {model_id: a/b}, engine_kwargs: {trust_remote_code: true}}]}}]"
    predictor = {
        "model": {"modelFormat": {"name": "huggingface"}, "storageUri": "s3://models/a.pkl", "args": ["--model_id=a/b"]}
    }
    named = {"name": "m", "namespace": "fraud"}
    manifests = [
        workload("Deployment", pod),
        {"apiVersion": "ray.io/v1", "kind": "RayCluster", "metadata": named, "spec": cluster},
        {
            "apiVersion": "ray.io/v1",
            "kind": "RayService",
            "metadata": named,
            "spec": {"rayClusterConfig": cluster, "serveConfigV2": text},
        },
        {
            "apiVersion": "serving.kserve.io/v1beta1",
            "kind": "InferenceService",
            "metadata": named,
            "spec": {"predictor": predictor},
        },
    ]
    values = {
        "toolkit": {"version": "v1.17.3"},
        "driver": {"repository": "nvcr.io/nvidia", "image": "driver", "version": "580.1.2"},
    }
    stack = {
        "servingEngineSpec": {"modelSpec": [{"modelURL": "a/b", "vllmConfig": {"extraArgs": ["--trust-remote-code"]}}]}
    }
    releases = [
        resource(
            "kubernetes:helm.sh/v3:Release", "op", {"chart": "gpu-operator", "version": "v25.3.0", "values": values}
        ),
        resource("kubernetes:helm.sh/v3:Release", "llm", {"chart": "vllm-stack", "values": stack}),
    ]
    objects = [kubernetes(manifest, name=f"s{i}") for i, manifest in enumerate(manifests)]
    return document([*objects, *releases], date="2028-11-30")


def broken_shares() -> Json:
    """Tenants that take more than is theirs, queues that promise more than there is, and nodes that nobody gives back."""
    gpu = {
        "name": "server",
        "image": "nvcr.io/nvidia/tritonserver:26.10-py3",
        "resources": {"limits": {"nvidia.com/gpu": 1}},
    }
    many = gpu | {"resources": {"limits": {"nvidia.com/gpu": "4"}, "requests": {"nvidia.com/gpu": 2}}}
    serving = workload("Deployment", {"containers": [many], "nodeSelector": {"cloud.google.com/gke-spot": "true"}})
    serving["spec"]["replicas"] = 2
    job = workload("Job", {"containers": [gpu], "initContainers": [many]}, name="train")
    job["spec"]["parallelism"] = 16
    every_node = workload("DaemonSet", {"containers": [gpu]}, name="agent")
    web = workload("Deployment", {"containers": [{"name": "web"}], "tolerations": [{"operator": "Exists"}]}, name="web")
    target = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "model"}
    group = {"coveredResources": ["nvidia.com/gpu"]}
    flavor = {"name": "l4", "resources": [{"name": "nvidia.com/gpu", "nominalQuota": 90}]}
    limited = {"name": "l4", "resources": [{"name": "nvidia.com/gpu", "nominalQuota": "8", "borrowingLimit": "8"}]}
    queues = {"fraud": {"cohortName": "all", "flavors": [limited]}, "vision": {"cohort": "all", "flavors": [flavor]}}
    ray = {"groupName": "g", "minReplicas": 1, "maxReplicas": 8, "template": {"spec": {"containers": [gpu]}}}
    disruption = {"consolidateAfter": "Never", "budgets": [{"nodes": "0"}]}

    def of(api: str, kind: str, spec: Json, name: str = "model") -> Json:
        return {"apiVersion": api, "kind": kind, "metadata": {"name": name, "namespace": "fraud"}, "spec": spec}

    manifests = [
        serving,
        job,
        every_node,
        web,
        {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "fraud", "labels": {"team": "fraud"}}},
        {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "open"}},
        of("v1", "ResourceQuota", {"hard": {"requests.nvidia.com/gpu": "4", "requests.cpu": "8"}}),
        of(
            "v1",
            "ResourceQuota",
            {
                "hard": {"requests.nvidia.com/gpu": "1"},
                "scopeSelector": {
                    "matchExpressions": [{"scopeName": "PriorityClass", "operator": "NotIn", "values": ["a"]}]
                },
            },
            "scoped",
        ),
        of("autoscaling/v2", "HorizontalPodAutoscaler", {"scaleTargetRef": target, "maxReplicas": 8}),
        of("keda.sh/v1alpha1", "ScaledObject", {"scaleTargetRef": target, "minReplicaCount": 1, "maxReplicaCount": 9}),
        of("kueue.x-k8s.io/v1beta2", "LocalQueue", {"clusterQueue": "fraud"}, "default"),
        *(
            of(
                "kueue.x-k8s.io/v1beta2",
                "ClusterQueue",
                spec | {"resourceGroups": [group | {"flavors": spec["flavors"]}]},
                name,
            )
            for name, spec in queues.items()
        ),
        of(
            "ray.io/v1",
            "RayJob",
            {"rayClusterSpec": {"enableInTreeAutoscaling": True, "workerGroupSpecs": [ray]}},
            "ray",
        ),
        of("karpenter.sh/v1", "NodePool", {"disruption": disruption, "template": {"spec": {"taints": []}}}, "gpu"),
    ]
    objects = [kubernetes(manifest, name=f"s{i}") for i, manifest in enumerate(manifests)]
    pool = next(one["urn"] for one in objects if one["inputs"]["kind"] == "NodePool")
    template = resource(
        "aws:ec2/launchTemplate:LaunchTemplate", "block", {"instanceMarketOptions": {"marketType": "capacity-block"}}
    )
    groups = [
        resource("aws:eks/nodeGroup:NodeGroup", "gpu", {"capacityType": "SPOT", "launchTemplate": {"id": None}}),
        resource("aws:eks/nodeGroup:NodeGroup", "alone", {"capacityType": "CAPACITY_BLOCK"}),
        resource("aws:eks/nodeGroup:NodeGroup", "untainted", {"instanceTypes": ["g6.12xlarge"], "taints": []}),
    ]
    groups[0] |= {"unknown": ["/launchTemplate/id"], "options": {"depends_on": [template["urn"]]}}
    reservation = {"instanceType": "g6.12xlarge", "instanceMatchCriteria": "targeted"}
    reserved = resource("aws:ec2/capacityReservation:CapacityReservation", "unused", reservation)
    machine = {"machineType": "g2-standard-4"}
    named = {"specificReservationRequired": True, "specificReservation": {"instanceProperties": machine}}
    lines = [
        group_line(pool, "g6.12xlarge", "on_demand"),
        group_line(groups[2]["urn"], "g6.12xlarge", "on_demand"),
        group_line(reserved["urn"], "g2-standard-4", "spot"),
        group_line(template["urn"], "m7i.large", "on_demand") | {"accelerators_a_node": 0},
    ]
    share = {"l4": {"quota": 2, "borrow": 1, "endpoints_max": 4}}
    return document(
        [*objects, template, *groups, reserved, resource("gcp:compute/reservation:Reservation", "unused", named)],
        capacity={"groups": lines, "accelerators": {}, "total": 12, "tenants": {"fraud": share}},
    )


def served_on_spot() -> Json:
    """A model of production on machines that may be taken back."""
    server = {"name": "server", "image": "a/b:1", "resources": {"limits": {"nvidia.com/gpu": 1}}}
    by_label = workload("Deployment", {"containers": [server], "nodeSelector": {"pool": "gpu"}}, name="labelled")
    marked = workload("Deployment", {"containers": [server], "nodeSelector": {"karpenter.sh/capacity-type": "spot"}})
    asked = {"key": "karpenter.sh/capacity-type", "operator": "In", "values": ["spot"]}
    required = {
        "requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [{"matchExpressions": [asked]}]}
    }
    near = workload("StatefulSet", {"containers": [server], "affinity": {"nodeAffinity": required}}, name="near")
    labels = {"labels": {"pool": "gpu"}}
    template = {"metadata": labels, "spec": {"requirements": [asked]}}
    pool = {
        "apiVersion": "karpenter.sh/v1",
        "kind": "NodePool",
        "metadata": {"name": "gpu"},
        "spec": {"template": template},
    }
    nodes = [
        resource("aws:eks/nodeGroup:NodeGroup", "gpu", labels | {"capacityType": "SPOT"}, stack="prod"),
        resource("gcp:container/nodePool:NodePool", "gpu", {"nodeConfig": labels | {"spot": True}}, stack="prod"),
    ]
    objects = [kubernetes(one, stack="prod", name=f"p{i}") for i, one in enumerate((by_label, marked, near, pool))]
    return document([*objects, *nodes], stack="prod", environment="production")


def group_line(urn: str, machine: str, market: str) -> Json:
    """A node group that keeps a node, as the capacity part of a document has it."""
    return group(urn, machine, 4, {"min": 1, "max": 1}, 4) | {
        "market": market,
        "machine_path": "/instanceTypes",
        "resource": "nvidia.com/gpu",
        "accelerators": {"min": 4, "max": 4},
    }


BROKEN = {
    "servers": careless_servers,
    "surface": open_surface,
    "clouds": broken_clouds,
    "pods": broken_pods,
    "plugins": rival_plugins,
    "walls": broken_walls,
    "shares": broken_shares,
    "spot": served_on_spot,
}
