"""Ways to get machines, accelerators or an entrance past the rules that look at clouds: each is refused."""

from __future__ import annotations

from typing import Any

import pytest
from raw_programs import TAGS
from verdicts import Json, custom, denied, made

MACHINES = "quota/machines"
MOST = "quota/max_accelerators"
BUDGET = "cost/budget"
METADATA = "cloud/instance_metadata"
API = "cloud/api_exposure"
PORTS = "cloud/open_ports"
TYPE = "node.kubernetes.io/instance-type"
FAMILY = "karpenter.k8s.aws/instance-family"


def asks(key: str, *values: str, operator: str = "In") -> Json:
    return {"key": key, "operator": operator, "values": list(values)}


ZONE = asks("topology.kubernetes.io/zone", "us-east-1a")
NODES = {"group": "karpenter.k8s.aws", "kind": "EC2NodeClass", "name": "default"}
TAINT = {"key": "nvidia.com/gpu", "value": "true", "effect": "NoSchedule"}


def pool(*requirements: Json, api: str = "karpenter.sh/v1", limits: Json | None = None, **more: Any) -> Json:
    spec = {"requirements": [ZONE, *requirements], "nodeClassRef": NODES, "taints": [TAINT]}
    bounds = {"nvidia.com/gpu": "4"} if limits is None else limits
    return custom(api, "NodePool", {"template": {"spec": spec}, "limits": bounds} | more, "gpu", namespace=None)


def claim(*requirements: Json) -> Json:
    return custom("karpenter.sh/v1", "NodeClaim", {"requirements": [*requirements]}, "gpu", namespace=None)


def compute_class(*priorities: Json) -> Json:
    return custom("cloud.google.com/v1", "ComputeClass", {"priorities": [*priorities]}, "gpu", namespace=None)


def group(**inputs: Any) -> Json:
    given = {"tags": TAGS, "scalingConfig": {"minSize": 0, "desiredSize": 0, "maxSize": 1}} | inputs
    return made("aws:eks/nodeGroup:NodeGroup", "gpu", given)


def template(**inputs: Any) -> Json:
    options = {"httpEndpoint": "enabled", "httpTokens": "required", "httpPutResponseHopLimit": 1}
    disks = [{"deviceName": "/dev/xvda", "ebs": {"encrypted": "true"}}]
    given = {"tags": TAGS, "metadataOptions": options, "blockDeviceMappings": disks} | inputs
    return made("aws:ec2/launchTemplate:LaunchTemplate", "template", given)


def eks(*networks: str) -> Json:
    config = {"publicAccessCidrs": [*networks], "endpointPublicAccess": True}
    given = {"tags": TAGS, "vpcConfig": config, "encryptionConfig": {"resources": ["secrets"]}}
    return made("aws:eks/cluster:Cluster", "ml", given)


def gke(**autoscaling: Any) -> Json:
    nodes = {"serviceAccount": "nodes@example-ml.iam.gserviceaccount.com"}
    given = {
        "resourceLabels": TAGS,
        "datapathProvider": "ADVANCED_DATAPATH",
        "databaseEncryption": {"state": "ENCRYPTED", "keyName": "key"},
        "privateClusterConfig": {"enablePrivateNodes": True, "enablePrivateEndpoint": True},
        "removeDefaultNodePool": True,
        "initialNodeCount": 1,
        "nodeConfig": nodes,
        "clusterAutoscaling": {"enabled": True, "autoProvisioningDefaults": nodes} | autoscaling,
    }
    return made("gcp:container/cluster:Cluster", "ml", given)


def gpus(*most: int) -> list[Json]:
    kinds = ("nvidia-h100-80gb", "nvidia-l4")
    listed = [{"resourceType": kind, "maximum": each} for kind, each in zip(kinds, most, strict=False)]
    return [{"resourceType": "cpu", "maximum": 1000}, *listed]


def ingress(**rule: Any) -> Json:
    given = {"protocol": "tcp", "fromPort": 8000, "toPort": 8000} | rule
    return made("aws:ec2/securityGroup:SecurityGroup", "models", {"tags": TAGS, "ingress": [given]})


def bucket(**tags: str) -> Json:
    return made("aws:s3/bucket:Bucket", "models", {"tags": tags})


WANTED = {"acceleratorNames": ["h100"], "vcpuCount": {"min": 1}, "memoryMib": {"min": 1}}

WAYS: dict[str, tuple[list[Json], set[str]]] = {
    "a machine in a launch template": (
        [template(instanceType="p5.48xlarge"), group(launchTemplate={"id": "lt-1", "version": "3"})],
        {BUDGET, MACHINES, MOST},
    ),
    "a launch template of somebody else": ([group(launchTemplate={"id": "lt-1", "version": "3"})], {BUDGET, MOST}),
    "a launch template without a word on metadata": (
        [
            template(metadataOptions={}),
            group(instanceTypes=["m6i.large"], launchTemplate={"name": "t", "version": "1"}),
        ],
        {METADATA, BUDGET},
    ),
    "a launch template by what machines have": (
        [template(instanceRequirements=WANTED), group(launchTemplate={"id": "lt-1", "version": "3"})],
        {BUDGET, MOST},
    ),
    "a machine in capitals": ([pool(asks(TYPE, "P5.48xlarge"))], {BUDGET, MACHINES}),
    "a pool of an old version": ([pool(asks(TYPE, "p5.48xlarge"), api="karpenter.sh/v1beta1")], {MACHINES}),
    "a pool by a family of machines": ([pool(asks(FAMILY, "p5"))], {BUDGET, MACHINES}),
    "a pool of all machines but one": ([pool(asks(TYPE, "t3.micro", operator="NotIn"))], {BUDGET, MOST}),
    "a pool that names no machine": ([pool()], {BUDGET, MOST}),
    "a pool that counts processors alone": ([pool(asks(TYPE, "g6.xlarge"), limits={"cpu": "100000"})], {BUDGET, MOST}),
    "a pool without limits": (
        [pool(asks(TYPE, "g6.xlarge"), limits={})],
        {"capacity/node_pools", BUDGET, MOST},
    ),
    "a limit with an exponent": ([pool(asks(TYPE, "g6.xlarge"), limits={"nvidia.com/gpu": "8e1"})], {BUDGET, MOST}),
    "a pool of little weight": (
        [pool(asks(TYPE, "g6.xlarge"), weight=1, limits={"nvidia.com/gpu": "64"})],
        {BUDGET, MOST},
    ),
    "a node that is claimed without a pool": ([claim(asks(TYPE, "p5.48xlarge"))], {MACHINES}),
    "a compute class by a family of machines": ([compute_class({"machineFamily": "a3"})], {MACHINES}),
    "node pools that GKE makes by itself": ([gke(resourceLimits=gpus(64))], {MOST}),
    "accelerators of two kinds that are few each": ([gke(resourceLimits=gpus(5, 5))], {MOST}),
    "the internet in two halves": ([eks("0.0.0.0/1", "128.0.0.0/1")], {API}),
    "the internet with a zero more": ([eks("0.0.0.0/00")], {API}),
    "a port in the two halves of the internet": ([ingress(cidrBlocks=["0.0.0.0/1", "128.0.0.0/1"])], {PORTS}),
    "a port among all": ([ingress(protocol="-1", fromPort=0, toPort=0, cidrBlocks=["0.0.0.0/0"])], {PORTS}),
    "a port by the other protocol of the internet": ([ingress(ipv6CidrBlocks=["::/0"])], {PORTS}),
    "a tag in capitals": ([bucket(Owner="ml", **{"Cost-Center": "4711"})], {"cost/tags"}),
    "a tag of blanks": ([bucket(owner=" ", **{"cost-center": "4711"})], {"cost/tags"}),
}


@pytest.mark.parametrize("way", WAYS)
def test_a_machine_or_an_entrance_in_disguise_is_refused(way: str) -> None:
    resources, rules = WAYS[way]
    assert denied(*resources) == rules


@pytest.mark.parametrize(
    "right",
    [
        [claim(asks(TYPE, "g6.xlarge"), asks(FAMILY, "g6"))],
        [compute_class({"machineFamily": "g2"}, {"machineType": "g2-standard-8"})],
        [gke(resourceLimits=gpus(4, 4))],
        [gke(resourceLimits=gpus(64), enabled=False)],
        [eks("203.0.113.0/024")],
        [bucket(**TAGS)],
    ],
    ids=["a claim", "a compute class", "few accelerators", "switched off", "an office", "tags"],
)
def test_what_is_within_the_limits_is_allowed(right: list[Json]) -> None:
    assert denied(*right) == set()
