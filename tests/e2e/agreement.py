"""Whether what the engine remembers is what exists."""

from __future__ import annotations

from typing import Any

from deployed import Deployed

from gpuyard.components.kubernetes import FIELD_MANAGER

CLOUDS = ("aws:", "gcp:")

NOTHING = {"kubernetes:core/v1:NodePatch"}
"""What makes no object of its own."""

RELEASE = "kubernetes:helm.sh/v3:Release"


def disagreements(stack: Deployed) -> list[str]:
    """What the state has and nobody else, what exists and the state lacks, and what was begun and not ended."""
    state = stack.engine.export()
    resources = state.get("resources", [])
    found = [f"pending: {entry['type']} of {entry['resource']['urn']}" for entry in state.get("pending_operations", [])]
    found += [f"to be deleted: {r['urn']}" for r in resources if r.get("delete") or r.get("pendingReplacement")]
    known = {(r["type"], r["id"]) for r in resources if r["type"].startswith(CLOUDS)}
    there = {(thing.kind, thing.id) for thing in stack.cloud.left()}
    found += [f"only in the state: {each}" for each in sorted(known - there)]
    found += [f"only in the cloud: {each}" for each in sorted(there - known)]
    objects = {_path(r) for r in resources if _is_object(r)}
    owned = _owned(stack)
    found += [f"only in the state: {path}" for path in sorted(objects - owned)]
    found += [f"only in the cluster: {path}" for path in sorted(owned - objects)]
    known_releases = {f"{r['outputs']['namespace']}/{r['outputs']['name']}" for r in resources if r["type"] == RELEASE}
    installed = releases(stack)
    found += [f"release only in the state: {name}" for name in sorted(known_releases - installed.keys())]
    found += [f"release only in the cluster: {name}" for name in sorted(installed.keys() - known_releases)]
    found += [f"release {name} is {status}" for name, status in sorted(installed.items()) if status != "deployed"]
    return found


def _is_object(resource: dict[str, Any]) -> bool:
    token = str(resource["type"])
    return token.startswith("kubernetes:") and token not in NOTHING and token != RELEASE


def _path(resource: dict[str, Any]) -> str:
    """`ResourceQuota fraud/share`. As the API server has it: before it knows a kind, the provider takes it for one of
    namespaces."""
    metadata = resource["outputs"]["metadata"]
    return f"{resource['outputs']['kind']} {metadata.get('namespace', '')}/{metadata['name']}"


def _owned(stack: Deployed) -> set[str]:
    """Every object in the cluster that says that a stack of ours declared it. A ReplicaSet says so too, of its
    Deployment, which owns it; and a Node, of which a patch owns some labels."""
    every = [(item["kind"], item["metadata"]) for item in stack.plane.everything().values()]
    return {
        f"{kind} {metadata.get('namespace', '')}/{metadata['name']}"
        for kind, metadata in every
        if FIELD_MANAGER in metadata.get("annotations", {}) and "ownerReferences" not in metadata and kind != "Node"
    }


def releases(stack: Deployed) -> dict[str, str]:
    """Helm's releases in the cluster, by namespace and name, and how the last revision of each is."""
    found = stack.plane.get("/api/v1/secrets?labelSelector=owner%3Dhelm")["items"]
    labels = [(item["metadata"]["namespace"], item["metadata"]["labels"]) for item in found]
    return {
        f"{space}/{own['name']}": own["status"] for space, own in sorted(labels, key=lambda e: int(e[1]["version"]))
    }
