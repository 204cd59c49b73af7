"""Objects as a cluster is asked to take them, and what `gpuyard admission` and the review say of each."""

from __future__ import annotations

import json
import subprocess
from functools import cache
from pathlib import Path

from documents import Json, document, kubernetes, pod_spec, workload
from mutations import ALL

from gpuyard.review.admission.gatekeeper import Admission, admission
from gpuyard.review.admission.rego import ENTRY
from gpuyard.review.evaluation import limits
from gpuyard.review.evaluation.engines import Embedded
from gpuyard.review.evaluation.evaluate import find_policies
from gpuyard.review.evaluation.prepare import known, prepare
from gpuyard.review.evaluation.rules import RuleSet, load

ENVIRONMENT = "development"
POLICIES = find_policies(Path("/nonexistent"))

Told = set[tuple[str, str, str]]
"""Level, path and message."""


@cache
def rules() -> RuleSet:
    return load(POLICIES.directories)


@cache
def given_limits() -> Json:
    return limits.limits("dev", ENVIRONMENT, POLICIES.limits, rules().thresholds)


@cache
def given() -> Admission:
    return admission(rules(), POLICIES.directories[0], ENVIRONMENT, given_limits())


@cache
def objects() -> list[Json]:
    """Every object of the programs that break every rule and of those that break none, each once; and some more."""
    found: list[Json] = []
    recorded = [resource for make in ALL.values() for resource in make()["resources"]]
    for inputs in [*(known(one["inputs"]) for one in recorded if alone(one)), *more()]:
        if inputs not in found:
            found.append(inputs)
    return found


def alone(resource: Json) -> bool:
    """Whether a resource is one object, whole."""
    whole = isinstance(resource["inputs"], dict) and {"apiVersion", "kind"} <= resource["inputs"].keys()
    return whole and resource["type"].startswith("kubernetes:") and not resource["type"].endswith(("Patch", "List"))


def more() -> list[Json]:
    """What only a cluster sees, and images in every way of writing them."""
    debugged = workload("Pod", pod_spec(), name="debugged")
    shell = {"name": "shell", "image": "busybox", "securityContext": {"privileged": True}}
    debugged["spec"]["ephemeralContainers"] = [shell]
    images = [
        "index.docker.io/nginx:1@sha256:" + "a" * 64,
        "LOCALHOST/a/b",
        "registry.k8s.io:443/pause",
        "nvcr.io/nvidia/a:latest",
        "a/b:main",
        "docker.io/nginx:1.29",
    ]
    named = [workload("Pod", pod_spec(image), name=f"image-{i}") for i, image in enumerate(images)]
    service = {
        "apiVersion": "serving.kserve.io/v1beta1",
        "kind": "InferenceService",
        "metadata": {"name": "kserve", "namespace": "fraud"},
        "spec": {
            "predictor": {"hostIPC": True, "model": {"image": "b:nightly", "securityContext": {"privileged": True}}}
        },
    }
    workflow = {
        "apiVersion": "argoproj.io/v1alpha1",
        "kind": "Workflow",
        "metadata": {"name": "flow", "namespace": "fraud"},
        "spec": {
            "hostNetwork": True,
            "templates": [{"container": {"image": "quay.io/x/y"}}, {"script": {"image": "z"}}],
        },
    }
    system = workload(
        "DaemonSet", shell | {"containers": [shell], "hostPID": True}, namespace="kube-system", name="cni"
    )
    return [debugged, *named, service, workflow, system]


def matched(rule: str, found: Json) -> bool:
    """Whether a constraint of a rule is about an object, as Gatekeeper reads `match`."""
    match = given().constraints[rule][0]["spec"]["match"]
    group = found["apiVersion"].rpartition("/")[0]
    kinds = any(group in each["apiGroups"] and {found["kind"], "*"} & {*each["kinds"]} for each in match["kinds"])
    return kinds and found.get("metadata", {}).get("namespace") not in match.get("excludedNamespaces", ())


def by_review(found: Json) -> dict[str, Told]:
    """What the review says of an object by itself, by rule."""
    return _by_review(json.dumps(found))


@cache
def _by_review(text: str) -> dict[str, Told]:
    found = json.loads(text)
    prepared = prepare(document([kubernetes(found, name="object")]), given_limits()).input
    told: dict[str, Told] = {rule: set() for rule in given().templates}
    for finding in embedded().ask(json.dumps(prepared))["findings"]:
        if finding["rule"] in told and matched(finding["rule"], found):
            level = finding.get("level", rules().rules[finding["rule"]].level)
            told[finding["rule"]].add((level, finding["path"], finding["message"]))
    return told


@cache
def embedded() -> Embedded:
    return Embedded(rules())


DRIVER = f"""package asked

told := [[[violation.details.path, violation.msg] |
	some violation in data.{ENTRY}[one.group][one.name].violation with input as one.input
] |
	some one in input
]
"""


def by_templates(opa: Path, folder: Path, reviews: list[tuple[str, Json]]) -> list[Told]:
    """What templates say of Gatekeeper's `input.review`, each by all constraints of its rule; OPA runs once."""
    modules = {text for template in given().templates.values() for text in modules_of(template)}
    for i, text in enumerate(sorted({DRIVER, *modules})):
        (folder / f"{i}.rego").write_text(text)
    asked: list[Json] = []
    of: list[tuple[int, str]] = []
    for i, (rule, review) in enumerate(reviews):
        for constraint in given().constraints[rule]:
            parameters = constraint["spec"]["parameters"]
            group, _, name = rule.partition("/")
            asked.append({"group": group, "name": name, "input": {"review": review, "parameters": parameters}})
            of.append((i, parameters["level"]))
    (folder / "input.json").write_text(json.dumps(asked))
    files = [f"--data={path}" for path in folder.glob("*.rego")]
    command = [str(opa), "eval", *files, f"--input={folder / 'input.json'}", "--format=raw", "--strict-builtin-errors"]
    answer = subprocess.run([*command, "data.asked.told"], capture_output=True, text=True, check=False)
    assert answer.returncode == 0, answer.stdout + answer.stderr
    told: list[Told] = [set() for _ in reviews]
    for (i, level), violations in zip(of, json.loads(answer.stdout), strict=True):
        told[i] |= {(level, path, message) for path, message in violations}
    return told


def modules_of(template: Json) -> list[str]:
    """The Rego of a template."""
    source = template["spec"]["targets"][0]["code"][0]["source"]
    return [*source["libs"], source["rego"]]


def as_told(rule: str, told: Told) -> Told:
    """Findings with the messages that an admission has."""
    return {(level, path, f"{rule}: {message} (at {path})") for level, path, message in told}
