"""Kueue's real controller with its webhooks; it runs outside the cluster, as all programs here do."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from control_plane.api import is_healthy
from control_plane.certificates import Authority
from control_plane.plane import ControlPlane, Manifest
from control_plane.processes import Running
from made import files, program
from ruamel.yaml import YAML

NAMESPACE = "kueue-controller"
"""Ours alone: a platform's stack makes and deletes a namespace for its own release."""

SERVICE = "kueue-webhook-service"
SECRET = "kueue-webhook-server-cert"
"""As Kueue calls them where its configuration does not."""

CONVERTED = ("clusterqueues", "cohorts", "localqueues", "multikueueclusters", "workloads")
"""Kinds whose older versions the controller converts. Source: Kueue, pkg/util/cert."""

CHECKED = ("clusterqueues", "cohorts", "resourceflavors", "workloads")
"""Kueue's own kinds that its webhooks complete and check; beside them the jobs of the namespaces that it manages."""

SECONDS_TO_START = 60


@contextmanager
def controller(plane: ControlPlane, configuration: Mapping[str, Any]) -> Iterator[Running]:
    """Runs the controller on a plane that has Kueue's kinds; whoever made queues deletes them before it ends.

    `configuration` is what its chart gives it. Only where it listens, and who leads, differ.
    """
    folder = plane.folder / "kueue"
    folder.mkdir(exist_ok=True)
    plane.apply([{"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}}, _secret(folder)])
    started: list[Running] = []

    def start(port: int) -> None:
        # The controller looks for its webhooks when it starts, and puts its authority into them.
        plane.apply([_service(port), *_webhooks(configuration, port)])
        _convert(plane, _conversion(port))
        started.append(_start(plane, folder, configuration, port))

    try:
        plane.with_port(start)
        yield started[-1]
    finally:
        # Webhooks first: without their controller nothing of these kinds could be written.
        plane.delete(_webhooks(configuration, 0))
        _convert(plane, {"strategy": "None", "webhook": None})
        plane.programs.stop(*started)


def _start(plane: ControlPlane, folder: Path, configuration: Mapping[str, Any], port: int) -> Running:
    health = plane.free_port()
    own = {
        "namespace": NAMESPACE,
        "health": {"healthProbeBindAddress": f"127.0.0.1:{health}"},
        "metrics": {"bindAddress": "0"},
        "webhook": {"host": "127.0.0.1", "port": port, "certDir": str(folder)},
        "leaderElection": {"leaderElect": False},
        # Who asks for it reaches it through the API server's aggregator, which finds only Services.
        "featureGates": {"VisibilityOnDemand": False},
    }
    path = folder / "configuration.json"
    path.write_text(json.dumps({**configuration, **own}))
    kubeconfig = plane.kubeconfig(folder / "kubeconfig")
    command = [str(program("kueue")), f"--config={path}"]
    running = plane.programs.start("kueue", command, {"KUBECONFIG": str(kubeconfig)})
    running.wait(lambda: is_healthy(health, "/readyz"), SECONDS_TO_START)
    return running


def _secret(folder: Path) -> Manifest:
    """What Kueue would make by itself and its kubelet mount. One that is there and valid it takes as it is."""
    authority = Authority("kueue-ca")
    authority.issue(folder / "tls.crt", folder / "tls.key", [f"{SERVICE}.{NAMESPACE}.svc"])
    data = {
        "ca.crt": authority.certificate,
        "ca.key": authority.key,
        "tls.crt": (folder / "tls.crt").read_text(),
        "tls.key": (folder / "tls.key").read_text(),
    }
    return {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {"name": SECRET, "namespace": NAMESPACE},
        "data": {key: base64.b64encode(value.encode()).decode() for key, value in data.items()},
    }


def _service(port: int) -> Manifest:
    """The way from the API server to a webhook on loopback, where nobody routes the addresses of Services."""
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": SERVICE, "namespace": NAMESPACE},
        "spec": {"type": "ExternalName", "externalName": "localhost", "ports": [{"port": port}]},
    }


def _webhooks(configuration: Mapping[str, Any], port: int) -> list[Manifest]:
    """The webhooks of Kueue's own kinds and of jobs, as its chart declares them."""
    published = list(YAML(typ="safe", pure=True).load_all((files("kueue") / "manifests.yaml").read_text()))
    found = []
    for manifest in published:
        manifest["metadata"]["name"] = f"kueue-{manifest['metadata']['name']}"
        manifest["webhooks"] = [hook for hook in manifest["webhooks"] if _is_wanted(hook)]
        for hook in manifest["webhooks"]:
            hook["clientConfig"]["service"] |= _place(port)
            if _resources(hook) == {"jobs"}:
                hook["namespaceSelector"] = configuration["managedJobsNamespaceSelector"]
        found.append(manifest)
    return found


def _is_wanted(hook: Mapping[str, Any]) -> bool:
    groups = {group for rule in hook["rules"] for group in rule["apiGroups"]}
    resources = {resource.partition("/")[0] for resource in _resources(hook)}
    return (groups, resources) == ({"batch"}, {"jobs"}) or (groups == {"kueue.x-k8s.io"} and resources <= set(CHECKED))


def _resources(hook: Mapping[str, Any]) -> set[str]:
    return {resource for rule in hook["rules"] for resource in rule["resources"]}


def _conversion(port: int) -> Manifest:
    service = {**_place(port), "path": "/convert"}
    return {
        "strategy": "Webhook",
        "webhook": {"clientConfig": {"service": service}, "conversionReviewVersions": ["v1"]},
    }


def _convert(plane: ControlPlane, conversion: Manifest) -> None:
    for kind in CONVERTED:
        path = f"/apis/apiextensions.k8s.io/v1/customresourcedefinitions/{kind}.kueue.x-k8s.io"
        plane.patch(path, {"spec": {"conversion": conversion}})


def _place(port: int) -> Manifest:
    return {"name": SERVICE, "namespace": NAMESPACE, "port": port}
