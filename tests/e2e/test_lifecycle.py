"""Each shipped stack on the real engine: planned, deployed, left alone, changed, taken down, until nothing is left."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from agreement import RELEASE, disagreements
from control_plane.plane import ControlPlane
from control_plane.processes import until
from deployed import GPU_OPERATOR, KEPT, Deployed, deployed, node_labels
from engine.charts import ChartMirror
from engine.engine import ROOT, Engine
from shipped_cluster import objects

pytestmark = [pytest.mark.engine, pytest.mark.timeout(600)]

PACK = ROOT / "policies" / "analyzer"

Platform = Any
"""What a stack's file says, as its author edits it."""


def tenant(name: str, group: str, known_as: str) -> dict[str, str]:
    """What a new tenant with a share of a node group consists of; `known_as` is the group's first name."""
    inside = {
        "core/v1:LimitRange": "defaults",
        "rbac.authorization.k8s.io/v1:Role": "tenant",
        "rbac.authorization.k8s.io/v1:RoleBinding": "tenant",
        "kueue.x-k8s.io/v1beta2:LocalQueue": "default",
    }
    made = {
        f"gpuyard:index:Tenant::{name}",
        f"kubernetes:core/v1:Namespace::{name}",
        f"kubernetes:kueue.x-k8s.io/v1beta2:ClusterQueue::kueue-queue-{name}",
        *(f"kubernetes:{token}::{name}-{own}" for token, own in inside.items()),
        *(f"kubernetes:core/v1:ResourceQuota::{name}-{own}" for own in ("share", "unclassed", f"share-{known_as}")),
        *(
            f"kubernetes:networking.k8s.io/v1:NetworkPolicy::{name}-{own}"
            for own in ("default-deny", "allow-dns", "allow-own-pods")
        ),
    }
    return dict.fromkeys(made, "create")


def updates(*names: str) -> dict[str, str]:
    return dict.fromkeys(names, "update")


def rename_group(platform: Platform, old: str, new: str) -> None:
    """As docs/changing.md says: another key, `was`, and the key wherever the file names the group."""
    groups = platform["node_groups"]
    renamed = {new if key == old else key: part for key, part in groups.items()}
    groups.clear()
    groups.update(renamed)
    groups[new]["was"] = old
    for part in platform["tenants"].values():
        if old in part["accelerators"]:
            part["accelerators"][new] = part["accelerators"].pop(old)
    for part in platform["endpoints"].values():
        if part["on"] == old:
            part["on"] = new


@dataclass(frozen=True)
class Change:
    """An edit of a stack's file, and all that it does."""

    edit: Callable[[Platform], None]
    does: dict[str, str]
    """Operation by what it is done to."""


@dataclass(frozen=True)
class Life:
    """What is particular to one stack."""

    stack: str
    change: Change
    endpoints: dict[str, str]
    """Deployment to its namespace."""
    stays_in_the_cloud: set[str] = field(default_factory=set)
    """What the cloud itself keeps of what was deleted."""
    kinds_that_stay: set[str] = field(default_factory=lambda: KEPT)
    """What Helm leaves behind of a chart."""


def onprem(platform: Platform) -> None:
    rename_group(platform, "dgx", "h100")
    platform["endpoints"]["gpt-oss-120b"]["context"] = 32768
    platform["tenants"]["speech"] = {
        "groups": ["speech"],
        "accelerators": {"h100": {"quota": 4}},
        "monthly_budget": 20000,
    }
    platform["cluster"]["kubernetes"] = "1.36"
    platform["protect"] = False


ONPREM = Life(
    "onprem",
    Change(
        onprem,
        tenant("speech", "h100", "dgx")
        | updates(
            "gpuyard:index:Platform::onprem",
            "gpuyard:index:ExistingCluster::onprem",
            "gpuyard:index:NodeInventory::h100",
            "gpuyard:index:Tenant::vision",
            "gpuyard:index:Endpoint::gpt-oss-120b",
            "kubernetes:apps/v1:Deployment::gpt-oss-120b",
            # What nobody owns is less by the new tenant's share, and with it goes the room for one replica more in a
            # rollout: the endpoint's tenant may queue it instead.
            "kubernetes:kueue.x-k8s.io/v1beta2:Cohort::kueue-cohort",
            "kubernetes:kueue.x-k8s.io/v1beta2:ClusterQueue::kueue-queue-vision",
            # They pin the Pod Security Standard to the minor version.
            *(f"kubernetes:core/v1:Namespace::{name}" for name in ("keda", "kueue-system", "vision")),
        ),
    ),
    {"gpt-oss-120b": "vision"},
)


def prod_aws(platform: Platform) -> None:
    platform["node_groups"]["l40s"]["nodes"]["max"] = 8
    rename_group(platform, "h100", "hopper")
    platform["endpoints"]["fraud-score"]["replicas"]["min"] = 3
    platform["endpoints"]["llama-70b"]["context"] = 16384
    platform["tenants"]["ads"] = {"groups": ["ads"], "accelerators": {"l40s": {"quota": 4}}, "monthly_budget": 20000}
    platform["cluster"]["kubernetes"] = "1.36"
    platform["protect"] = False


PROD_AWS = Life(
    "prod-aws",
    Change(
        prod_aws,
        tenant("ads", "l40s", "l40s")
        | updates(
            "gpuyard:index:Platform::prod-aws",
            "gpuyard:index:EksCluster::prod-aws",
            "aws:eks/cluster:Cluster::prod-aws",
            *(f"aws:eks/nodeGroup:NodeGroup::{group}" for group in ("system", "hopper", "l40s")),
            *(f"gpuyard:index:EksNodeGroup::{group}" for group in ("hopper", "l40s")),
            # Its image has the cluster's minor version.
            "kubernetes:helm.sh/v3:Release::prod-aws-autoscaler",
            "gpuyard:index:Tenant::assistants",
            *(f"gpuyard:index:Endpoint::{name}" for name in ("fraud-score", "llama-70b")),
            "kubernetes:keda.sh/v1alpha1:ScaledObject::fraud-score",
            "kubernetes:apps/v1:Deployment::llama-70b",
            "kubernetes:kueue.x-k8s.io/v1beta2:Cohort::kueue-cohort",
            *(f"kubernetes:core/v1:Namespace::{name}" for name in ("keda", "kueue-system", "assistants", "fraud")),
        ),
    ),
    {"fraud-score": "fraud", "llama-70b": "assistants"},
    {"aws:kms/key:Key"},
)


def dev(platform: Platform) -> None:
    platform["node_groups"]["l4"]["nodes"]["max"] = 4
    rename_group(platform, "l4", "ada")
    platform["endpoints"]["qwen3-8b"]["context"] = 8192
    platform["tenants"]["ads"] = {
        "groups": ["ads@example.com"],
        "accelerators": {"ada": {"quota": 1}},
        "monthly_budget": 2000,
    }
    platform["cluster"]["kubernetes"] = "1.36"


DEV = Life(
    "dev",
    Change(
        dev,
        tenant("ads", "ada", "l4")
        | {"gcp:projects/iAMMember:IAMMember::dev-group-ads@example.com": "create"}
        | updates(
            "gpuyard:index:Platform::dev",
            "gpuyard:index:GkeCluster::dev",
            "gcp:container/cluster:Cluster::dev",
            "gpuyard:index:GkeAccess::dev",
            "gpuyard:index:GkeNodeGroup::ada",
            "gcp:container/nodePool:NodePool::ada",
            "gpuyard:index:Tenant::research",
            "gpuyard:index:Endpoint::qwen3-8b",
            "kubernetes:apps/v1:Deployment::qwen3-8b",
            *(f"kubernetes:core/v1:Namespace::{name}" for name in ("keda", "kueue-system", "research")),
        ),
    ),
    {"qwen3-8b": "research"},
    {"gcp:kms/keyRing:KeyRing", "gcp:kms/cryptoKey:CryptoKey", "gcp:projects/serviceIdentity:ServiceIdentity"},
    KEPT - GPU_OPERATOR,
)


@pytest.mark.parametrize("life", [ONPREM, PROD_AWS, DEV], ids=lambda life: life.stack)
def test_a_platform_from_nothing_to_nothing(life: Life, tmp_path: Path, charts: ChartMirror) -> None:
    with deployed(life.stack, tmp_path, charts) as stack:
        engine = stack.engine
        planned = engine.preview(pack=PACK)
        assert planned.policies() == []
        assert set(planned.changes) == {"create"}
        assert (stack.objects(), stack.cloud.left()) == (set(), []), "a preview makes nothing"

        assert engine.up().operations() == planned.operations(), "what was planned"
        assert disagreements(stack) == []
        first = _serving(stack, life)
        assert _values_that_did_not_arrive(stack) == []

        assert set(engine.preview().changes) == {"same"}

        engine.edit(life.change.edit)
        assert engine.up().done() == life.change.does
        assert disagreements(stack) == []
        rolled_out = {name for name, generation in _serving(stack, life).items() if generation != first[name]}
        assert rolled_out == {name.rpartition("::")[2] for name in life.change.does if ":Deployment::" in name}

        engine.destroy()
        assert stack.cloud.left() == []
        assert {thing.kind for thing in stack.cloud.remains()} == life.stays_in_the_cloud
        kinds = {name.rpartition("/")[2] for name in stack.objects() if not name.startswith("apiregistration.k8s.io/")}
        assert kinds == life.kinds_that_stay, "docs/teardown.md lists them"
        assert node_labels(stack.plane) == stack.labels


def _serving(stack: Deployed, life: Life) -> dict[str, int]:
    """Waits until each endpoint's pods run where they should; returns the revision of each that they are of."""
    found = {}
    for name, space in life.endpoints.items():
        path = f"/apis/apps/v1/namespaces/{space}/deployments/{name}"
        ready = until(lambda path=path: _rolled_out(stack.get(path)), f"{name} is served")
        found[name] = ready["metadata"]["generation"]
        for pod in stack.get(f"/api/v1/namespaces/{space}/pods?labelSelector=app.kubernetes.io/name%3D{name}")["items"]:
            labels = stack.get(f"/api/v1/nodes/{pod['spec']['nodeName']}")["metadata"]["labels"]
            assert pod["spec"]["nodeSelector"].items() <= labels.items()
    return found


def _rolled_out(deployment: Any) -> Any:
    status = deployment["status"]
    current = status.get("observedGeneration") == deployment["metadata"]["generation"]
    counts = {status.get(f"{which}Replicas") for which in ("ready", "updated", "available")} | {status.get("replicas")}
    return deployment if current and counts == {deployment["spec"]["replicas"]} else None


def _values_that_did_not_arrive(stack: Deployed) -> list[str]:
    """Helm's releases whose charts were given something else than the stack says."""
    releases = [r["inputs"] for r in stack.engine.export()["resources"] if r["type"] == RELEASE]
    assert releases
    wrong = []
    for release in releases:
        written = stack.get(f"/api/v1/namespaces/{release['namespace']}/configmaps/{release['name']}-values")
        if not _within(release["values"], json.loads(written["data"]["values"])):
            wrong.append(release["name"])
    return wrong


def _within(part: Any, whole: Any) -> bool:
    """Whether all of a value is in another that has more keys."""
    if isinstance(part, dict):
        return isinstance(whole, dict) and all(key in whole and _within(part[key], whole[key]) for key in part)
    return bool(part == whole)


TEAM, MODEL = "assistants", "qwen3-32b"


@contextlib.contextmanager
def platform_of_others(folder: Path) -> Iterator[ControlPlane]:
    """A cluster as the production stack leaves it to one of its tenants: a namespace with quotas, walls and rights."""
    with ControlPlane(folder) as plane:
        plane.crds("keda", "kueue", "prometheus-operator")
        declared = objects("prod-aws")
        shared = [o for o in declared if o["kind"] in ("PriorityClass", "ResourceFlavor", "Cohort", "ClusterQueue")]
        spaces = [o for o in declared if o["kind"] == "Namespace" and o["metadata"]["name"] == TEAM]
        inside = [o for o in declared if o["metadata"].get("namespace") == TEAM]
        own = [o for o in inside if "app.kubernetes.io/name" not in o["metadata"].get("labels", {})]
        policies = [o for o in declared if o["kind"].startswith("ValidatingAdmissionPolicy")]
        plane.apply([*shared, *spaces, *policies, *own])
        room = {"nvidia.com/gpu": "4", "cpu": "48", "memory": "384Gi"}
        plane.nodes("l40s", labels={"gpuyard.io/node-group": "l40s"}, capacity=room)
        yield plane


def test_a_team_ships_its_model_with_the_rights_of_its_namespace_alone(tmp_path: Path) -> None:
    with platform_of_others(tmp_path / "plane") as plane:
        before = plane.inventory()
        engine = Engine(
            tmp_path / "engine", "serving", plane=plane, context="prod-assistants", token=plane.token("ben", TEAM)
        )
        planned = engine.preview(pack=PACK)
        assert planned.policies() == []
        assert engine.up().operations() == planned.operations()
        path = f"/apis/apps/v1/namespaces/{TEAM}/deployments/{MODEL}"
        first = until(lambda: _rolled_out(plane.get(path)), "the model is served")["metadata"]["generation"]
        assert set(engine.preview().changes) == {"same"}

        engine.edit(lambda platform: platform["endpoints"][MODEL].update(context=16384))
        assert engine.up().done() == updates(
            "gpuyard:index:Platform::serving",
            f"gpuyard:index:Endpoint::{MODEL}",
            f"kubernetes:apps/v1:Deployment::{MODEL}",
        )
        assert until(lambda: _rolled_out(plane.get(path)), "the model is served")["metadata"]["generation"] != first

        engine.destroy()
        until(lambda: plane.inventory() == before, "nothing is left")
