"""Servers and the models that they load, however a program starts them."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from documents import document, kubernetes, resource, workload
from raw_programs import COMMIT

from gpuyard.review.evaluation.prepare import prepare
from gpuyard.review.evaluation.servers import engines
from gpuyard.review.evaluation.shells import split

Json = dict[str, Any]

FLAGS = Path(__file__).parents[2] / "data" / "serving" / "vllm-0.32.0-flags.txt"
RULES = Path(__file__).parents[3] / "policies" / "rules" / "serving"
OF_OTHERS = {"--dashboard-host", "--dist-init-addr"}
"""Flags of `ray start` and of SGLang."""

VLLM = "docker.io/vllm/vllm-openai:v0.32.0"
AT = "/spec/template/spec/containers/0"


def servers(resources: list[Json]) -> list[Json]:
    found: list[Json] = prepare(document(resources), {}).input["servers"]
    return found


def of(kind: str = "Deployment", **container: Any) -> list[Json]:
    return servers(
        [kubernetes(workload(kind, {"containers": [{"name": "server", "image": "x.example/a:1"} | container]}))]
    )


def custom(manifest: Json) -> list[Json]:
    return servers([kubernetes({"metadata": {"name": "m", "namespace": "fraud"}} | manifest)])


TRUSTING: dict[str, Json] = {
    "a flag": {"image": VLLM, "args": ["--model", "a/b", "--trust-remote-code"]},
    "a flag with underscores": {"image": VLLM, "args": ["a/b", "--trust_remote_code"]},
    "a part of a flag": {"image": VLLM, "args": ["--trust-rem", "a/b"]},
    "a flag with a value": {"image": VLLM, "args": ["a/b", "--trust-remote-code", "True"]},
    "a flag that is joined to its value": {"image": VLLM, "args": ["a/b", "--trust-remote-code=true"]},
    "a mirror": {"image": "mirror.example:5000/ai/vllm/vllm-openai@sha256:ab", "args": ["a/b", "--trust-remote-code"]},
    "a command": {"command": ["vllm", "serve", "a/b", "--trust-remote-code"]},
    "a module": {
        "command": ["python3", "-m", "vllm.entrypoints.openai.api_server"],
        "args": ["--model=a/b", "--trust-remote-code"],
    },
    "a wrapper": {
        "command": ["tini", "--", "numactl", "-N0", "/usr/local/bin/vllm", "serve", "a/b", "--trust-remote-code"]
    },
    "a script": {"command": ["/bin/sh", "-c"], "args": ["exec vllm serve a/b --trust-remote-code"]},
    "a script with more in it": {
        "command": [
            "bash",
            "-euxc",
            '# start\npip install x; export M=a/b\nvllm serve "$M" \\\n  --trust-remote-code | tee log',
        ]
    },
    "a script in a script": {"command": ["sh", "-c", "bash -lc 'vllm serve a/b --trust-remote-code'"]},
    "a variable of Kubernetes": {
        "image": VLLM,
        "args": ["$(MODEL)", "$(EXTRA)"],
        "env": [{"name": "MODEL", "value": "a/b"}, {"name": "EXTRA", "value": "--trust-remote-code"}],
    },
    "a variable of a shell": {
        "command": ["sh", "-c", "vllm serve ${MODEL} $EXTRA"],
        "env": [{"name": "MODEL", "value": "a/b"}, {"name": "EXTRA", "value": "--trust-remote-code"}],
    },
    "variables of a launcher": {
        "command": ["text-generation-launcher"],
        "env": [{"name": "MODEL_ID", "value": "a/b"}, {"name": "TRUST_REMOTE_CODE", "value": "true"}],
    },
    "another server": {
        "command": ["python", "-m", "sglang.launch_server", "--model-path", "a/b", "--trust-remote-code"]
    },
}


@pytest.mark.parametrize("name", TRUSTING)
def test_a_flag_is_found_however_it_is_given(name: str) -> None:
    [server] = of(**TRUSTING[name])
    assert server["options"]["--trust-remote-code"] is True
    assert server["places"]["--trust-remote-code"].startswith(AT)
    assert [(model["name"], model["source"]) for model in server["models"]] == [("a/b", "hub")]


@pytest.mark.parametrize(
    "container",
    [
        {"image": VLLM, "args": ["a/b", "--trust-remote-code=false"]},
        {"image": VLLM, "args": ["a/b", "--no-trust-remote-code"]},
        {"image": VLLM, "args": ["a/b", "--served-model-name", "trust-remote-code"]},
        {"command": ["sh", "-c", "vllm serve a/b # --trust-remote-code"]},
        {"command": ["sh", "-c", "echo --trust-remote-code && vllm serve a/b"]},
    ],
    ids=str,
)
def test_a_flag_that_is_not_given_is_not_found(container: Json) -> None:
    [server] = of(**container)
    assert server["options"].get("--trust-remote-code") is not True
    assert server["models"][0]["name"] == "a/b"


@pytest.mark.parametrize(
    "container",
    [
        {"command": ["sleep", "infinity"]},
        {"command": ["sh", "-c", "echo 'open"]},
        {"args": 7},
        {"command": [None, {}, "vllm"]},
    ],
    ids=str,
)
def test_what_starts_no_server_is_none(container: Json) -> None:
    assert of(**container) == []


@pytest.mark.parametrize("kind", ["StatefulSet", "DaemonSet", "Job", "CronJob", "Pod", "RayCluster"])
def test_servers_are_found_in_every_workload(kind: str) -> None:
    [server] = of(kind, command=["vllm", "serve", "a/b"])
    assert server["engine"] == "vllm"


@pytest.mark.parametrize(
    ("name", "source", "revision"),
    [
        ("Qwen/Qwen3-8B", "hub", COMMIT),
        ("gpt2", "hub", COMMIT),
        (f"hf://a/b:{COMMIT}", "hub", COMMIT),
        ("/models/a", "path", COMMIT),
        ("s3://bucket/a", "bucket", COMMIT),
        ("gs://bucket/a", "bucket", COMMIT),
        ("pvc://claim/a", "volume", COMMIT),
        ("oci://r.example/a:1", "image", COMMIT),
        ("https://example.com/a", "url", COMMIT),
    ],
)
def test_a_model_says_where_it_is_from(name: str, source: str, revision: str) -> None:
    [server] = of(image=VLLM, args=[name, f"--revision={COMMIT}"])
    [model] = server["models"]
    assert (model["source"], model["revision"], model["path"]) == (source, revision, f"{AT}/args/0")


def test_a_model_that_is_not_known_yet_is_none() -> None:
    [server] = of(image=VLLM, args=["--model=$(MODEL)"], env=[{"name": "MODEL", "valueFrom": {}}])
    assert server["models"] == []


def test_a_tokenizer_of_another_repository_is_a_model_too() -> None:
    [server] = of(image=VLLM, args=["a/b", "--tokenizer", "c/d", "--tokenizer-revision", COMMIT])
    assert [(m["role"], m["name"], m["revision"]) for m in server["models"]] == [
        ("model", "a/b", ""),
        ("tokenizer", "c/d", COMMIT),
    ]
    [server] = of(image=VLLM, args=["a/b", "--tokenizer", "a/b"])
    assert [m["role"] for m in server["models"]] == ["model"]


def test_no_secret_of_the_environment_is_handed_on() -> None:
    [server] = of(
        image=VLLM, args=["a/b"], env=[{"name": "VLLM_API_KEY", "value": "x"}, {"name": "VLLM_HOST_IP", "value": "::"}]
    )
    assert server["environment"] == {"VLLM_HOST_IP": "::"}


def test_kserve_names_models_and_arguments() -> None:
    predictor = {
        "modelFormat": {"name": "huggingface"},
        "args": ["--model_name=m", "--trust_remote_code"],
        "storageUri": "hf://a/b",
    }
    service = {
        "apiVersion": "serving.kserve.io/v1beta1",
        "kind": "InferenceService",
        "spec": {"predictor": {"model": predictor}},
    }
    [server] = custom(service)
    assert server["options"]["--trust-remote-code"] is True
    assert server["models"] == [
        {"role": "model", "name": "a/b", "source": "hub", "revision": "", "path": "/spec/predictor/model/storageUri"}
    ]
    llm = {
        "apiVersion": "serving.kserve.io/v1alpha1",
        "kind": "LLMInferenceService",
        "spec": {"model": {"uri": f"hf://a/b:{COMMIT}"}},
    }
    [server] = custom(llm)
    assert server["models"][0]["revision"] == COMMIT


def test_ray_serve_names_models_in_a_text() -> None:
    text = f"""
    applications:
    - name: llm
      args:
        llm_configs:
        - model_loading_config: {{model_id: m, model_source: a/b}}
          engine_kwargs: {{trust_remote_code: true, revision: "{COMMIT}", load_format: pt}}
        - model_loading_config: {{model_id: c/d}}
        - model_loading_config: {{model_id: e, model_source: {{bucket_uri: "s3://models/e"}}}}
    """
    spec = {"serveConfigV2": text}
    found = custom({"apiVersion": "ray.io/v1", "kind": "RayService", "spec": spec})
    assert [model["name"] for server in found for model in server["models"]] == ["a/b", "c/d", "s3://models/e"]
    assert found[0]["options"] == {"--trust-remote-code": True, "--revision": COMMIT, "--load-format": "pt"}
    assert found[0]["models"][0]["revision"] == COMMIT


@pytest.mark.parametrize("text", ["llm_configs: [", "llm_configs", "applications: [7, {args: {llm_configs: [x]}}]", 7])
def test_a_text_of_ray_serve_that_says_nothing_is_no_model(text: Any) -> None:
    assert all(
        not server["models"]
        for server in custom({"apiVersion": "ray.io/v1", "kind": "RayService", "spec": {"serveConfigV2": text}})
    )


def test_vllms_own_chart_names_models() -> None:
    spec = {"modelURL": "a/b", "vllmConfig": {"extraArgs": ["--revision", COMMIT, "--trust-remote-code"]}}
    release = {"chart": "vllm-stack", "values": {"servingEngineSpec": {"modelSpec": [spec, 7]}}}
    found = servers([resource("kubernetes:helm.sh/v3:Release", "llm", release)])
    assert [(m["name"], m["revision"]) for server in found for m in server["models"]] == [("a/b", COMMIT)]
    assert found[0]["places"]["--trust-remote-code"] == "/values/servingEngineSpec/modelSpec/0/vllmConfig/extraArgs/2"


@pytest.mark.parametrize(
    ("script", "commands"),
    [
        ("a b;c", [["a", "b"], ["c"]]),
        ("a && b || c | d & e", [["a"], ["b"], ["c"], ["d"], ["e"]]),
        ("(a 'b c'\nd)", [["a", "b c"], ["d"]]),
        ("a \\\n b", [["a", "b"]]),
        ("a # b ; c\nd x#y", [["a"], ["d", "x#y"]]),
        ("a 'b", [["a", "'b"]]),
        ("", []),
    ],
)
def test_a_script_is_split_as_a_shell_does(script: str, commands: list[list[str]]) -> None:
    assert split(script) == commands


def test_flags_that_are_read_are_flags_of_the_server() -> None:
    """And of a part of a flag, the shortest is what the parser takes for that flag alone."""
    known = {line for line in FLAGS.read_text().splitlines() if line.startswith("--")}
    vllm = engines()["vllm"]
    assert {*vllm.model, *vllm.revision, *vllm.tokenizer, *vllm.tokenizer_revision, *vllm.shortest} <= known
    for flag, shortest in vllm.shortest.items():
        assert [name for name in known if name.startswith(shortest)] == [flag]
        assert len([name for name in known if name.startswith(shortest[:-1])]) > 1


def test_flags_that_rules_name_are_flags_of_vllm() -> None:
    known = FLAGS.read_text().splitlines()
    named = {flag for path in RULES.rglob("*.rego") for flag in re.findall(r'"(--[a-z-]+)"', path.read_text())}
    assert "--trust-remote-code" in named
    assert named - OF_OTHERS <= {*known}
