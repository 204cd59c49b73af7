"""Asks a live cluster by the kubectl of whoever runs the command: their kubeconfig, proxies and login programs hold."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from typing import Any

from gpuyard.review.errors import InputError

LOG = re.compile(r"^[EIWF][0-9]{4} [0-9:.]+ ")
"""A line of kubectl's own log; what it says to its user stands beside these."""

SHOWN = 300
"""Characters of kubectl's message that are repeated."""

REMEDIES: tuple[tuple[re.Pattern[str], str], ...] = (
    (
        re.compile(r"\(Forbidden\)"),
        "whoever this is may not list nodes: ask for a ClusterRole with get and list of nodes, nothing else is needed",
    ),
    (
        re.compile(r"Unauthorized|must be logged in|provide credentials"),
        "the cluster does not know whoever this is, a token may have ended: log in again",
    ),
    (
        re.compile(r"getting credentials|exec plugin"),
        "the program that logs in, as the kubeconfig says, did not: run `kubectl get nodes` and mend that first",
    ),
    (
        re.compile(r"localhost:8080"),
        "kubectl knows no cluster: give --kubeconfig, and --context where it has several",
    ),
    (
        re.compile(r"context .*(not exist|not found)|context was not found"),
        "give --context, one of those that `kubectl config get-contexts` lists",
    ),
    (
        re.compile(r"stat .*no such file|loading config file|error loading|current-context is not set"),
        "give a kubeconfig by --kubeconfig, and --context where it names no current one",
    ),
    (
        re.compile(r"[Uu]nable to connect|was refused|timeout|timed out|deadline exceeded|x509|certificate"),
        "the cluster does not answer: check the address in the kubeconfig, and the way to it (network, VPN, proxy)",
    ),
)
"""What to do, by what kubectl says."""


def current_context(kubeconfig: str | None) -> str:
    """The context that kubectl takes by itself. Raises InputError where it knows none."""
    return _run(["config", "current-context"], kubeconfig, None, 10.0).strip()


def nodes(context: str, kubeconfig: str | None, timeout_s: float) -> list[dict[str, Any]]:
    """Every node of a cluster, as its API has it: one request, which needs the right to list nodes and no other.

    Raises InputError, with the remedy, where the cluster does not give them within `timeout_s` seconds.
    """
    answer = _run(["get", "--raw", "/api/v1/nodes"], kubeconfig, context, timeout_s)
    try:
        found = json.loads(answer)
        items = found["items"]
        if found["kind"] != "NodeList" or not isinstance(items, list):
            raise ValueError(found["kind"])
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise InputError(
            f"context {context}: what answers there is no list of nodes: check the address in the kubeconfig"
        ) from error
    return items


def _run(arguments: list[str], kubeconfig: str | None, context: str | None, timeout_s: float) -> str:
    program = shutil.which("kubectl")
    if program is None:
        raise InputError("there is no `kubectl` on PATH: install it; the cluster is asked by it and by nothing else")
    command = [program, *arguments, f"--request-timeout={timeout_s:g}s"]
    command += [f"--kubeconfig={kubeconfig}"] if kubeconfig else []
    command += [f"--context={context}"] if context else []
    where = f"context {context}" if context else "kubeconfig"
    try:
        done = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            # A login program of the kubeconfig is not bound by kubectl's own limit.
            timeout=timeout_s + 5,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise InputError(
            f"{where}: no answer within {timeout_s:g} s: check the way to the cluster, or give more by --timeout"
        ) from error
    except OSError as error:
        raise InputError(f"{program}: {error.strerror}: give a kubectl that runs") from error
    if done.returncode:
        raise InputError(f"{where}: {_said(done.stderr)}")
    return done.stdout


def _said(stderr: str) -> str:
    lines = [line.strip() for line in stderr.splitlines() if line.strip() and not LOG.match(line)]
    said = lines[0].removeprefix("error: ")[:SHOWN] if lines else "kubectl fails, and does not say why"
    remedy = next((remedy for pattern, remedy in REMEDIES if pattern.search(said)), None)
    return f"{said}: {remedy or 'see what `kubectl get nodes` says'}"
