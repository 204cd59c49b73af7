"""What a review cannot see: each way passes today, and stands with its reason in docs/limits-of-review.md."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pulumi
import pytest
import test_disguised_machines
import test_disguised_pods
import test_disguised_power
import test_disguised_programs
from documents import pod_spec, workload
from raw_programs import tenant
from test_disguised_machines import bucket
from test_disguised_pods import EVIL, MIGHTY, pod, serves, shell, values
from test_disguised_power import here
from verdicts import POLICIES, STACK, Json, custom, declared, denied, made, recorded, review

from gpuyard.review.evaluation.evaluate import find_policies

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "limits-of-review.md"
OWN = (test_disguised_machines, test_disguised_pods, test_disguised_power, test_disguised_programs)

DIGEST = f"sha256:{'ab' * 32}"
TOKEN = "hf_" + "aB3dE6gH" * 4 + "x9"


def deep(levels: int) -> Json:
    found: Json = {"containers": [MIGHTY]}
    for _ in range(levels):
        found = {"within": found}
    return custom("acme.example/v1", "Anything", found)


def settings(**data: str) -> Json:
    about = {"name": "settings", "namespace": "fraud"}
    return declared({"apiVersion": "v1", "kind": "ConfigMap", "metadata": about, "data": data})


def claimed() -> list[Json]:
    spec = pod_spec() | {"resourceClaims": [{"name": "gpu", "resourceClaimName": "eight"}]}
    devices = {"requests": [{"name": "gpu", "exactly": {"deviceClassName": "gpu.nvidia.com", "count": 8}}]}
    return [pod(spec), custom("resource.k8s.io/v1", "ResourceClaim", {"devices": devices}, "eight")]


LOCAL = {"local": {"path": "/var/lib/kubelet"}, "capacity": {"storage": "1Gi"}, "accessModes": ["ReadWriteOnce"]}
LISTENS = {"externalIPs": ["203.0.113.9"], "ports": [{"port": 8000}], "selector": {"app": "model"}}
INGRESS = {"apiVersion": "networking.k8s.io/v1", "kind": "Ingress"}
HOOK = {"apiVersion": "admissionregistration.k8s.io/v1", "kind": "MutatingWebhookConfiguration"}

UNSEEN: dict[str, Json] = {
    "what a chart makes": values(),
    "manifests as text among Helm values": values(extraDeploy=[json.dumps(workload("Pod", {"containers": [MIGHTY]}))]),
    "a registry for all images of a chart": values(**{"global": {"imageRegistry": "ghcr.io/acmeevil"}}),
    "what a shell command makes": made("command:local:Command", "apply", {"create": "kubectl apply -f pod.yaml"}),
    "what a dynamic provider makes": made("pulumi-python:dynamic:Resource", "pod", {"image": EVIL}),
    "another provider for the same cloud": made("aws-native:eks:Nodegroup", "gpu", {"instanceTypes": ["p5.48xlarge"]}),
    "a component of another program": made("eks:index:ManagedNodeGroup", "gpu", {}, custom=False, remote=True),
    "machines outside node groups": made("aws:autoscaling/group:Group", "gpu", {"maxSize": 100}),
}
"""These pass, and the report lists them as not judged."""

SILENT: dict[str, list[Json]] = {
    "a script in a ConfigMap": [
        serves(command=["/settings/run.sh"]),
        settings(**{"run.sh": "vllm serve /models/own --trust-remote-code"}),
    ],
    "an option from a ConfigMap": [
        serves("$(EXTRA)", envFrom=[{"configMapRef": {"name": "settings"}}]),
        settings(EXTRA="--trust-remote-code"),
    ],
    "a server's file of settings": [serves("--config", "/settings/vllm.yaml")],
    "a script that is encoded": [shell("echo dmxsbSBzZXJ2ZQ== | base64 -d | sh")],
    "a token in two halves": [
        pod(pod_spec(env=[{"name": "A", "value": TOKEN[:12]}, {"name": "B", "value": TOKEN[12:]}]))
    ],
    "a digest of another image": [pod(pod_spec(f"docker.io/vllm/vllm-openai:v0.32.0@{DIGEST}"))],
    "a pod in the namespace of operators": [
        declared(workload("Pod", {"containers": [MIGHTY]}, namespace="gpu-operator"))
    ],
    "a namespace that is called like GKE's own": [
        declared({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "gke-managed-evil"}})
    ],
    "an Ingress of a class that is public": [
        declared(INGRESS | {"metadata": {"name": "model", "namespace": "fraud"}, "spec": {"ingressClassName": "alb"}})
    ],
    "a patch of a Workflow's pods": [custom("argoproj.io/v1alpha1", "Workflow", {"podSpecPatch": '{"hostPID": true}'})],
    "a custom resource without a list of containers": [
        custom("acme.example/v1", "Server", {"image": EVIL, "privileged": True})
    ],
    "a pod below 24 levels": [deep(30)],
    "a webhook that changes pods": [declared(HOOK | {"metadata": {"name": "change"}, "webhooks": []})],
    "a local volume": [custom("v1", "PersistentVolume", LOCAL, "local", namespace=None)],
    "a role in another tenant's namespace": [here("edit", namespace="vision"), *tenant("vision", stack=STACK)],
    "devices by a claim that pods share": claimed(),
    "a service with addresses of one's own": [custom("v1", "Service", LISTENS)],
    "a tag that says nothing": [bucket(owner="-", **{"cost-center": "-"})],
}
"""These pass, and nothing says so."""

BY_CHOICE = {"limits of one's own that loosen", "what a program makes at the deployment only"}
"""These have a test of their own below."""


@pytest.mark.parametrize("way", UNSEEN)
def test_what_the_review_cannot_judge_passes_and_is_listed(way: str) -> None:
    found = review(UNSEEN[way])
    assert not found.refused
    assert [one.urn for one in found.unseen] == [UNSEEN[way]["urn"]]


@pytest.mark.parametrize("way", SILENT)
def test_what_is_out_of_reach_passes_today(way: str) -> None:
    assert denied(*SILENT[way], *tenant(stack=STACK)) == set()


def test_limits_of_ones_own_loosen_until_the_base_judges(tmp_path: Path) -> None:
    model = pod(pod_spec(EVIL))
    limits = tmp_path / "policies" / "limits"
    limits.mkdir(parents=True)
    (limits / "environments.yaml").write_text("strictest: production\nstacks: {}\n")
    (limits / "production.yaml").write_text("extends: gpuyard:production\nregistries: [ghcr.io/]\n")
    assert denied(model, policies=find_policies(tmp_path)) == set()
    assert denied(model, policies=POLICIES) == {"supply_chain/registries"}


def test_what_a_program_makes_at_the_deployment_only_is_not_recorded(tmp_path: Path) -> None:
    def build() -> None:
        if not pulumi.runtime.is_dry_run():
            test_disguised_programs.pod(EVIL)

    assert recorded(build, tmp_path) == []


def rows(heading: str) -> list[list[str]]:
    """The cells of the table below a heading of the page."""
    text = PAGE.read_text().split(f"## {heading}\n")[1].split("\n## ")[0]
    lines = [line for line in text.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[2:]]


def test_the_page_has_every_way_that_is_out_of_reach_and_no_other() -> None:
    listed = rows("Out of reach")
    assert all(len(row) == 3 and all(row) for row in listed), "way, reason, who stops it"
    assert sorted(row[0] for row in listed) == sorted({*UNSEEN, *SILENT, *BY_CHOICE})


def test_the_page_has_every_way_that_is_refused_and_where_that_is_tested() -> None:
    listed = {(row[0], row[2].strip("`")) for row in rows("Refused")}
    own = {(way, f"tests/attacks/{module.__name__}.py") for module in OWN for way in module.WAYS}
    assert {row for row in listed if "::" not in row[1]} == own
    assert len(listed) >= 40
    for way, where in listed - own:
        file, _, test = where.partition("::")
        assert re.search(rf"^def {test}\(", (ROOT / file).read_text(), re.MULTILINE), f"{way}: {where}"


def test_the_page_names_the_rule_that_refuses() -> None:
    by_way = {row[0]: set(re.findall(r"`(\w+/\w+)`", row[1])) for row in rows("Refused")}
    for module in OWN:
        ways: dict[str, tuple[Any, Any]] = module.WAYS
        for way, (_, rules) in ways.items():
            assert by_way[way] == ({rules} if isinstance(rules, str) else rules), way
