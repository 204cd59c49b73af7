"""Secrets are found where they stand in plain text, and are told by their place only."""

from __future__ import annotations

import base64
from typing import Any

import pytest
from documents import pod_spec, workload

from gpuyard.review.evaluation.masks import HIDDEN, Mask
from gpuyard.review.evaluation.objects import objects, pointer
from gpuyard.review.evaluation.plain_secrets import in_plain_text, tokens
from gpuyard.review.evaluation.pods import pods

Json = dict[str, Any]

LETTERS = "aB3dE6gH9jK2mN5pQ8sT1vW4yZ7bC0fG"
TOKENS = {
    "Hugging Face token": f"hf_{LETTERS}",
    "NVIDIA API key": f"nvapi-{LETTERS}_{LETTERS}",
    "AWS access key id": "AKIA2E4G6J8L0N2Q4S6U",
    "GitHub token": f"ghp_{LETTERS}xYz9",
    "GitHub fine-grained token": f"github_pat_{LETTERS}{LETTERS}",
    "GitLab token": f"glpat-{LETTERS}",
    "OpenAI or Anthropic key": f"sk-proj-{LETTERS}{LETTERS}",
    "Google API key": f"AIza{LETTERS}xYz",
    "Slack token": f"xoxb-{LETTERS}",
    "Slack webhook": f"https://hooks.slack.com/services/T0123456/B0123456/{LETTERS}",
    "signed JSON web token": f"eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJhZG1pbiJ9.{LETTERS}",
    "private key": "-----BEGIN OPENSSH PRIVATE KEY-----",
}


def found(type_: str, inputs: Json, secret: tuple[str, ...] = ()) -> list[tuple[str, str]]:
    listed = in_plain_text(type_, inputs, list(objects(type_, inputs)), frozenset(secret))
    return [(item["path"], item["kind"]) for item in listed]


def pod(secret: tuple[str, ...] = (), **container: Any) -> list[tuple[str, str]]:
    return found("kubernetes:core/v1:Pod", workload("Pod", pod_spec(**container)), secret)


@pytest.mark.parametrize(("kind", "token"), TOKENS.items())
def test_a_token_is_known_by_its_format(kind: str, token: str) -> None:
    assert tokens().kind(token) == kind
    assert tokens().kind(f"prefix={token}\n") == kind
    assert tokens().kind(f"x{token}") != kind or not token[0].isalnum()


@pytest.mark.parametrize(
    "text",
    [
        "hf_transfer",
        "hf_hub_download_and_cache_everything",
        "sk-learn-model-server-with-a-very-long-name-indeed",
        "AKIAIOSFODNN7EXAMPLE",
        "hf_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
        "nvapi-<your key here>",
        "task-0123456789012345678901234567890123456789",
        "meta-llama/Llama-3.3-70B-Instruct",
        "0123456789abcdef0123456789abcdef01234567",
        "-----BEGIN CERTIFICATE-----",
        "eyJhbGciOiJSUzI1NiJ9",
        "postgresql://airflow:airflow@postgres:5432/airflow",
        "postgresql://mlflow:password@db",
        "postgresql://mlflow:$(DB_PASSWORD_1)@db",
        "postgresql://mlflow:${DB_PASSWORD_1}@db",
        "postgresql://mlflow:{{ .Values.db.password1 }}@db",
        "postgresql://mlflow:<password-1>@db",
        "postgresql://mlflow:passw0rd1@db.example.com",
        "oci://localhost:50001234/charts/app@sha256:0123",
        "http://proxy.internal:3128,user1@elsewhere",
        "https://packages.example.com/@scope/package1",
    ],
)
def test_what_only_looks_like_a_token_is_left_alone(text: str) -> None:
    assert tokens().kind(text) == ""


@pytest.mark.parametrize(
    ("variable", "kinds"),
    [
        ({"name": "ANYTHING", "value": TOKENS["GitHub token"]}, ["GitHub token"]),
        (
            {"name": "WANDB_API_KEY", "value": "0123456789abcdef0123456789abcdef01234567"},
            ["the value of WANDB_API_KEY"],
        ),
        ({"name": "OPENAI_API_KEY", "value": "EMPTY"}, []),
        ({"name": "OPENAI_API_KEY", "value": "$(OPENAI_KEY_OF_SECRET)"}, []),
        ({"name": "HF_TOKEN", "valueFrom": {"secretKeyRef": {"name": "hf", "key": "token"}}}, []),
        ({"name": "HF_TOKEN", "value": "changeme-changeme-changeme"}, []),
        ({"name": "MAX_TOKENS", "value": "40960000000000000000"}, []),
        ({"name": "LITELLM_MASTER_KEY", "value": "sk-0123456789abcdef"}, ["the value of LITELLM_MASTER_KEY"]),
        ({"name": "DB_PASSWORD", "value": "correct-horse-battery-9"}, ["the value of DB_PASSWORD"]),
        ({"name": "LOCAL_API_KEY", "value": "not-needed-for-local"}, []),
        ({"name": "DB_PASSWORD_FILE", "value": "somewhere-else-0123456789"}, []),
        ({"name": "HF_TOKEN", "value": 7}, []),
        ("not a variable", []),
    ],
)
def test_variables_are_judged_by_name_and_value(variable: Any, kinds: list[str]) -> None:
    assert [kind for _, kind in pod(env=[variable])] == kinds


REFERENCES = [
    "vault:secret/data/hub#token-1",
    "secret/data/hub#token-1",
    "op://platform/hub/token-1",
    "arn:aws:secretsmanager:us-east-1:111122223333:secret:hub-a1b2c3",
    "arn:aws-us-gov:ssm:us-gov-west-1:111122223333:parameter/hub",
    "ref+vault://secret/hub#/token1",
    "ref+awsssm://hub/token-1",
    "projects/acme/secrets/hub/versions/1",
    "gcp:secretmanager:projects/acme/secrets/hub",
    "${HUB_TOKEN_OF_SECRET_1}",
    "$(HUB_TOKEN_OF_SECRET_1)",
    "Bearer-$(HUB_TOKEN_OF_SECRET_1)",
    "$HUB_TOKEN_OF_SECRET_1",
    "{{.Values.hub.token1.value}}",
    "<your-token-goes-here-1>",
    "ENC[AES256_GCM,data:0a1b2c]",
    "os.environ/HUB_TOKEN_1",
    "file:/etc/hub/token-1-of-2",
    "/var/run/secrets/hub/token-1",
]


@pytest.mark.parametrize("text", REFERENCES)
def test_a_reference_to_where_a_secret_is_is_none(text: str) -> None:
    assert pod(env=[{"name": "HF_TOKEN", "value": text}, {"name": "LITELLM_MASTER_KEY", "value": text}]) == []
    assert pod(args=["--api-key", text, f"--hf-token={text}"]) == []
    assert found("kubernetes:helm.sh/v3:Release", {"values": {"env": {"WANDB_API_KEY": text}}}) == []


@pytest.mark.parametrize(
    "url",
    [
        "postgresql+psycopg2://mlflow:s3cr3t-pw_9@db.ml.internal:5432/mlflow",
        "redis://:s3cr3t-pw_9@cache:6379/0",
        f"https://x-access-token:{TOKENS['GitHub token']}@github.com/acme/dags",
    ],
)
def test_a_password_in_a_url_is_one_under_any_name(url: str) -> None:
    assert [kind for _, kind in pod(env=[{"name": "DATABASE", "value": url}])] == ["password in a URL"]
    assert [kind for _, kind in pod(args=["sh", "-c", f"migrate --database={url} && serve"])] == ["password in a URL"]
    assert HIDDEN in mask({})(f"the value is {url}")
    assert "s3cr3t" not in mask({})(f"the value is {url}")


def test_a_token_in_a_reference_is_a_token() -> None:
    text = f"file:/etc/hub?token={TOKENS['GitHub token']}"
    assert [kind for _, kind in pod(env=[{"name": "HF_TOKEN", "value": text}])] == ["GitHub token"]


@pytest.mark.parametrize("kind", ["Pod", "Deployment", "CronJob", "RayCluster"])
def test_annotations_of_pods_are_judged(kind: str) -> None:
    manifest = workload(kind, pod_spec())
    type_ = f"kubernetes:{manifest['apiVersion']}:{kind}"
    [item] = objects(type_, manifest)
    [pod] = pods(item)
    template: Any = manifest
    for step in pod.path[:-1]:
        template = template[step]
    template["metadata"]["annotations"] = {"hub/token": TOKENS["GitHub token"], "sidecar": "true"}
    expected = pointer((*pod.path[:-1], "metadata", "annotations", "hub/token"))
    assert found(type_, manifest) == [(expected, "GitHub token")]


@pytest.mark.parametrize(
    ("args", "paths"),
    [
        (["--model", "x", "--api-key", "0123456789abcdefABCD"], ["/spec/containers/0/args/3"]),
        (["--api-key=0123456789abcdefABCD"], ["/spec/containers/0/args/0"]),
        (["--api-key", "$(VLLM_API_KEY)"], []),
        (["--api-key"], []),
        (["sh", "-c", f"curl -H 'Authorization: Bearer {TOKENS['GitHub token']}'"], ["/spec/containers/0/args/2"]),
        (["sh", "-c", "vllm serve a/b --api-key 0123456789abcdefABCD"], ["/spec/containers/0/args/2"]),
        (["sh", "-c", "export WANDB_API_KEY='0123456789abcdefABCD' && train"], ["/spec/containers/0/args/2"]),
        (["sh", "-c", "vllm serve a/b --api-key=$VLLM_API_KEY_OF_SECRET"], []),
        (["sh", "-c", "export WANDB_API_KEY=$(cat /run/secrets/wandb-api-key)"], []),
        ([7, None, {}], []),
    ],
)
def test_arguments_are_judged(args: list[Any], paths: list[str]) -> None:
    assert [path for path, _ in pod(args=args)] == paths


def test_a_value_that_the_program_marks_secret_is_one_whatever_it_looks_like() -> None:
    at = "/spec/containers/0/env/0/value"
    assert pod((at,), env=[{"name": "DB", "value": "pw"}]) == [(at, "marked")]
    assert pod((at,), env=[{"name": "DB"}]) == [(at, "marked")], "its value is not known yet"


def test_a_list_of_containers_that_is_secret_as_a_whole_is_one_finding() -> None:
    """The provider's check marks the list for one secret in it: nobody knows which, but it stands in the pod."""
    at = "/spec/containers"
    assert pod((at,), env=[{"name": "A", "value": "b"}, {"name": "C", "value": "d"}]) == [(at, "marked")]
    token = TOKENS["GitHub token"]
    assert pod((at,), env=[{"name": "A", "value": token}]) == [(f"{at}/0/env/0/value", "GitHub token")]


def test_config_maps_are_judged_by_key_and_value() -> None:
    config = {"data": {"a": "b", "HF_TOKEN": TOKENS["Hugging Face token"], "WANDB_API_KEY": LETTERS}, "binaryData": {}}
    type_ = "kubernetes:core/v1:ConfigMap"
    assert [path for path, _ in found(type_, config)] == ["/data/HF_TOKEN", "/data/WANDB_API_KEY"]
    scripts = {"data": {"run.sh": f"set -e\nHF_TOKEN={LETTERS} serve", "a.env": f"A=b\nWANDB_API_KEY={LETTERS}\n"}}
    assert [path for path, _ in found(type_, scripts)] == ["/data/run.sh", "/data/a.env"]
    binary = base64.b64encode(TOKENS["GitHub token"].encode()).decode()
    assert found(type_, {"binaryData": {"key": binary}}) == [("/binaryData/key", "GitHub token")]
    assert found(type_, {"data": {}}, ("/data/pw",)) == [("/data/pw", "marked")]
    assert found(type_, {}, ("/data",)) == [("/data", "marked")]
    assert found(type_, {"data": "text"}) == []


def test_a_secret_is_where_secrets_belong() -> None:
    secret = {"stringData": {"token": TOKENS["Hugging Face token"]}}
    assert found("kubernetes:core/v1:Secret", secret, ("/stringData",)) == []


def test_user_data_is_decoded() -> None:
    template = "aws:ec2/launchTemplate:LaunchTemplate"
    text = base64.b64encode(f"export HF_TOKEN={TOKENS['Hugging Face token']}".encode()).decode()
    assert found(template, {"userData": text}) == [("/userData", "Hugging Face token")]
    assert found(template, {"userData": "not base64 !"}) == []
    assert found(template, {}, ("/userData",)) == [("/userData", "marked")]
    metadata = {"nodeConfig": {"metadata": {"startup": TOKENS["GitLab token"]}}}
    assert found("gcp:container/nodePool:NodePool", metadata) == [("/nodeConfig/metadata/startup", "GitLab token")]


def test_helm_values_are_judged_but_what_is_marked_lies_in_helms_own_secret() -> None:
    type_ = "kubernetes:helm.sh/v3:Release"
    values = {"values": {"token": TOKENS["GitHub token"], "env": [{"name": "NGC_API_KEY", "value": LETTERS}]}}
    assert found(type_, values) == [
        ("/values/token", "GitHub token"),
        ("/values/env/0/value", "the value of NGC_API_KEY"),
    ]
    mapped = {"values": {"env": {"WANDB_API_KEY": LETTERS, "WANDB_MODE": "offline"}}}
    assert found(type_, mapped) == [("/values/env/WANDB_API_KEY", "the value of WANDB_API_KEY")]
    assert found(type_, values, ("/values/token",)) == [("/values/env/0/value", "the value of NGC_API_KEY")]
    assert found(type_, values, ("/values",)) == []


def mask(inputs: Json, *secret: str) -> Mask:
    return Mask([{"inputs": inputs, "secret": list(secret)}])


def test_a_secret_is_masked_wherever_it_stands() -> None:
    hide = mask({"a": {"password": "s3cr3t"}}, "/a/password")
    assert hide("the password s3cr3t and xs3cr3tx") == f"the password {HIDDEN} and x{HIDDEN}x"
    assert hide("nothing") == "nothing"


def test_everything_below_a_secret_is_secret() -> None:
    hide = mask({"a": [{"b": "first"}, "second", 12345]}, "/a")
    assert hide("first second 12345") == f"{HIDDEN} {HIDDEN} {HIDDEN}"


def test_of_containers_that_are_secret_as_a_whole_texts_are_and_names_and_numbers_are_not() -> None:
    container = {"name": "server", "env": [{"name": "WORD", "value": "hush"}], "ports": [{"containerPort": 8000}]}
    hide = mask({"spec": {"containers": [container | {"args": ["--key=hush-hush"]}]}}, "/spec/containers")
    said = "container server has WORD hush and --key=hush-hush on 8000"
    assert hide(said) == f"container server has WORD {HIDDEN} and {HIDDEN} on 8000"
    exact = mask({"spec": {"containers": [container]}}, "/spec/containers/0/name", "/spec/containers/0/ports")
    assert exact("container server on 8000") == f"container {HIDDEN} on {HIDDEN}"


def test_a_short_secret_is_masked_as_a_word_and_not_as_a_part() -> None:
    hide = mask({"a": "7"}, "/a")
    assert hide("7 of 77") == f"{HIDDEN} of 77"


def test_a_secret_is_masked_as_json_writes_it_too() -> None:
    hide = mask({"a": 'two\nlines "quoted"'}, "/a")
    assert hide(r'{"x": "two\nlines \"quoted\""}') == f'{{"x": "{HIDDEN}"}}'


def test_a_secret_that_holds_another_is_masked_whole() -> None:
    assert mask({"a": "pass", "b": "passphrase"}, "/a", "/b")("passphrase") == HIDDEN


def test_a_token_is_masked_though_nobody_marked_it() -> None:
    assert mask({})(f"image {TOKENS['GitHub token']}") == f"image {HIDDEN}"


def test_a_path_keeps_its_steps() -> None:
    hide = mask({"a": "0", "b": LETTERS}, "/a", "/b")
    assert hide.path("/containers/0/image") == "/containers/0/image"
    assert hide.path(f"/x/{LETTERS}") == f"/x/{HIDDEN}"


def test_pointers_to_nothing_hide_nothing() -> None:
    assert mask({"a": [1]}, "/a/7", "/b/c", "/a/x")("1 a") == "1 a"
