"""What a real Kubernetes, with Kueue, does with jobs that say how near their pods run: each test asserts its answer."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import pytest
from control_plane import kueue
from control_plane.plane import ControlPlane, KubectlError, Manifest
from control_plane.processes import until
from e2e.answers import KUEUE, active, finish, held, nodes_of, pods, runs
from e2e.shipped_cluster import job, on, platform, queues

from gpuyard.components.managed_platform import ManagedPlatformSpec
from gpuyard.components.scheduling import topology
from gpuyard.components.scheduling.groups import AcceleratorGroup, binding, policy, priority_classes
from gpuyard.components.scheduling.kueue import flavors
from gpuyard.components.scheduling.kueue_values import configuration
from gpuyard.components.tenancy.tenant import manifests

pytestmark = [pytest.mark.engine, pytest.mark.long]

BLOCK, RACK = LEVELS = ["example.com/block", "example.com/rack"]
RACKS = {"a": ["a1", "a2"], "b": ["b1", "b1"]}
"""Two blocks of two machines: those of a stand in two racks, those of b in one."""


def _changed(value: Any) -> None:
    dgx = value["node_groups"]["dgx"]
    dgx |= {
        "count": 4,
        "names": [f"dgx-{block}-{number}" for block in RACKS for number in range(2)],
        "topology": LEVELS,
    }
    value["node_groups"]["l40s"] = {"machine": "onprem-l40s-x4", "count": 1, "names": ["l40s-0"]}
    value["endpoints"] = {}
    value["tenants"] = {
        "vision": {
            "groups": ["vision"],
            "accelerators": {"dgx": {"quota": 32}, "l40s": {"quota": 4}},
            "monthly_budget": 1_000_000,
        }
    }


def _spec() -> ManagedPlatformSpec:
    spec = platform("onprem", _changed)
    assert isinstance(spec, ManagedPlatformSpec)
    return spec


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ControlPlane]:
    """Nodes of two groups, of which one has a topology, what their platform declares for jobs, and Kueue at work."""
    spec = _spec()
    groups = spec.accelerator_groups()
    with ControlPlane(tmp_path_factory.mktemp("cluster")) as plane:
        plane.crds("kueue")
        taints = [{"key": "nvidia.com/gpu", "value": "present", "effect": "NoSchedule"}]
        for block, racks in RACKS.items():
            for number, rack in enumerate(racks):
                labels = {**spec.selector("dgx"), BLOCK: block, RACK: rack}
                capacity = {"nvidia.com/gpu": "8"}
                plane.nodes(f"dgx-{block}-{number}", labels=labels, taints=taints, capacity=capacity)
        plane.nodes("l40s", labels=spec.selector("l40s"), taints=taints, capacity={"nvidia.com/gpu": "4"})
        with kueue.controller(plane, configuration()):
            plane.apply(_objects(spec, groups), token=plane.token("deployer"))
            until(lambda: active(plane, "clusterqueues/vision"), "the queue is active")
            until(lambda: _refused(plane, _near("probe", {})), "the policy is in force")
            yield plane


def _objects(spec: ManagedPlatformSpec, groups: dict[str, AcceleratorGroup]) -> list[Manifest]:
    known = list(groups.values())
    return [
        *priority_classes(known),
        *topology.topologies(group.levels for group in known),
        *flavors(known),
        *queues(spec),
        *manifests("vision", spec.tenants["vision"], groups=groups, kubernetes=spec.cluster.kubernetes),
        policy(known),
        binding(),
    ]


def _refused(plane: ControlPlane, manifest: Manifest) -> bool:
    """Whether the server takes nothing of it. It keeps nothing either way."""
    try:
        plane.apply([manifest], "--dry-run=server", token=plane.token("dana"))
    except KubectlError as error:
        return "how near" in str(error)
    return False


def _near(name: str, asks: dict[str, str], count: int = 1) -> Manifest:
    """A job of whole machines, whose pods say how near they run."""
    found = job(name, "vision", gpus=8, **on("dgx"))
    found["spec"] |= {"parallelism": count, "completions": count}
    found["spec"]["template"]["metadata"] = {"annotations": asks}
    return found


Put = Callable[..., str]


@pytest.fixture
def put(cluster: ControlPlane) -> Iterator[Put]:
    """Applies jobs as one of the tenant's people; they are gone after the test."""
    applied: list[Manifest] = []

    def apply(*jobs: Manifest) -> str:
        applied.extend(jobs)
        return cluster.apply(jobs, token=cluster.token("dana", "vision"))

    yield apply
    cluster.delete(applied)
    until(lambda: not cluster.get(f"{KUEUE}/workloads")["items"], "the queues are empty")


def blocks(plane: ControlPlane, name: str) -> list[str]:
    """The blocks of a job's pods, once all of them run."""
    return sorted(node.split("-")[1] for node in nodes_of(plane, "vision", f"job-name={name}"))


@pytest.mark.parametrize("level", LEVELS)
def test_all_pods_of_a_job_land_within_one_domain_of_the_level_that_it_requires(
    cluster: ControlPlane, put: Put, level: str
) -> None:
    put(_near("together", {topology.REQUIRED: level}, count=2))
    found = until(lambda: blocks(cluster, "together"), "both pods run")
    assert found in (["a", "a"], ["b", "b"]) if level == BLOCK else found == ["b", "b"], (
        "the one rack with two machines"
    )


def test_a_job_waits_while_no_domain_has_room_for_all_its_pods_though_the_group_has(
    cluster: ControlPlane, put: Put
) -> None:
    first = _near("first", {topology.REQUIRED: RACK}, count=2)
    put(first)
    assert until(lambda: blocks(cluster, "first"), "it runs") == ["b", "b"]
    put(_near("second", {topology.REQUIRED: RACK}, count=2))
    # Two machines of the other block are free, in two racks.
    until(lambda: held(cluster, "vision", "second"), "the second one is held")
    assert pods(cluster, "vision", "job-name=second") == []
    put(_near("third", {topology.PREFERRED: RACK}, count=2))
    assert until(lambda: blocks(cluster, "third"), "who only prefers a rack gets the nearest there is") == ["a", "a"]
    cluster.delete([first])
    assert until(lambda: blocks(cluster, "second"), "the second one has its rack") == ["b", "b"]


def test_a_job_that_does_not_say_it_is_told_what_to_write(cluster: ControlPlane) -> None:
    answer = cluster.refusal([_near("silent", {})], token=cluster.token("dana", "vision"))
    assert "jobs of class gpuyard-dgx say how near their pods run to each other" in answer
    assert f"{topology.UNCONSTRAINED}: 'true'" in answer


def test_a_job_that_does_not_mind_runs_anywhere_on_the_group(cluster: ControlPlane, put: Put) -> None:
    put(_near("anywhere", {topology.UNCONSTRAINED: "true"}, count=4))
    assert until(lambda: blocks(cluster, "anywhere"), "all four run") == ["a", "a", "b", "b"]


def test_a_group_without_a_topology_takes_jobs_as_ever_beside_one_that_has(cluster: ControlPlane, put: Put) -> None:
    put(job("plain", "vision", gpus=4, **on("l40s")))
    until(lambda: runs(cluster, "vision", "plain"), "it runs")
    assert nodes_of(cluster, "vision", "job-name=plain") == ["l40s-0"]
    finish(cluster, "vision", "plain")


def test_levels_that_change_make_a_new_flavor_which_the_queue_takes_and_the_old_one_goes(cluster: ControlPlane) -> None:
    spec = _spec()
    groups = spec.accelerator_groups()
    fewer = {key: replace(group, levels=LEVELS[:1]) if group.levels else group for key, group in groups.items()}
    [before], [after] = (
        [f for f in flavors(found.values()) if "topologyName" in f["spec"]] for found in (groups, fewer)
    )
    edited = before | {"spec": before["spec"] | {"topologyName": after["spec"]["topologyName"]}}
    assert "immutable" in cluster.refusal([edited]), "Kueue never lets it change in place"
    renamed = [
        *topology.topologies(group.levels for group in fewer.values()),
        *flavors(fewer.values()),
    ]
    name_of = {before["metadata"]["name"]: after["metadata"]["name"]}
    moved = [_renamed(manifest, name_of) for manifest in queues(spec)]
    cluster.apply([*renamed, *moved], "--force-conflicts")
    cluster.delete([before])
    until(lambda: active(cluster, "clusterqueues/vision"), "the queue works with the new one")
    cluster.apply([*flavors(groups.values()), *queues(spec)], "--force-conflicts")
    cluster.delete([after])


def _renamed(manifest: Manifest, name_of: dict[str, str]) -> Manifest:
    """A queue or cohort whose flavors have other names."""
    groups = [
        group
        | {"flavors": [flavor | {"name": name_of.get(flavor["name"], flavor["name"])} for flavor in group["flavors"]]}
        for group in manifest["spec"]["resourceGroups"]
    ]
    return manifest | {"spec": manifest["spec"] | {"resourceGroups": groups}}
