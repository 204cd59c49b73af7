"""The programs that our kubeconfigs ask for a token."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest
from clouds.client import Client
from clouds.cloud import Cloud
from clouds.estate import Eks

from gpuyard.components.cluster import aws, gcp

BETA, STABLE = "client.authentication.k8s.io/v1beta1", "client.authentication.k8s.io/v1"


def run(cloud: Cloud, *command: str, asked: str = "") -> subprocess.CompletedProcess[str]:
    environment = os.environ | cloud.environment
    if asked:
        environment["KUBERNETES_EXEC_INFO"] = json.dumps({"apiVersion": asked, "kind": "ExecCredential"})
    program, *arguments = command
    return subprocess.run(
        [cloud.programs / program, *arguments], capture_output=True, text=True, env=environment, timeout=30, check=False
    )


def login_of(kubeconfig: Any) -> dict[str, Any]:
    """How a kubeconfig of ours asks for a token."""
    config = json.loads(kubeconfig) if isinstance(kubeconfig, str) else kubeconfig
    login: dict[str, Any] = config["users"][0]["user"]["exec"]
    return login


def test_the_kubeconfig_of_eks_gets_a_token(aws: Client, cloud: Cloud) -> None:
    cluster = Eks(aws).cluster.id
    cloud.login("secret-token")
    login = login_of(eks_kubeconfig(cluster))
    answer = json.loads(run(cloud, login["command"], *login["args"], asked=login["apiVersion"]).stdout)
    assert answer["apiVersion"] == login["apiVersion"]
    assert answer["status"]["token"] == "secret-token"
    assert answer["status"]["expirationTimestamp"].endswith("Z")


def eks_kubeconfig(cluster: str) -> str:
    return aws.kubeconfig("https://127.0.0.1:6443", "Y2E=", cluster, "us-east-1")


def test_the_kubeconfig_of_gke_gets_a_token(cloud: Cloud) -> None:
    cloud.login("secret-token")
    login = login_of(gcp.kubeconfig("https://127.0.0.1:6443", "Y2E="))
    answer = json.loads(run(cloud, login["command"], *login.get("args", []), asked=login["apiVersion"]).stdout)
    assert answer["apiVersion"] == login["apiVersion"]
    assert answer["status"] == {"token": "secret-token"}


@pytest.mark.parametrize(("asked", "given"), [("", BETA), (BETA, BETA), (STABLE, STABLE), ("nonsense/v9", BETA)])
def test_aws_answers_in_the_version_that_it_is_asked_for(cloud: Cloud, asked: str, given: str) -> None:
    cloud.login("secret-token")
    answer = run(cloud, "aws", "eks", "get-token", "--cluster-name", "x", asked=asked)
    assert json.loads(answer.stdout)["apiVersion"] == given


def test_a_token_for_a_cluster_that_does_not_exist_is_of_no_use(cloud: Cloud) -> None:
    cloud.login("secret-token")
    answer = run(cloud, "aws", "eks", "get-token", "--cluster-name", "nowhere")
    assert json.loads(answer.stdout)["status"]["token"] == "k8s-aws-v1.of-no-cluster-called-nowhere"


@pytest.mark.parametrize(
    ("command", "code", "problem"),
    [
        (["aws", "eks", "get-tokens", "--cluster-name", "x"], 252, "invalid choice"),
        (["aws", "eks", "get-token"], 252, "--cluster-name"),
        (["aws", "eks", "get-token", "--cluster-name", "x", "--regoin", "y"], 252, "--regoin"),
        (["gke-gcloud-auth-plugin", "--cluster-name=x"], 2, "--cluster-name"),
    ],
)
def test_wrong_arguments_are_refused(cloud: Cloud, command: list[str], code: int, problem: str) -> None:
    cloud.login("secret-token")
    ended = run(cloud, *command)
    assert (ended.returncode, ended.stdout) == (code, "")
    assert problem in ended.stderr


@pytest.mark.parametrize(
    "command", [["aws", "eks", "get-token", "--cluster-name", "x"], ["gke-gcloud-auth-plugin"]], ids=["aws", "gke"]
)
def test_an_expired_login_gives_no_token(cloud: Cloud, command: list[str]) -> None:
    cloud.login("secret-token")
    cloud.expire_login()
    ended = run(cloud, *command)
    assert ended.returncode != 0
    assert ended.stdout == ""
    assert len(ended.stderr.splitlines()) == 1
    cloud.expire_login("rejected")
    assert "secret-token" not in run(cloud, *command).stdout


def test_nobody_but_the_user_reads_the_login(cloud: Cloud) -> None:
    cloud.login("secret-token")
    assert (cloud.folder / "login.json").stat().st_mode & 0o077 == 0


def test_a_program_may_be_called_by_a_link(cloud: Cloud, tmp_path: Path) -> None:
    cloud.login("secret-token")
    link = tmp_path / "gke-gcloud-auth-plugin"
    link.symlink_to(cloud.programs / link.name)
    ended = subprocess.run([link], capture_output=True, text=True, env=os.environ | cloud.environment, check=False)
    assert json.loads(ended.stdout)["status"] == {"token": "secret-token"}
