"""Clusters that never were: the nodes of tests/data/clusters as an API server lists them, and a kubectl that says so."""

from __future__ import annotations

import json
import os
import shlex
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML

CLUSTERS = Path(__file__).parent / "data" / "clusters"
NAMES = sorted(path.stem for path in CLUSTERS.glob("*.yaml"))


def pools(cluster: str) -> list[dict[str, Any]]:
    """Nodes that are alike, as the file has them."""
    found: list[dict[str, Any]] = YAML(typ="safe", pure=True).load((CLUSTERS / f"{cluster}.yaml").read_text())
    return found


def node_list(cluster: str) -> dict[str, Any]:
    """What `GET /api/v1/nodes` answers."""
    return {
        "kind": "NodeList",
        "apiVersion": "v1",
        "metadata": {"resourceVersion": "81044"},
        "items": [node(name, pool) for pool in pools(cluster) for name in pool["nodes"]],
    }


def node(name: str, pool: dict[str, Any]) -> dict[str, Any]:
    """A node as its kubelet keeps it, with what has nothing to do with accelerators too."""
    usual = {"cpu": "96", "memory": "1900Gi", "pods": "110", "hugepages-2Mi": "0", "ephemeral-storage": "1000Gi"}
    labels = {"kubernetes.io/os": "linux", "kubernetes.io/hostname": name, **pool["labels"]}
    return {
        "metadata": {
            "name": name,
            "uid": f"uid-{name}",
            "labels": labels,
            "annotations": {"node.alpha.kubernetes.io/ttl": "0"},
        },
        "spec": {"providerID": f"made-up://{name}", **({"taints": pool["taints"]} if pool.get("taints") else {})},
        "status": {
            "capacity": {**usual, **pool.get("capacity", {})},
            "allocatable": {**usual, "cpu": "94", **pool.get("capacity", {})},
            "conditions": [
                {"type": "MemoryPressure", "status": "False", "reason": "KubeletHasSufficientMemory"},
                {"type": "Ready", "status": "True", "reason": "KubeletReady"},
            ],
            "nodeInfo": {"kubeletVersion": pool["kubelet"], "architecture": "amd64", "operatingSystem": "linux"},
            "images": [{"names": ["docker.io/library/busybox:1"], "sizeBytes": 1}],
        },
    }


def kubectl(folder: Path, answer: str = "", *, error: str = "", context: str = "prod") -> str:
    """A PATH whose kubectl answers so; what it was asked lies in the file `asked` of the folder."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "answer").write_text(answer)
    (folder / "error").write_text(error)
    program = folder / "kubectl"
    here = shlex.quote(str(folder))
    program.write_text(
        f'#!/bin/sh\necho "$@" >> {here}/asked\n'
        f'if [ "$1 $2" = "config current-context" ]; then echo {shlex.quote(context)}; exit 0; fi\n'
        f"cat {here}/answer; cat {here}/error >&2; [ ! -s {here}/error ]\n"
    )
    program.chmod(0o700)
    return f"{folder}{os.pathsep}/usr/bin{os.pathsep}/bin"


def cluster(folder: Path, name: str) -> str:
    """A PATH whose kubectl knows one of the clusters."""
    return kubectl(folder, json.dumps(node_list(name)), context=name)
