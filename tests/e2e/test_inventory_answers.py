"""`gpuyard inventory` asks a real API server, as a person who may list nodes and nothing else, and says what its nodes are."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import live_nodes
import pytest
from command import Answer, gpuyard, refused
from control_plane import kwok
from control_plane.plane import ControlPlane
from control_plane.processes import until
from made import program
from ruamel.yaml import YAML

pytestmark = pytest.mark.engine

RBAC = "rbac.authorization.k8s.io"
READER = "nobody"
"""The person of the control plane who may do nothing, until a test lets them list nodes."""

RIGHTS: list[dict[str, Any]] = [
    {
        "apiVersion": f"{RBAC}/v1",
        "kind": "ClusterRole",
        "metadata": {"name": "reads-nodes"},
        "rules": [{"apiGroups": [""], "resources": ["nodes"], "verbs": ["get", "list"]}],
    },
    {
        "apiVersion": f"{RBAC}/v1",
        "kind": "ClusterRoleBinding",
        "metadata": {"name": "reads-nodes"},
        "roleRef": {"apiGroup": RBAC, "kind": "ClusterRole", "name": "reads-nodes"},
        "subjects": [{"apiGroup": RBAC, "kind": "User", "name": READER}],
    },
]
"""What docs/on-prem.md says that the command needs."""


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ControlPlane]:
    """A cluster with the nodes of two others: a hall's, and a managed one's with taints."""
    with ControlPlane(tmp_path_factory.mktemp("inventory")) as plane:
        for name in ("aks", "lambda"):
            for pool in live_nodes.pools(name):
                made = [
                    kwok.node(n, pool["labels"], pool.get("taints", []), pool.get("capacity", {}))
                    for n in pool["nodes"]
                ]
                plane.apply(made)
                until(lambda made=made: all(ready(plane, n) for n in made), "the nodes are ready")
        yield plane


def ready(plane: ControlPlane, node: dict[str, Any]) -> bool:
    found = plane.get(f"/api/v1/nodes/{node['metadata']['name']}")
    return kwok.takes_pods(found, node["spec"].get("taints", []))


@pytest.fixture
def rights(cluster: ControlPlane) -> Iterator[None]:
    cluster.apply(RIGHTS)
    yield
    cluster.delete(RIGHTS)


def asked(cluster: ControlPlane, folder: Path, *options: object, token: str | None = None) -> Answer:
    """What the command answers a person who may list nodes, or the bearer of a token."""
    folder.mkdir(parents=True, exist_ok=True)
    kubeconfig = cluster.kubeconfig(folder / "config", token=token or cluster.token(READER))
    path = f"{program('kubectl').parent}{os.pathsep}/usr/bin{os.pathsep}/bin"
    return gpuyard("inventory", "--kubeconfig", kubeconfig, *options, PATH=path, HOME=str(folder))


def test_the_groups_are_those_of_the_cluster_and_their_labels_select_their_nodes(
    cluster: ControlPlane, rights: None, tmp_path: Path
) -> None:
    answer = asked(cluster, tmp_path)
    assert answer.code == 0, answer
    found = YAML(typ="safe", pure=True).load(answer.out)["config"]["gpuyard:platform"]
    assert found["cluster"]["context"] == "gpuyard"
    selected = {}
    for key, group in found["node_groups"].items():
        labels = ",".join(f"{label}={value}" for label, value in group["selector"].items())
        items = cluster.json("get", "nodes", f"--selector={labels}")["items"]
        assert len(items) == group["count"]
        capacities = {item["status"]["capacity"]["nvidia.com/gpu"] for item in items}
        taints = [item["spec"].get("taints", []) for item in items]
        selected[key] = group["machine"], sorted(item["metadata"]["name"] for item in items), capacities
        assert all(taint == group.get("taints", []) for taint in taints)
    assert sorted(selected.values()) == [
        ("onprem-a100-80-x4", ["aks-a100spot-41022170-vmss000000"], {"4"}),
        ("onprem-b200-x8", ["worker-3"], {"8"}),
        ("onprem-h100-80-x8", [f"aks-h100-10282168-vmss00000{n}" for n in range(3)], {"8"}),
        ("onprem-h100-80-x8", ["worker-1", "worker-2"], {"8"}),
    ]


def test_it_changes_nothing(cluster: ControlPlane, rights: None, tmp_path: Path) -> None:
    def nodes() -> dict[str, Any]:
        items = cluster.get("/api/v1/nodes")["items"]
        return {item["metadata"]["name"]: (item["metadata"]["labels"], item["spec"]) for item in items}

    before = nodes()
    asked(cluster, tmp_path)
    assert nodes() == before


def test_whoever_may_not_list_nodes_is_told_what_to_ask_for(cluster: ControlPlane, tmp_path: Path) -> None:
    out = tmp_path / "Pulumi.new.yaml"
    error = refused(asked(cluster, tmp_path / "home", "--out", out), 2)
    assert 'User "nobody" cannot list resource "nodes"' in error
    assert "ask for a ClusterRole with get and list of nodes" in error
    assert not out.exists()


def test_a_token_that_has_ended_is_told_from_missing_rights(
    cluster: ControlPlane, rights: None, tmp_path: Path
) -> None:
    assert "log in again" in refused(asked(cluster, tmp_path, token="ended"), 2)


def test_a_cluster_that_is_not_there_and_one_that_nobody_named(cluster: ControlPlane, tmp_path: Path) -> None:
    config = json.loads(cluster.kubeconfig(tmp_path / "config").read_text())
    config["clusters"][0]["cluster"] = {"server": "https://127.0.0.1:1"}
    login = {"apiVersion": "client.authentication.k8s.io/v1", "command": "no-such-login", "interactiveMode": "Never"}
    config["users"].append({"name": "login", "user": {"exec": login}})
    config["contexts"].append({"name": "login", "context": {"cluster": "gpuyard", "user": "login"}})
    del config["current-context"]
    (tmp_path / "config").write_text(json.dumps(config))
    path = f"{program('kubectl').parent}{os.pathsep}/usr/bin{os.pathsep}/bin"

    def error(*options: object) -> str:
        return refused(gpuyard("inventory", *options, PATH=path, HOME=str(tmp_path), KUBECONFIG=""), 2)

    here = ("--kubeconfig", tmp_path / "config")
    assert "the cluster does not answer" in error(*here, "--context", "gpuyard")
    assert "mend that first" in error(*here, "--context", "login")
    assert "give --context, one of those" in error(*here, "--context", "zz")
    assert "give a kubeconfig by --kubeconfig, and --context" in error(*here)
    assert "give a kubeconfig by --kubeconfig" in error("--kubeconfig", tmp_path / "none", "--context", "gpuyard")
