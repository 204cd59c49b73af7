"""A platform whose GPUs are divided: what tenants, endpoints, quotas and queues then count."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from gpuyard.components import stack
from gpuyard.components.aws_platform import AwsPlatformSpec
from gpuyard.components.existing_platform import ExistingPlatformSpec
from gpuyard.components.scheduling import groups as classes
from gpuyard.components.scheduling import kueue
from gpuyard.components.serving.manifests import manifests
from gpuyard.components.tenancy import tenant
from gpuyard.components.validation import InvalidStack

AWS: dict[str, Any] = {
    "owner": "ml-platform",
    "cost_center": "4711",
    "cluster": {
        "cloud": "aws",
        "account": "111122223333",
        "region": "us-east-1",
        "kubernetes": "1.35",
        "network": {"cidr": "10.40.0.0/16", "zones": ["us-east-1a", "us-east-1b"]},
        "admins": ["arn:aws:iam::111122223333:role/platform"],
    },
    "node_groups": {
        "system": {"machine": "m7i.2xlarge", "nodes": {"min": 3, "max": 3}},
        "slices": {"machine": "p5.48xlarge", "nodes": {"min": 0, "max": 2}},
    },
}

MIXED = {"kind": "mig", "profiles": {"3g.40gb": 1, "1g.10gb": 4}}
SINGLE = {"kind": "mig", "profiles": {"1g.10gb": 7}}

SMALL = {
    "tenant": "fraud",
    "engine": "vllm",
    "on": "slices",
    "model": {"id": "Qwen/Qwen2.5-1.5B-Instruct", "revision": "0123456789abcdef0123456789abcdef01234567"},
    "weights": "4Gi",
    "replicas": {"min": 2, "max": 2},
}


def tenants(**shares: dict[str, Any]) -> dict[str, Any]:
    return {name: {"groups": [name], "monthly_budget": 1000, "accelerators": taken} for name, taken in shares.items()}


def platform(
    partition: dict[str, Any], shares: dict[str, Any], endpoints: dict[str, Any] | None = None
) -> AwsPlatformSpec:
    value = copy.deepcopy(AWS)
    value["node_groups"]["slices"]["partition"] = partition
    found = stack.load({**value, "tenants": shares, "endpoints": endpoints or {}}, "test")
    assert isinstance(found, AwsPlatformSpec)
    return found


def refused(*arguments: Any) -> str:
    with pytest.raises(InvalidStack) as raised:
        platform(*arguments)
    return str(raised.value)


def test_what_makes_gpus_whole_again_stays_where_gpus_could_be_cut() -> None:
    value = copy.deepcopy(AWS)
    whole = stack.load(value, "test")
    value["node_groups"]["slices"]["machine"] = "g6e.12xlarge"
    never = stack.load(value, "test")
    for spec, cuttable in ((whole, ["slices"]), (platform(SINGLE, {}), ["slices"]), (never, [])):
        assert isinstance(spec, AwsPlatformSpec)
        software = spec.nvidia_software()
        assert software is not None
        assert software.cuttable == cuttable


def test_a_share_of_slices_counts_slices() -> None:
    spec = platform(SINGLE, tenants(fraud={"slices": {"quota": 100, "borrow": 12}}))
    assert spec.accelerators("slices") == 112
    assert spec.free() == {"slices": 12}
    assert "never has more than 112" in refused(SINGLE, tenants(fraud={"slices": {"quota": 113}}))


def test_each_profile_of_a_mix_has_shares_classes_and_queues_of_its_own() -> None:
    shares = tenants(fraud={"slices/1g.10gb": {"quota": 3}}, chat={"slices/3g.40gb": {"quota": 2}})
    spec = platform(MIXED, shares)
    groups = spec.accelerator_groups()
    assert {key: (group.name, group.resource, group.accelerators) for key, group in groups.items()} == {
        "slices/3g.40gb": ("slices-3g.40gb", "nvidia.com/mig-3g.40gb", 16),
        "slices/1g.10gb": ("slices-1g.10gb", "nvidia.com/mig-1g.10gb", 64),
    }
    assert {name: list(queued) for name, queued in spec.queued().items()} == {
        "fraud": ["slices-1g.10gb"],
        "chat": ["slices-3g.40gb"],
    }
    queue = kueue.cluster_queue("fraud", list(groups.values()), spec.queued()["fraud"])
    [resources] = queue["spec"]["resourceGroups"]
    assert resources["coveredResources"] == ["nvidia.com/mig-1g.10gb"]
    quotas = [
        made["spec"]["hard"]
        for made in tenant.manifests("fraud", spec.tenants["fraud"], groups=groups, kubernetes="1.35")
        if made["metadata"]["name"] == "share-slices-1g.10gb"
    ]
    assert quotas == [{"requests.nvidia.com/mig-1g.10gb": "3"}]


def test_pods_of_a_slice_tolerate_the_whole_gpus_taint() -> None:
    groups = list(platform(MIXED, {}).accelerator_groups().values())
    for flavor in kueue.flavors(groups):
        [toleration] = flavor["spec"]["tolerations"]
        assert toleration["key"] == "nvidia.com/gpu"
    said = " ".join(rule["expression"] for rule in classes.policy(groups)["spec"]["validations"])
    assert '["", "nvidia.com/gpu"]' in said, "the taint that keeps pods off these nodes"


def test_a_pod_of_one_slices_class_may_not_take_another_slice_of_the_same_nodes_uncounted() -> None:
    def kept(partition: dict[str, Any]) -> list[str]:
        policy = classes.policy(list(platform(partition, {}).accelerator_groups().values()))
        return [rule["message"] for rule in policy["spec"]["validations"] if "alone" in rule["message"]]

    assert kept(MIXED) == [
        "pods of class gpuyard-slices-3g.40gb take nvidia.com/mig-3g.40gb alone: "
        "ask for no nvidia.com/mig-1g.10gb beside it",
        "pods of class gpuyard-slices-1g.10gb take nvidia.com/mig-1g.10gb alone: "
        "ask for no nvidia.com/mig-3g.40gb beside it",
    ]
    assert kept(SINGLE) == []


def test_who_names_a_mix_without_the_slice_is_told_which_there_are() -> None:
    said = refused(MIXED, tenants(fraud={"slices": {"quota": 1}}))
    assert "the GPUs of this node group are cut: give a share of slices/1g.10gb or slices/3g.40gb" in said
    said = refused(MIXED, tenants(fraud={"slices/1g.10gb": {"quota": 3}}), {"small": SMALL})
    assert "there is no node group slices: give one of system, slices/3g.40gb, slices/1g.10gb" in said
    said = refused(SINGLE, tenants(fraud={"slices/1g.10gb": {"quota": 3}}))
    assert "groups with accelerators are slices" in said


def container(spec: AwsPlatformSpec, endpoint: str) -> dict[str, Any]:
    part = spec.endpoints[endpoint]
    made = manifests(
        endpoint, part, placement=spec.placement(part.on, part.tenant), artifacts=spec.artifacts, labels={}
    )
    [deployment] = [one for one in made if one["kind"] == "Deployment"]
    pod: dict[str, Any] = deployment["spec"]["template"]["spec"]
    return pod


def test_an_endpoint_asks_for_the_slice_that_it_is_on() -> None:
    shares = tenants(fraud={"slices/1g.10gb": {"quota": 4}})
    pod = container(platform(MIXED, shares, {"small": {**SMALL, "on": "slices/1g.10gb"}}), "small")
    [server] = pod["containers"]
    assert server["resources"]["limits"]["nvidia.com/mig-1g.10gb"] == "1"
    assert "nvidia.com/gpu" not in server["resources"]["limits"]
    assert pod["priorityClassName"] == "gpuyard-slices-1g.10gb"
    assert pod["nodeSelector"] == {"gpuyard.io/node-group": "slices"}
    assert pod["tolerations"][0]["key"] == "nvidia.com/gpu"
    # Of 2048 GiB, three quarters for pods, an eighth a GPU, and of that one seventh of the slices' processors.
    assert server["resources"]["requests"]["memory"] == f"{int(2048 * 0.75 / 8 / 7)}Gi"


def test_a_replica_has_one_slice_for_no_program_computes_on_two() -> None:
    wide = {**SMALL, "tensor_parallel": 2}
    said = refused(SINGLE, tenants(fraud={"slices": {"quota": 4}}), {"small": wide})
    assert "parts of GPUs (nvidia.com/gpu), which cannot compute as one: leave it out" in said


def test_a_model_has_to_fit_into_the_slice() -> None:
    large = {**SMALL, "weights": "16Gi"}
    said = refused(SINGLE, tenants(fraud={"slices": {"quota": 4}}), {"small": large})
    assert "GiB of one 1g.10gb of p5.48xlarge: quantise, or choose a larger part" in said
    platform(SINGLE | {"profiles": {"3g.40gb": 2}}, tenants(fraud={"slices": {"quota": 4}}), {"small": large})


@pytest.mark.parametrize("kind", ["mps", "time_slicing"])
def test_gpus_without_walls_are_for_one_tenant(kind: str) -> None:
    shared = {"kind": kind, "clients": 4}
    one = {"slices": {"quota": 4}}
    assert platform(shared, tenants(fraud=one)).accelerators("slices") == 64
    assert f"{kind} keeps nobody's memory or faults from others" in refused(shared, tenants(fraud=one, chat=one))
    assert "fraud, chat have shares of the group: leave it to one of them" in refused(
        shared, tenants(fraud=one, chat=one)
    )
    platform(SINGLE, tenants(fraud=one, chat=one))


def test_by_mps_a_pod_leaves_the_shared_memory_to_the_daemon_that_it_talks_to_over_it() -> None:
    shares = tenants(fraud={"slices": {"quota": 4}})
    by_mps, in_turns = (
        container(platform({"kind": kind, "clients": 4}, shares, {"small": SMALL}), "small")
        for kind in ("mps", "time_slicing")
    )
    assert [volume["name"] for volume in by_mps["volumes"]] == [
        volume["name"] for volume in in_turns["volumes"] if volume["name"] != "shm"
    ]
    assert not any(mount["mountPath"] == "/dev/shm" for mount in by_mps["containers"][0]["volumeMounts"])  # noqa: S108


def test_mps_serves_one_user_so_engines_of_two_are_kept_apart() -> None:
    scores = {
        "tenant": "fraud",
        "engine": "triton",
        "on": "slices",
        "model": {"uri": "s3://models/fraud/12", "role": "arn:aws:iam::111122223333:role/fraud-read"},
        "weights": "4Gi",
        "replicas": {"min": 1, "max": 1},
    }
    shares = tenants(fraud={"slices": {"quota": 8}})
    both = {"small": SMALL, "scores": scores}
    assert "give each engine a group of its own" in refused({"kind": "mps", "clients": 4}, shares, both)
    platform({"kind": "time_slicing", "clients": 4}, shares, both)


def test_a_slice_of_a_cluster_that_others_run_is_named_the_same() -> None:
    value = {
        "owner": "fraud",
        "cost_center": "4711",
        "cluster": {"cloud": "existing", "kubernetes": "1.35", "kubeconfig": "~/.kube/config", "context": "prod"},
        "node_groups": {
            "dgx": {
                "machine": "dgx-h100",
                "count": 2,
                "selector": {"gpuyard.io/node-group": "slices"},
                "partition": MIXED,
            }
        },
        "tenants": tenants(fraud={"dgx/1g.10gb": {"quota": 4}}),
        "endpoints": {"small": {**SMALL, "on": "dgx/1g.10gb"}},
    }
    spec = stack.load(value, "serving")
    assert isinstance(spec, ExistingPlatformSpec)
    placement = spec.placement("dgx/1g.10gb", "fraud")
    assert placement.priority_class == "gpuyard-slices-1g.10gb"
    assert placement.offer
    assert placement.offer.resource == "nvidia.com/mig-1g.10gb"
