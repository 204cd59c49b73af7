"""Resource documents written by hand, in the shape that recorded Pulumi programs have."""

from __future__ import annotations

import copy
from typing import Any

Json = dict[str, Any]

PROJECT = "shop"
DATE = "2026-11-30"


def urn(stack: str, type_: str, name: str) -> str:
    return f"urn:pulumi:{stack}::{PROJECT}::{type_}::{name}"


def resource(type_: str, name: str, inputs: Json, *, stack: str = "dev", **more: Any) -> Json:
    """One resource; `depends_on` takes resources or URNs."""
    depends_on = [r if isinstance(r, str) else r["urn"] for r in more.pop("depends_on", [])]
    provider = more.pop("provider", "")
    return {
        "urn": urn(stack, type_, name),
        "type": type_,
        "name": name,
        "parent": "",
        "custom": True,
        "provider": provider if isinstance(provider, str) else provider["urn"],
        "inputs": copy.deepcopy(inputs),
        "unknown": [],
        "secret": [],
        "options": {"depends_on": depends_on} if depends_on else {},
    } | more


def kubernetes(manifest: Json, *, stack: str = "dev", **more: Any) -> Json:
    """An object as the typed class of its kind registers it."""
    api = manifest["apiVersion"]
    type_ = more.pop("type_", f"kubernetes:{api if '/' in api else f'core/{api}'}:{manifest['kind']}")
    name = more.pop("name", manifest.get("metadata", {}).get("name", "object"))
    return resource(type_, name, manifest, stack=stack, **more)


def document(resources: list[Json], *, stack: str = "dev", environment: str = "development", **more: Any) -> Json:
    """A document of these resources, without node groups unless `capacity` and `cost` say so."""
    return {
        "format": "gpuyard.document/1",
        "date": DATE,
        "project": PROJECT,
        "stack": stack,
        "environment": environment,
        "resources": sorted(resources, key=lambda r: str(r["urn"])),
        "cost": cost([]),
        "capacity": {"groups": [], "accelerators": {}, "total": 0, "tenants": {}},
    } | more


def cost(lines: list[Json], **more: Any) -> Json:
    """The cost part of a document."""
    total = {bound: sum((line["month"] or {}).get(bound, 0) for line in lines) for bound in ("min", "initial", "max")}
    return {
        "currency": "USD",
        "hours_a_month": 730,
        "prices": None,
        "lines": lines,
        "charges": [],
        "not_priced": [],
        "total": total,
        "usd_gpu_hour": dict.fromkeys(total),
        "unknown": [line["urn"] for line in lines if not line["month"]],
        "tenants": {},
        "shared": None,
    } | more


HARDENED = {
    "allowPrivilegeEscalation": False,
    "capabilities": {"drop": ["ALL"]},
    "readOnlyRootFilesystem": True,
    "runAsNonRoot": True,
    "seccompProfile": {"type": "RuntimeDefault"},
}


def pod_spec(image: str | None = "docker.io/vllm/vllm-openai:v0.32.0", **container: Any) -> Json:
    """A pod with one server that no rule objects to; what `securityContext` says goes over what it has."""
    context = HARDENED | container.pop("securityContext", {})
    server = {"name": "server", "image": image, "securityContext": context}
    return {"automountServiceAccountToken": False, "containers": [server | container]}


def workload(kind: str, spec: Json, *, namespace: str = "fraud", name: str = "model") -> Json:
    """The manifest of any kind that carries a pod."""
    metadata = {"name": name, "namespace": namespace}
    template = {"metadata": {"labels": {"app": name}}, "spec": spec}
    selector = {"matchLabels": {"app": name}}
    match kind:
        case "Pod":
            return {"apiVersion": "v1", "kind": kind, "metadata": metadata, "spec": spec}
        case "Job":
            return {"apiVersion": "batch/v1", "kind": kind, "metadata": metadata, "spec": {"template": template}}
        case "CronJob":
            job = {"schedule": "0 3 * * *", "jobTemplate": {"spec": {"template": template}}}
            return {"apiVersion": "batch/v1", "kind": kind, "metadata": metadata, "spec": job}
        case "ReplicationController":
            return {"apiVersion": "v1", "kind": kind, "metadata": metadata, "spec": {"template": template}}
        case "RayCluster":
            token = {"rayVersion": "2.60.1", "authOptions": {"mode": "token"}}
            cluster = token | {"headGroupSpec": {"rayStartParams": {}, "template": template}}
            return {"apiVersion": "ray.io/v1", "kind": kind, "metadata": metadata, "spec": cluster}
        case _:
            body = {"selector": selector, "template": template}
            return {"apiVersion": "apps/v1", "kind": kind, "metadata": metadata, "spec": body}
