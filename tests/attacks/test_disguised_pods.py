"""Ways to get power, an image or an option past the rules that look at pods: each is refused."""

from __future__ import annotations

import json
from typing import Any

import pytest
from documents import pod_spec, workload
from raw_programs import tenant
from verdicts import STACK, Json, custom, declared, denied, made

EVIL = "ghcr.io/acmeevil/server:1"
VLLM = "docker.io/vllm/vllm-openai:v0.32.0"
POWER = {"privileged": True}
MIGHTY = {"name": "mighty", "image": VLLM, "securityContext": POWER}

PRIVILEGED = "isolation/privileged"
REGISTRIES = "supply_chain/registries"
REMOTE_CODE = "serving/remote_code"
VERSION = "serving/vllm_version"


def pod(spec: Json, kind: str = "Deployment", **more: Any) -> Json:
    return declared(workload(kind, spec), **more)


def nameless(spec: Json) -> Json:
    manifest = workload("Pod", spec)
    manifest["metadata"] = {"generateName": "model-", "namespace": "fraud"}
    return declared(manifest, name="generated")


def text(yaml: str) -> Json:
    return made("kubernetes:yaml/v2:ConfigGroup", "text", {"yaml": yaml})


def values(**given: Any) -> Json:
    return made("kubernetes:helm.sh/v3:Release", "app", {"chart": "app", "namespace": "fraud", "values": given})


def serves(*words: str, **container: Any) -> Json:
    command = {"command": ["python3", "-m", "vllm.entrypoints.openai.api_server", "--model", "/models/own", *words]}
    return pod(pod_spec(**(command | container)))


def shell(script: str, **container: Any) -> Json:
    return serves(command=["bash", "-c", script], **container)


HEAD = "apiVersion: v1\nkind: Pod\nmetadata: {name: a, namespace: fraud}\nspec:\n  containers:\n"
ANCHORED = (
    f"{HEAD}  - &c {{name: a, image: {VLLM}}}\n  - <<: *c\n    name: b\n    securityContext: {{privileged: true}}\n"
)
LISTED = {"apiVersion": "v1", "kind": "List", "items": [workload("Pod", {"containers": [MIGHTY]})]}
UNTYPED = {"items": [{"metadata": {"name": "a", "namespace": "fraud"}, "spec": {"containers": [MIGHTY]}}]}
VOLUME = {
    "apiVersion": "v1",
    "kind": "PersistentVolume",
    "metadata": {"name": "root"},
    "spec": {"hostPath": {"path": "/"}},
}
LENDER = custom("acme.example/v1", "Anything", {"deep": {"er": [{"containers": [{"name": "x", "image": EVIL}]}]}})


def sandboxed(handler: str) -> list[Json]:
    runtime = {
        "apiVersion": "node.k8s.io/v1",
        "kind": "RuntimeClass",
        "metadata": {"name": "gvisor"},
        "handler": handler,
    }
    model = pod(pod_spec() | {"runtimeClassName": "gvisor"})
    model["inputs"]["metadata"]["labels"] = {"trust": "untrusted"}
    return [declared(runtime), model, *tenant(stack=STACK)]


WAYS: dict[str, tuple[list[Json], set[str]]] = {
    # Who runs the pod.
    "an init container": ([pod(pod_spec() | {"initContainers": [MIGHTY]})], {PRIVILEGED}),
    "a sidecar that is an init container": (
        [pod(pod_spec() | {"initContainers": [MIGHTY | {"restartPolicy": "Always"}]})],
        {PRIVILEGED},
    ),
    "an ephemeral container": ([pod(pod_spec() | {"ephemeralContainers": [MIGHTY]}, "Pod")], {PRIVILEGED}),
    "a List": ([made("kubernetes:core/v1:List", "list", LISTED)], {PRIVILEGED}),
    "a PodList whose items do not say what they are": (
        [made("kubernetes:core/v1:PodList", "list", UNTYPED)],
        {PRIVILEGED},
    ),
    "a pod template": (
        [
            declared(
                {
                    "apiVersion": "v1",
                    "kind": "PodTemplate",
                    "metadata": {"name": "t", "namespace": "fraud"},
                    "template": {"spec": {"containers": [MIGHTY]}},
                }
            )
        ],
        {PRIVILEGED},
    ),
    "a server-side-apply patch": (
        [pod({"containers": [MIGHTY]}, type_="kubernetes:apps/v1:DeploymentPatch")],
        {PRIVILEGED},
    ),
    "a patch of a custom resource that is a Deployment": (
        [pod({"containers": [MIGHTY]}, type_="kubernetes:apiextensions.k8s.io:CustomResourcePatch")],
        {PRIVILEGED},
    ),
    "a name that is generated": ([nameless({"containers": [MIGHTY]})], {PRIVILEGED}),
    "a kind that nobody knows": ([LENDER], {REGISTRIES}),
    "YAML anchors and merges": ([text(ANCHORED)], {PRIVILEGED}),
    # What it may.
    "a capability in small letters": (
        [pod(pod_spec(securityContext={"capabilities": {"add": ["sys_admin"], "drop": ["ALL"]}}))],
        {PRIVILEGED},
    ),
    "a capability with its prefix": (
        [pod(pod_spec(securityContext={"capabilities": {"add": ["CAP_SYS_ADMIN"], "drop": ["ALL"]}}))],
        {PRIVILEGED},
    ),
    "the host's disk through a PersistentVolume": ([declared(VOLUME)], {PRIVILEGED}),
    "a namespace of operators in other letters": (
        [declared(workload("Pod", {"containers": [MIGHTY]}, namespace="GPU-operator"))],
        {PRIVILEGED},
    ),
    "a sandbox by name alone": (sandboxed("runc"), {"isolation/sandbox"}),
    "all devices by environment": (
        [pod(pod_spec(env=[{"name": "NVIDIA_VISIBLE_DEVICES", "value": "all"}])), *tenant(stack=STACK)],
        {"isolation/device_access"},
    ),
    # Helm values.
    "true as a text among Helm values": ([values(securityContext={"privileged": "true"})], {PRIVILEGED}),
    "a pod among Helm values": (
        [values(extraDeploy=[workload("Pod", {"containers": [MIGHTY]})])],
        {PRIVILEGED},
    ),
    "an image in parts among Helm values": (
        [values(image={"registry": "ghcr.io", "repository": "acmeevil/server", "tag": "1"})],
        {REGISTRIES},
    ),
    # Its image.
    "a name that begins like an allowed one": ([pod(pod_spec(EVIL))], {REGISTRIES}),
    "a registry in capitals": ([pod(pod_spec("GHCR.io/acmeevil/server:1"))], {REGISTRIES}),
    "an image in a policy that changes pods": (
        [
            custom(
                "kyverno.io/v1",
                "ClusterPolicy",
                {
                    "rules": [
                        {"mutate": {"patchStrategicMerge": {"spec": {"containers": [{"name": "x", "image": EVIL}]}}}}
                    ]
                },
            )
        ],
        {REGISTRIES},
    ),
    "an old version behind a suffix": ([pod(pod_spec("docker.io/vllm/vllm-openai:v0.8.0-x86_64"))], {VERSION}),
    "an old version that pip installs": ([shell("pip install 'vllm[audio]==0.8.0'")], {VERSION}),
    "an old version that pip installs at most": ([shell("pip install 'vllm<=0.8.0'")], {VERSION}),
    # Its options.
    "an option with underscores": ([serves("--trust_remote_code")], {REMOTE_CODE}),
    "an option cut short": ([serves("--trust-remote")], {REMOTE_CODE}),
    "an option joined with its value": ([serves("--trust-remote-code=True")], {REMOTE_CODE}),
    "an option in a shell's script": (
        [shell("set -e\nexec vllm serve /models/own \\\n  --trust-remote-code")],
        {REMOTE_CODE},
    ),
    "an option in quotes of the shell": ([shell('vllm serve /models/own --trust-"remote"-code')], {REMOTE_CODE}),
    "an option by a variable of the shell": (
        [shell("vllm serve /models/own $EXTRA", env=[{"name": "EXTRA", "value": "--trust-remote-code"}])],
        {REMOTE_CODE},
    ),
    "an option by a variable of Kubernetes": (
        [serves("$(EXTRA)", env=[{"name": "EXTRA", "value": "--trust-remote-code"}])],
        {REMOTE_CODE},
    ),
    "a server in an image of another name": (
        [serves("--trust-remote-code", image="nvcr.io/nvidia/pytorch:26.05-py3")],
        {REMOTE_CODE},
    ),
    "a token in an argument": ([serves("--hf-token", "hf_" + "aB3dE6gH" * 4 + "x9")], {"supply_chain/plain_tokens"}),
}


@pytest.mark.parametrize("way", WAYS)
def test_a_pod_in_disguise_is_refused(way: str) -> None:
    resources, rules = WAYS[way]
    assert denied(*resources) == rules


def test_without_the_trick_none_is_refused() -> None:
    plain = [
        pod(pod_spec()),
        values(
            securityContext={"privileged": "false"}, image={"registry": "nvcr.io", "repository": "nvidia/a", "tag": "1"}
        ),
        text(f"{HEAD}  - {{name: a, image: {VLLM}}}\n"),
        serves("--dtype", "auto"),
    ]
    for i, one in enumerate(plain):
        assert denied(one | {"urn": f"{one['urn']}{i}"}) == set(), json.dumps(one)
    assert denied(*sandboxed("runsc")) == set()
