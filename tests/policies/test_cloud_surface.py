"""What programs that never heard of gpuyard show of themselves to a cloud: one change is one finding, and what is right
gives none. Values that only a deployment tells are undetermined where a rule needs them, and nowhere else."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from documents import document, kubernetes, resource
from raw_programs import TAGS, unknown
from refused_programs import trust

from gpuyard.review.evaluation.evaluate import evaluate, find_policies

Json = dict[str, Any]

POLICIES = find_policies(Path("/nonexistent"))
RULES = {
    "cloud/deletion",
    "cloud/encryption",
    "cloud/entrances",
    "cloud/node_permissions",
    "cloud/open_ports",
    "cloud/public_addresses",
    "cloud/regions",
    "supply_chain/signatures",
}
Found = list[tuple[str, str, str, str]]


def found(*resources: Json, stack: str = "prod", **more: Any) -> Found:
    """What these rules say by the limits of production: rule, resource, path, and level or `undetermined`."""
    environment = "production" if stack == "prod" else "development"
    given = document(list(resources), stack=stack, environment=environment, **more)
    return [
        (f.rule.rpartition("/")[2], f.urn.rpartition("::")[2], f.path, f.level if f.status == "violation" else f.status)
        for f in evaluate(given, POLICIES, choice="embedded").findings
        if f.rule in RULES
    ]


def made(type_: str, name: str, inputs: Json, **more: Any) -> Json:
    return resource(type_, name, inputs, stack="prod", **more)


def role(service: str = "ec2", **inputs: Any) -> Json:
    return made("aws:iam/role:Role", "nodes", {"assumeRolePolicy": json.dumps(trust(service))} | inputs)


def allowed(*statements: Json) -> str:
    return json.dumps({"Version": "2012-10-17", "Statement": [{"Effect": "Allow", **one} for one in statements]})


ALL_OF_S3 = {"Action": "s3:*", "Resource": "*"}


def test_rules_of_a_security_group_are_judged_wherever_they_stand() -> None:
    group = made("aws:ec2/securityGroup:SecurityGroup", "ray", {"vpcId": "vpc-1"})
    rule = {"protocol": "tcp", "fromPort": 8265, "toPort": 8265, "cidrBlocks": ["0.0.0.0/0"]}
    inline = made("aws:ec2/securityGroup:SecurityGroup", "inline", {"ingress": [rule]})
    beside = made(
        "aws:ec2/securityGroupRule:SecurityGroupRule", "old", rule | {"type": "ingress", "securityGroupId": None}
    )
    newer = {"ipProtocol": "tcp", "fromPort": 8265, "toPort": 8265, "cidrIpv4": "0.0.0.0/0", "securityGroupId": None}
    new = made("aws:vpc/securityGroupIngressRule:SecurityGroupIngressRule", "new", newer, depends_on=[group])
    for one in (beside, new):
        unknown(one, "/securityGroupId")
    assert found(group, inline, beside, new) == [
        ("open_ports", "inline", "/ingress/0/cidrBlocks/0", "mandatory"),
        ("open_ports", "old", "/cidrBlocks/0", "mandatory"),
        ("open_ports", "new", "/cidrIpv4", "mandatory"),
    ]


def test_a_network_that_is_not_known_matters_to_a_port_of_a_model_server_only() -> None:
    def rule(port: int) -> Json:
        inputs = {"ipProtocol": "tcp", "fromPort": port, "toPort": port, "cidrIpv4": None}
        made_ = made("aws:vpc/securityGroupIngressRule:SecurityGroupIngressRule", f"p{port}", inputs)
        unknown(made_, "/cidrIpv4")
        return made_

    assert found(rule(443), rule(8000)) == [("open_ports", "p8000", "/cidrIpv4", "undetermined")]


def test_a_listener_is_joined_with_what_stands_behind_it() -> None:
    balancer = made("aws:lb/loadBalancer:LoadBalancer", "front", {"tags": TAGS})
    target = made("aws:lb/targetGroup:TargetGroup", "models", {"port": 8000})
    inputs: Json = {"loadBalancerArn": None, "defaultActions": [{"type": "forward", "targetGroupArn": None}]}
    listener = made("aws:lb/listener:Listener", "front", inputs, depends_on=[balancer, target])
    for pointer in ("/loadBalancerArn", "/defaultActions/0/targetGroupArn"):
        unknown(listener, pointer)
    assert found(balancer, target, listener) == [
        ("open_ports", "front", "/defaultActions/0/targetGroupArn", "mandatory")
    ]
    balancer["inputs"]["internal"] = True
    assert found(balancer, target, listener) == []


def test_a_policy_is_joined_with_the_role_that_machines_take() -> None:
    nodes = role()
    inline = made(
        "aws:iam/rolePolicy:RolePolicy", "inline", {"role": None, "policy": allowed(ALL_OF_S3)}, depends_on=[nodes]
    )
    policy = made("aws:iam/policy:Policy", "policy", {"policy": allowed(ALL_OF_S3)})
    names = {"role": None, "policyArn": None}
    attached = made("aws:iam/rolePolicyAttachment:RolePolicyAttachment", "attached", names, depends_on=[nodes, policy])
    unknown(inline, "/role")
    unknown(attached, "/role")
    unknown(attached, "/policyArn")
    expected = [
        ("node_permissions", "policy", "/policy", "mandatory"),
        ("node_permissions", "inline", "/policy", "mandatory"),
    ]
    assert sorted(found(nodes, inline, policy, attached)) == sorted(expected)
    pods = role("pods.eks")
    assert found(pods, inline, policy, attached) == [], "whoever else takes the role is judged by others"


def test_a_policy_that_is_not_known_is_undetermined_for_nodes() -> None:
    nodes = role()
    inputs = {"role": None, "policy": None}
    policy = made("aws:iam/rolePolicy:RolePolicy", "inline", inputs, depends_on=[nodes])
    unknown(policy, "/role")
    unknown(policy, "/policy")
    assert found(nodes, policy) == [("node_permissions", "inline", "/policy", "undetermined")]
    assert found(role("pods.eks"), policy) == []


def test_who_takes_a_role_may_be_told_by_a_node_group() -> None:
    nodes = role(assumeRolePolicy=None, managedPolicyArns=["arn:aws:iam::aws:policy/AdministratorAccess"])
    unknown(nodes, "/assumeRolePolicy")
    assert found(nodes) == []
    inputs = {"nodeRoleArn": None, "tags": TAGS}
    group = made("aws:eks/nodeGroup:NodeGroup", "gpu", inputs, depends_on=[nodes])
    unknown(group, "/nodeRoleArn")
    assert ("node_permissions", "nodes", "/managedPolicyArns/0", "mandatory") in found(nodes, group)


def test_a_role_is_joined_with_the_account_of_a_node_pool() -> None:
    account = made("gcp:serviceaccount/account:Account", "nodes", {"accountId": "nodes"})
    pool = made("gcp:container/nodePool:NodePool", "l4", {"nodeConfig": {"serviceAccount": None}}, depends_on=[account])
    member = {"role": "roles/storage.admin", "member": None}
    binding = made("gcp:projects/iAMMember:IAMMember", "storage", member, depends_on=[account])
    unknown(pool, "/nodeConfig/serviceAccount")
    unknown(binding, "/member")
    assert found(account, pool, binding) == [("node_permissions", "storage", "/role", "mandatory")]
    binding["inputs"]["role"] = "roles/container.defaultNodeServiceAccount"
    assert found(account, pool, binding) == []
    assert found(account, binding) == [], "an account that runs no nodes is not judged"


def test_public_subnets_of_a_node_group_are_found() -> None:
    public = made("aws:ec2/subnet:Subnet", "public", {"mapPublicIpOnLaunch": True})
    inputs = {"subnetIds": [None], "tags": TAGS}
    group = made("aws:eks/nodeGroup:NodeGroup", "gpu", inputs, depends_on=[public])
    unknown(group, "/subnetIds/0")
    assert ("public_addresses", "gpu", "/subnetIds/0", "mandatory") in found(public, group)
    public["inputs"]["mapPublicIpOnLaunch"] = False
    assert found(public, group) == []


@pytest.mark.parametrize(
    ("type_", "inputs", "protect", "expected"),
    [
        ("aws:eks/cluster:Cluster", {"encryptionConfig": {}}, False, [("deletion", "/deletionProtection", "advisory")]),
        ("aws:eks/cluster:Cluster", {"encryptionConfig": {}}, True, []),
        ("aws:s3/bucketV2:BucketV2", {"forceDestroy": True}, False, [("deletion", "/forceDestroy", "mandatory")]),
        ("aws:s3/bucket:Bucket", {}, False, []),
        ("aws:efs/fileSystem:FileSystem", {}, True, [("encryption", "/encrypted", "mandatory")]),
        ("aws:ebs/volume:Volume", {"size": 8}, True, [("encryption", "/encrypted", "advisory")]),
    ],
)
def test_stores_are_protected_and_encrypted(type_: str, inputs: Json, protect: bool, expected: Any) -> None:
    store = made(type_, "store", inputs | {"tags": TAGS}, options={"protect": True} if protect else {})
    assert [(rule, path, level) for rule, _, path, level in found(store)] == expected


def test_an_encryption_that_is_not_known_is_undetermined() -> None:
    volume = made("aws:ebs/volume:Volume", "data", {"encrypted": None})
    unknown(volume, "/encrypted")
    assert found(volume) == [("encryption", "data", "/encrypted", "undetermined")]


def test_development_needs_no_protection_from_deletion() -> None:
    bucket = resource("aws:s3/bucket:Bucket", "models", {"forceDestroy": True})
    assert found(bucket, stack="dev") == []


def test_places_are_those_of_resources_and_of_their_providers() -> None:
    provider = made("pulumi:providers:aws", "far", {"region": "me-south-1"})
    bucket = made("aws:s3/bucket:Bucket", "models", {"tags": TAGS}, provider=provider)
    moved = made("aws:s3/bucket:Bucket", "moved", {"region": "eu-west-1", "tags": TAGS}, provider=provider)
    assert found(provider, bucket, moved) == [("regions", "far", "/region", "mandatory")]
    away = made("aws:s3/bucket:Bucket", "away", {"region": "sa-east-1", "tags": TAGS})
    assert found(away) == [("regions", "away", "/region", "mandatory")]


def test_the_region_of_the_configuration_is_judged_where_a_resource_takes_it() -> None:
    defaults = {"aws": {"inputs": {"region": "me-south-1"}}}
    bucket = made("aws:s3/bucket:Bucket", "models", {"tags": TAGS})
    elsewhere = made("aws:s3/bucket:Bucket", "models", {"region": "eu-west-1", "tags": TAGS})
    stack = [("regions", "shop-prod", "/config/aws:region", "mandatory")]
    assert found(bucket, default_providers=defaults) == stack
    assert found(elsewhere, default_providers=defaults) == []


def service(**spec: Any) -> Json:
    manifest = {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": "chat", "namespace": "fraud"},
        "spec": {"type": "LoadBalancer", "ports": [{"port": 443}]} | spec,
    }
    return kubernetes(manifest, stack="prod", name="chat")


def test_a_public_service_is_one_finding_whatever_its_port() -> None:
    assert found(service()) == [("entrances", "chat", "/spec/type", "mandatory")]
    assert found(service(ports=[{"port": 80, "targetPort": 8000}])) == [
        ("open_ports", "chat", "/spec/type", "mandatory")
    ]
    assert found(service(loadBalancerSourceRanges=["203.0.113.0/24"])) == []


@pytest.mark.parametrize(
    "pointer", ["/metadata/annotations", "/spec/loadBalancerSourceRanges", "/spec/loadBalancerClass"]
)
def test_a_service_that_may_be_internal_is_undetermined(pointer: str) -> None:
    given = service()
    unknown(given, pointer)
    assert found(given) == [("entrances", "chat", "/spec/type", "undetermined")]


def test_a_service_that_may_be_a_load_balancer_is_undetermined() -> None:
    given = service(type=None)
    unknown(given, "/spec/type")
    assert found(given) == [("entrances", "chat", "/spec/type", "undetermined")]
