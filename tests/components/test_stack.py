"""What a stack file may say: the shipped ones pass, and each mistake gets one sentence that helps."""

from __future__ import annotations

import copy
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML

from gpuyard.components.stack import load, stack_schema
from gpuyard.components.validation import InvalidStack

STACKS = Path(__file__).parents[2] / "stacks"
NAMES = sorted(path.name.removeprefix("Pulumi.").removesuffix(".yaml") for path in STACKS.glob("Pulumi.*.yaml"))


def shipped(stack: str) -> dict[str, Any]:
    content = YAML(typ="safe", pure=True).load((STACKS / f"Pulumi.{stack}.yaml").read_text())
    return copy.deepcopy(content["config"]["gpuyard:platform"])


@pytest.mark.parametrize("stack", NAMES)
def test_every_shipped_stack_is_valid(stack: str) -> None:
    load(shipped(stack), stack)


@pytest.mark.parametrize("stack", NAMES)
def test_every_shipped_stack_fits_the_schema_that_editors_use(stack: str) -> None:
    import jsonschema

    jsonschema.validate({"config": {"gpuyard:platform": shipped(stack)}}, stack_schema())


def test_the_schema_describes_every_key_and_calls_every_part_by_a_short_name() -> None:
    parts = stack_schema()["$defs"]
    assert "AwsClusterSpec" in parts
    assert [name for name in parts if "__" in name] == []
    undescribed = [
        f"{n}.{k}"
        for n, part in parts.items()
        for k, f in part.get("properties", {}).items()
        if not f.get("description")
    ]
    assert undescribed == [], "each field has a docstring: it is the documentation"


Change = Callable[[dict[str, Any]], object]

RESERVED = {"kind": "reservation", "id": "cr-0123456789abcdef0", "zone": "us-east-1a", "count": 4}

MISTAKES: list[tuple[str, Change, str]] = [
    ("prod-aws", lambda p: p["node_groups"]["h100"].update(capacity=RESERVED | {"count": 0}), "node_groups.h100.capacity.count: 0 (number) given: give 1 or more"),
    ("prod-aws", lambda p: p["node_groups"]["h100"].update(capacity=RESERVED | {"start": "x"}), "node_groups.h100.capacity.start: this key is not known: take it out; known here are count, id, kind, zone"),
    ("prod-aws", lambda p: p["node_groups"]["h100"].update(capacity=[RESERVED | {"zones": []}]), "node_groups.h100.capacity.0.zones: this key is not known: did you mean zone?"),
    ("prod-aws", lambda p: p["node_groups"]["h100"].update(zones=[]), "node_groups.h100.zones: a list given: give 1 or more"),
    ("prod-aws", lambda p: p["tenants"]["fraud"].update(monthly_budget=-1), "tenants.fraud.monthly_budget: -1 (number) given: give 0 or more"),
    ("prod-aws", lambda p: p["endpoints"]["fraud-score"]["replicas"].update(maximum=3), "replicas.maximum: this key is not known: did you mean max?"),
    ("prod-aws", lambda p: p.update(ownr="x"), "gpuyard:platform.ownr: this key is not known: did you mean owner?"),
    ("prod-aws", lambda p: p.pop("owner"), "gpuyard:platform.owner: is missing, and has no default: give it"),
    ("prod-aws", lambda p: p.update(cost_center=4711), "cost_center: 4711 (number) given: give a text in quotes"),
    ("prod-aws", lambda p: p["cluster"].update(account=111122223333), "cluster.account: 111122223333 (number) given"),
    ("prod-aws", lambda p: p["node_groups"]["l40s"].update(capacity="spot"), "node_groups.l40s.capacity: 'spot' (text) given: give a mapping of keys to values, such as {kind: spot}"),
    ("prod-aws", lambda p: p["node_groups"]["l40s"].update(disk="200GB"), "node_groups.l40s.disk: '200GB' (text) given: give an amount such as 200Gi"),
    ("prod-aws", lambda p: p["endpoints"]["llama-70b"]["model"].update(revision="main"), "'main' (text) given: give the whole commit id"),
    ("prod-aws", lambda p: p["cluster"].update(admins=["me@example.com"]), "cluster.admins.0: 'me@example.com' (text) given: give the ARN of an IAM role"),
    ("onprem", lambda p: p["node_groups"].update(other=dict(p["node_groups"]["dgx"])), "node_groups.other.names: dgx-01, dgx-02 of group dgx"),
    ("onprem", lambda p: p["cluster"].update(kubeconfig="apiVersion: v1"), "cluster.kubeconfig: 'apiVersion: v1' (text) given"),
    ("serving", lambda p: p["cluster"].update(prometheus="http://me:pw@prometheus"), "cluster.prometheus"),
    ("prod-aws", lambda p: p["cluster"].update(region="us-est-1", network={"cidr": "10.40.0.0/16", "zones": ["us-est-1a", "us-est-1b"]}), "cluster.region: region 'us-est-1' is not in the catalogue"),
    ("prod-aws", lambda p: p["cluster"].update(cloud="azure"), "cluster.cloud: is 'azure': give one of aws, gcp, onprem, existing"),
    ("prod-aws", lambda p: p.pop("cluster"), "cluster.cloud: is missing: give one of aws, gcp, onprem, existing"),
    ("prod-aws", lambda p: p["node_groups"]["h100"].update(machine="p5.49xlarge"), "node_groups.h100.machine: "),
    ("prod-aws", lambda p: p["node_groups"]["h100"]["nodes"].update(min=9), "node_groups.h100.nodes: min 9 is above max 4: raise max or lower min"),
    ("prod-aws", lambda p: p["node_groups"]["l40s"]["nodes"].update(max="six"), "node_groups.l40s.nodes.max: 'six' (text) given"),
    ("prod-aws", lambda p: p["node_groups"]["l40s"].update(zones=["us-east-1f"]), "node_groups.l40s: zone us-east-1f is not one of the cluster's"),
    ("prod-aws", lambda p: p["cluster"]["network"].update(zones=["us-east-1a", "eu-west-1a"]), "eu-west-1a"),
    ("prod-aws", lambda p: p["node_groups"].pop("system"), "node_groups: none has a machine without accelerators"),
    ("prod-aws", lambda p: p["node_groups"]["h100"]["capacity"].update(kind="rented"), "node_groups.h100.capacity: kind is 'rented': give one of"),
    ("prod-aws", lambda p: p["endpoints"]["llama-70b"].update(on="h200"), "endpoints.llama-70b.on: there is no node group h200: give one of system, h100, l40s"),
    ("prod-aws", lambda p: p["endpoints"]["llama-70b"].update(tenant="nobody"), "endpoints.llama-70b.tenant: there is no tenant nobody: give one of fraud, assistants"),
    ("prod-aws", lambda p: p["endpoints"]["llama-70b"].update(engine="vlm"), "vlm"),
    ("prod-aws", lambda p: p["endpoints"]["llama-70b"].update(tensor_parallel=3), "tensor_parallel"),
    ("prod-aws", lambda p: p["endpoints"]["llama-70b"].update(tensor_parallel=16), "tensor_parallel"),
    ("prod-aws", lambda p: p["endpoints"]["llama-70b"]["model"].update(revision=1.2e39), "put it in quotes"),
    ("prod-aws", lambda p: p["endpoints"]["llama-70b"]["replicas"].update(max=5), "endpoints may take 20 accelerators, and quota 16 and borrow 0 allow 16"),
    ("prod-aws", lambda p: p["tenants"]["assistants"]["accelerators"].pop("h100"), "of which it has no share: give it a quota of 16"),
    ("prod-aws", lambda p: p["tenants"]["fraud"]["accelerators"].update(b200={"quota": 1}), "tenants.fraud.accelerators.b200: there is no such node group"),
    ("dev", lambda p: p["cluster"].update(zones=["europe-west4-a"]), "europe-west4-a"),
    ("dev", lambda p: p["node_groups"]["l4"]["nodes"].update(initial=1), "node_groups.l4: "),
    ("dev", lambda p: p["endpoints"]["qwen3-8b"].pop("hours"), "give hours, or raise min to 1"),
    ("onprem", lambda p: p["node_groups"]["dgx"].update(count=3), "node_groups.dgx: count is 3, and 2 different names are given"),
    ("onprem", lambda p: p["node_groups"].update({"dgx-h200": p["node_groups"]["dgx"] | {"count": 1, "names": ["01"]}, "dgx": p["node_groups"]["dgx"] | {"names": ["dgx-01", "h200-01"]}}), "node_groups.dgx-h200: its node 01 and node h200-01 of group dgx would both be dgx-h200-01 in the stack's state: give the group another name"),
    ("serving", lambda p: p["cluster"].pop("prometheus"), "no Prometheus is known"),
    ("serving", lambda p: p.update(monitoring={"storage": "10Gi"}), "gpuyard:platform.monitoring: this key is not known"),
]  # fmt: skip


@pytest.mark.parametrize(("stack", "change", "sentence"), MISTAKES, ids=[sentence[:50] for _, _, sentence in MISTAKES])
def test_a_mistake_is_one_sentence_that_says_where_and_what_to_give(stack: str, change: Change, sentence: str) -> None:
    platform = shipped(stack)
    change(platform)
    with pytest.raises(InvalidStack) as refused:
        load(platform, stack)
    lines = str(refused.value).splitlines()
    assert sentence in lines[0], lines
    assert lines[0].startswith("gpuyard:platform")
    assert len(lines) == 1, "one mistake, one line"


@pytest.mark.parametrize("value", [None, 5, "text", [], True])
def test_a_platform_that_is_no_mapping_is_refused(value: object) -> None:
    with pytest.raises(InvalidStack, match="gpuyard:platform"):
        load(value, "dev")


def test_a_credential_that_was_pasted_into_a_stack_is_not_repeated() -> None:
    platform = shipped("prod-aws")
    platform["endpoints"]["llama-70b"]["model"]["token"] = "hf_0123456789"
    with pytest.raises(InvalidStack) as refused:
        load(platform, "prod-aws")
    assert "hf_0123456789" not in str(refused.value)


def test_a_name_that_aws_would_refuse_is_refused_first() -> None:
    load(shipped("prod-aws"), "a" * 30)
    for name in ("a" * 31, "prod.eu", "_prod"):
        with pytest.raises(InvalidStack, match="cannot name a cluster on AWS"):
            load(shipped("prod-aws"), name)


def test_a_name_that_google_cloud_would_refuse_is_refused_first() -> None:
    with pytest.raises(InvalidStack, match="cannot name a cluster on Google Cloud"):
        load(shipped("dev"), "a-stack-with-much-too-long-a-name")
