"""The pack finds what the review finds, in whatever order resources come, and nothing that a later one would cure."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from documents import kubernetes, pod_spec, resource, workload
from mutations import ALL, Mutation, mutated, mutations
from pack import EVERYBODYS, Json, Judged, grown, reviewed
from raw_programs import TAGS, raw_gcp, tenant
from refused_programs import BROKEN
from shipped import reviewed as shipped

from gpuyard.review.errors import InputError
from gpuyard.review.evaluation.evaluate import rulebook
from gpuyard.review.evaluation.findings import Finding
from gpuyard.review.recording.values import at

ORDERS = range(4)
EACH = 463
"""`make check` takes one mutation of so many, evenly; all of them run with `-m long`."""


def check(message: Any) -> None:
    """What real providers make of inputs before the engine shows them: names, defaults, and lists of these."""
    fields = message.properties.fields
    if message.type.startswith(("aws:", "gcp:")):
        mark(message.properties)
        for name, value in {"name": f"{message.name}-1a2b3c4", "forceDestroy": False}.items():
            if name not in fields:
                message.properties.update({name: value})
                fields["__defaults"].list_value.values.add().string_value = name
    elif message.type.startswith("kubernetes:helm.sh/"):
        message.properties.update({"atomic": False, "timeout": 300, "skipCrds": False, "valueYamlFiles": []})
        if "namespace" not in fields:
            message.properties.update({"namespace": "default"})
    elif message.type.startswith("kubernetes:") and fields["metadata"].HasField("struct_value"):
        name = fields["metadata"].struct_value.fields
        if "name" not in name:
            name["name"].string_value = f"{message.name}-1a2b3c4d"
            name["annotations"].struct_value.update({"pulumi.com/autonamed": "true"})


def mark(properties: Any) -> None:
    """Every block has a list of the defaults in it."""
    for value in list(properties.fields.values()):
        if value.HasField("struct_value"):
            mark(value.struct_value)
        for item in value.list_value.values:
            if item.HasField("struct_value"):
                mark(item.struct_value)
    properties.fields["__defaults"].list_value.SetInParent()


CHECKS: dict[str, Callable[[Any], None]] = {"as registered": lambda message: None, "as checked": check}


@pytest.mark.parametrize("checked", CHECKS.values(), ids=CHECKS)
@pytest.mark.parametrize("seed", ORDERS)
@pytest.mark.parametrize("name", ALL)
def test_a_program_breaks_the_same_rules(name: str, seed: int, checked: Callable[[Any], None]) -> None:
    resources = ALL[name]()["resources"]
    expected = reviewed(resources)
    judged = grown(resources, seed=seed, checked=checked)
    assert judged.last == expected
    assert bool(expected) == (name in BROKEN)


@pytest.mark.parametrize("checked", CHECKS.values(), ids=CHECKS)
@pytest.mark.parametrize("stack", ["dev", "onprem", "prod-aws", "serving"])
def test_a_shipped_stack_breaks_none(stack: str, checked: Callable[[Any], None]) -> None:
    review = shipped(stack)
    judged = grown(review.document["resources"], stack=stack, project="gpuyard", checked=checked)  # type: ignore[arg-type]
    assert judged.last == review.findings == []


def as_recorded(given: Json) -> Json:
    """A resource as a recording has it: what is not known is there, and null."""

    def hidden(path: str) -> bool:
        try:
            return at(given["inputs"], path) is None
        except (KeyError, IndexError, TypeError, ValueError):
            return False

    return given | {"unknown": [path for path in given["unknown"] if hidden(path)]}


def differences(chosen: list[Mutation]) -> list[str]:
    found = []
    for number, mutation in enumerate(chosen):
        resources = [as_recorded(one) for one in mutated(*mutation)["resources"]]
        judged = said(lambda resources=resources, number=number: grown(resources, seed=number).last)
        expected = said(lambda resources=resources: reviewed(resources))
        if judged != expected:
            found.append(f"{mutation}: {set(judged) ^ set(expected)}")
    return found


def said(judge: Callable[[], list[Finding]]) -> list[Any]:
    """The findings, or the error of a component of ours that is of a form that no spec gives it."""
    try:
        return judge()
    except InputError as error:
        return [str(error)]


def of_resources() -> list[Mutation]:
    """Mutations of what a program says; cost and capacity are worked out here, and not taken from anybody."""
    return [mutation for mutation in mutations() if mutation[1] >= 0]


def test_a_sample_of_mutated_programs_breaks_the_same_rules() -> None:
    assert differences(of_resources()[::EACH]) == []


@pytest.mark.long
@pytest.mark.timeout(1800)
def test_every_mutated_program_breaks_the_same_rules() -> None:
    assert differences(of_resources()) == []


# --- as early as it can be said


def rules(findings: list[Finding]) -> list[tuple[str, str]]:
    return [(finding.rule, finding.path) for finding in findings]


def nodes(name: str, most: int, machine: str = "g6.12xlarge", **inputs: Any) -> Json:
    given = {
        "instanceTypes": [machine],
        "launchTemplate": {"id": "lt-1"},
        "scalingConfig": {"minSize": 0, "desiredSize": 0, "maxSize": most},
        "region": "us-east-1",
        "tags": TAGS,
    }
    return resource("aws:eks/nodeGroup:NodeGroup", name, given | inputs)


def test_the_group_that_crosses_a_limit_is_told_before_it_is_created() -> None:
    groups = [nodes(name, 2) for name in ("a", "b", "c")]
    judged = grown(groups, seed=1)
    total = [finding for finding in judged.early if finding.path == "/capacity/total"]
    assert [finding.message.split(",")[0] for finding in total] == [
        "the node groups may grow to 24 accelerators (a 8"
    ], "16 are allowed in development, and the third group crosses that"
    assert judged.last == reviewed(groups)


def test_a_sum_that_goes_on_growing_is_said_anew() -> None:
    judged = grown([nodes("a", 6), nodes("b", 2)])
    totals = [finding for finding in judged.early if finding.path == "/capacity/total"]
    assert [finding.message.split(" acc")[0][-2:] for finding in totals] in (["24", "32"], ["32"])
    assert not [finding for finding in judged.late if finding.path == "/capacity/total"]


def test_a_tenants_budget_is_judged_when_the_tenant_comes() -> None:
    group = nodes("l4", 2, labels={"gpuyard.io/node-group": "l4"})
    shares = {"accelerators": {"l4": {"quota": 8}}, "monthly_budget": 10}
    vision = resource("gpuyard:index:Tenant", "vision", shares, custom=False, depends_on=[group])
    judged = grown([group, vision])
    assert ("cost/budget", "/cost/tenants/vision/worst") in rules(judged.early)
    assert judged.last == reviewed([group, vision])


def test_what_another_resource_may_cure_waits_for_all() -> None:
    namespace, policy, *rest = tenant("fraud")
    assert rules(grown([namespace, *rest]).early) == []
    assert rules(grown([namespace, *rest]).late) == [("isolation/default_deny", "/metadata/name")]
    assert grown([namespace, policy, *rest]).last == []


def test_a_machine_that_a_launch_template_names_waits_until_it_is_known_which() -> None:
    template = {
        "instanceType": "p5.48xlarge",
        "metadataOptions": {"httpTokens": "required", "httpPutResponseHopLimit": 1},
    }
    made = resource("aws:ec2/launchTemplate:LaunchTemplate", "gpu", template)
    group = nodes("gpu", 4)
    del group["inputs"]["instanceTypes"]
    group["inputs"]["launchTemplate"] = {"id": None}
    group["unknown"] = ["/launchTemplate/id"]
    group["options"] = {"depends_on": [made["urn"]]}
    judged = grown([made, group])
    assert rules(judged.early) == [("quota/machines", "/instanceType")]
    assert ("quota/max_accelerators", "/capacity/total") in rules(judged.late)
    assert judged.last == reviewed([made, group])


def test_zones_that_a_cluster_names_wait_until_it_is_known_which() -> None:
    """In one zone the pool may grow to 8 accelerators, in the three of a region to 24."""
    cluster = resource(
        "gcp:container/cluster:Cluster",
        "ml",
        {
            "location": "us-central1-a",
            "resourceLabels": TAGS,
            "removeDefaultNodePool": True,
            "privateClusterConfig": {"enablePrivateEndpoint": True, "enablePrivateNodes": True},
            "datapathProvider": "ADVANCED_DATAPATH",
        },
    )
    scaling = {"minNodeCount": 0, "maxNodeCount": 8}
    config = {"machineType": "g2-standard-8", "serviceAccount": "nodes@example-ml.iam.gserviceaccount.com"}
    pool = {"cluster": None, "autoscaling": scaling, "nodeConfig": config}
    given = resource("gcp:container/nodePool:NodePool", "l4", pool, unknown=["/cluster"], depends_on=[cluster])
    judged = grown([cluster, given])
    assert (judged.early, judged.late) == ([], []) == ([], reviewed([cluster, given]))


def test_a_name_that_the_provider_chose_says_which_cluster_a_pool_belongs_to() -> None:
    """At the engine the name is known before the update, so the labels of the cluster count for its pools at once."""
    resources = raw_gcp()["resources"]

    def name(message: Any) -> None:
        check(message)
        if message.type == "gcp:container/nodePool:NodePool":
            message.properties.fields["cluster"].string_value = "projects/p/locations/us-central1/clusters/ml-1a2b3c4"

    judged = grown(resources, checked=name)
    assert judged == Judged([], []), "without its cluster the pool would lack tags"


def test_a_pod_in_a_namespace_that_the_program_names_is_judged_when_it_comes() -> None:
    pod = kubernetes(workload("Pod", pod_spec(securityContext={"privileged": True}), namespace="elsewhere"))
    assert ("isolation/privileged", "/spec/containers/0/securityContext/privileged") in rules(grown([pod]).early)


def test_a_pod_in_a_namespace_that_is_not_known_yet_waits() -> None:
    operators = kubernetes({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "gpu-operator"}})
    pod = kubernetes(workload("Pod", pod_spec(securityContext={"privileged": True})), depends_on=[operators])
    pod["inputs"]["metadata"]["namespace"] = None
    pod["unknown"] = ["/metadata/namespace"]
    assert grown([operators, pod]) == Judged([], []), "its dependency says that it is an operator's"
    alone = pod | {"options": {}, "parent": operators["urn"]}
    judged = grown([operators, alone])
    assert judged.early == []
    assert [(f.rule, f.status) for f in judged.late] == [("isolation/privileged", "undetermined")]
    assert judged.last == reviewed([operators, alone])
    first = pod | {"options": {}}
    assert grown([first]).early == reviewed([first]), "it can be in no namespace of the program, for there is none yet"


def test_an_automatic_name_is_no_name() -> None:
    """A namespace that Pulumi names kube-tools-1a2b3c4d is none of the cluster's own, though kube-* is."""
    space = resource(
        "kubernetes:core/v1:Namespace", "kube-tools", {"apiVersion": "v1", "kind": "Namespace", "metadata": {}}
    )
    (finding,) = (one for one in grown([space], checked=check).last if one.rule == "isolation/default_deny")
    assert "namespace with a name that Pulumi chooses" in finding.message


def test_defaults_of_a_provider_never_decide() -> None:
    """What the program leaves out is judged as left out, whatever the provider fills in."""
    template = resource(
        "aws:ec2/launchTemplate:LaunchTemplate", "gpu", {"metadataOptions": {"httpEndpoint": "enabled"}}
    )

    def fill(message: Any) -> None:
        if message.type == template["type"]:
            mark(message.properties)
            options = message.properties.fields["metadataOptions"].struct_value
            for name, value in {"httpTokens": "required", "httpPutResponseHopLimit": 1}.items():
                options.update({name: value})
                options.fields["__defaults"].list_value.values.add().string_value = name

    found = rules(grown([template], checked=fill).early)
    assert [rule for rule, _ in found] == ["cloud/instance_metadata"] * 2
    assert grown([template], checked=fill).last == reviewed([template])


def test_every_early_rule_is_asked_early(tmp_path: Path) -> None:
    """A rule whose scope promises it has something to say before all resources are in."""
    old = tmp_path / "prices.csv"
    old.write_text(
        "cloud,region,machine,market,usd_hour,source,date\ngcp,us-central1,g2-standard-4,on_demand,0.7,old,2020-01-01\n"
    )
    quotas = tmp_path / "quotas.json"
    l4 = {"code": "NVIDIA_L4_GPUS", "name": "NVIDIA_L4_GPUS", "value": 0, "unit": "gpus"}
    about = {"format": "gpuyard.quotas/1", "cloud": "gcp", "account": "example-dev", "region": "us-central1"}
    quotas.write_text(json.dumps({**about, "fetched": "2020-01-01", "quotas": [l4]}))
    policies = replace(EVERYBODYS, prices=old, quotas=quotas)
    broken = [make() for make in BROKEN.values()]
    judged = [grown(one["resources"], stack=one["stack"], policies=policies) for one in broken]
    said = {finding.rule for one in judged for finding in one.early}
    assert said == {rule.id for rule in rulebook("dev", EVERYBODYS).rules.rules.values() if rule.scope != "stack"}
