"""Tokens for kubeconfigs: `aws eks get-token` and `gke-gcloud-auth-plugin`, with the arguments of the real ones.

Only of the standard library: a client starts it for its first request.
"""

from __future__ import annotations

import argparse
import datetime
import json
import os
import sqlite3
import sys
from pathlib import Path
from typing import NoReturn

API = "client.authentication.k8s.io/"

MINUTES = 14
"""How long a client may keep a token. Source: aws-cli, customizations/eks/get_token.py."""

EXPIRED = {
    "aws": "aws: [ERROR]: Error when retrieving token from sso: Token has expired and refresh failed",
    "gke-gcloud-auth-plugin": (
        "F1130 00:00:00.000000 cred.go] print credential failed with error: Failed to retrieve access token:: failure "
        "while executing gcloud: exit status 1 (err: ERROR: (gcloud.config.config-helper) There was a problem "
        "refreshing your current auth tokens: invalid_grant: Bad Request)"
    ),
}
"""What the real ones say when whoever deploys has to log in again."""


class Arguments(argparse.ArgumentParser):
    """Arguments of a program that ends as the real one does when they are wrong."""

    def __init__(self, code: int, program: str) -> None:
        super().__init__(prog=program, allow_abbrev=False, add_help=False)
        self._code = code

    def error(self, message: str) -> NoReturn:
        """Says what is wrong."""
        print(f"{self.prog}: [ERROR]: {message}", file=sys.stderr)
        sys.exit(self._code)


def main() -> None:
    """Prints an ExecCredential for the program that it is called as."""
    program, arguments = sys.argv[1], sys.argv[2:]
    if not os.environ.get("GPUYARD_CLOUD"):
        sys.exit("GPUYARD_CLOUD is not set: it names the folder of the tests' cloud")
    folder = Path(os.environ["GPUYARD_CLOUD"])
    print(json.dumps((aws if program == "aws" else gke)(folder, arguments), indent=2))


def aws(folder: Path, arguments: list[str]) -> dict[str, object]:
    """`aws eks get-token`. The API's version follows what the client asks for."""
    parser = Arguments(252, "aws")
    parser.add_argument("service", choices=["eks"])
    parser.add_argument("command", choices=["get-token"])
    parser.add_argument("--cluster-name", required=True)
    parser.add_argument("--role-arn")
    parser.add_argument("--region")
    parser.add_argument("--output", choices=["json", "yaml", "text", "table"], default="json")
    given = parser.parse_args(arguments)
    token = _token(folder, "aws")
    if not _exists(folder, given.cluster_name):
        token = f"k8s-aws-v1.of-no-cluster-called-{given.cluster_name}"
    asked = json.loads(os.environ.get("KUBERNETES_EXEC_INFO") or "{}").get("apiVersion")
    until = datetime.datetime.now(datetime.UTC) + datetime.timedelta(minutes=MINUTES)
    version = asked if asked in (f"{API}v1", f"{API}v1beta1") else f"{API}v1beta1"
    status = {"expirationTimestamp": until.strftime("%Y-%m-%dT%H:%M:%SZ"), "token": token}
    return {"kind": "ExecCredential", "apiVersion": version, "spec": {}, "status": status}


def gke(folder: Path, arguments: list[str]) -> dict[str, object]:
    """`gke-gcloud-auth-plugin`, which knows one version of the API (cmd/gke-gcloud-auth-plugin/cred.go)."""
    parser = Arguments(2, "gke-gcloud-auth-plugin")
    parser.add_argument("--use_application_default_credentials", action="store_true")
    for flag in ("account", "cluster", "configuration", "impersonate_service_account", "location", "project"):
        parser.add_argument(f"--{flag}")
    parser.parse_args(arguments)
    token = _token(folder, "gke-gcloud-auth-plugin")
    return {
        "kind": "ExecCredential",
        "apiVersion": f"{API}v1beta1",
        "spec": {"interactive": False},
        "status": {"token": token},
    }


def _token(folder: Path, program: str) -> str:
    login = folder / "login.json"
    state = json.loads(login.read_text(encoding="utf-8")) if login.exists() else {"how": "expired"}
    if state.get("how") == "expired":
        print(EXPIRED[program], file=sys.stderr)
        sys.exit(255 if program == "aws" else 1)
    return str(state.get("token", "a-token-that-the-cluster-does-not-know"))


def _exists(folder: Path, cluster: str) -> bool:
    with sqlite3.connect(folder / "cloud.db", timeout=10) as connection:
        query = "select 1 from things where kind = 'aws:eks/cluster:Cluster' and id = ? and gone = 0"
        return connection.execute(query, (cluster,)).fetchone() is not None


if __name__ == "__main__":
    main()
