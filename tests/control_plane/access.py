"""Who may talk to the control plane: people with groups and tokens, and the kubeconfigs that carry them."""

from __future__ import annotations

import csv
import json
import secrets
from collections.abc import Mapping, Sequence
from pathlib import Path

DEPLOYERS = "platform-deployers"
"""The group whose people hold the cluster role cluster-admin, as who deploys a platform does."""

PEOPLE: Mapping[str, Sequence[str]] = {
    "admin": ["system:masters"],
    "deployer": [DEPLOYERS],
    "ana": ["fraud-ml"],
    "ben": ["assistants"],
    "cem": ["research@example.com"],
    "dana": ["vision"],
    "nobody": [],
}
"""Everybody whom the API server knows, with their groups: one person for each tenant of the shipped stacks. It reads
the list once, when it starts."""


class Tokens:
    """A bearer token for each of the people."""

    def __init__(self) -> None:
        self._tokens = {user: secrets.token_urlsafe(24) for user in PEOPLE}

    def write(self, path: Path) -> None:
        """Writes the file that the API server reads: token, user, id and groups, a line each."""
        path.touch(0o600)
        with path.open("w", newline="") as file:
            for user, groups in PEOPLE.items():
                csv.writer(file).writerow([self._tokens[user], user, user, *([",".join(groups)] if groups else [])])

    def of(self, user: str, *groups: str) -> str:
        """The token of a user who is in these groups at least."""
        if user not in PEOPLE or not set(groups) <= set(PEOPLE[user]):
            raise KeyError(f"no {user} in {groups or 'any group'}: the control plane knows {PEOPLE}")
        return self._tokens[user]


def kubeconfig(path: Path, *, url: str, authority: Path, token: str, context: str) -> Path:
    """Writes a kubeconfig of one context; JSON is YAML too."""
    content = {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": context,
        "contexts": [{"name": context, "context": {"cluster": context, "user": context}}],
        "clusters": [{"name": context, "cluster": {"server": url, "certificate-authority": str(authority)}}],
        "users": [{"name": context, "user": {"token": token}}],
    }
    path.touch(0o600)
    path.write_text(json.dumps(content))
    return path
