"""What all parts on Google Cloud share: how its places are called, labels, and what no node goes without."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import Field

ProjectId = Annotated[str, Field(pattern=r"^[a-z][-a-z0-9]{4,28}[a-z0-9]$")]
"""A project's id, not its number: 6 to 30 lower-case letters, digits and dashes, a letter first."""

Region = Annotated[str, Field(pattern=r"^[a-z]+-[a-z]+[0-9]+$")]
"""A region such as us-central1."""

Zone = Annotated[str, Field(pattern=r"^[a-z]+-[a-z]+[0-9]+-[a-z0-9]+$")]
"""A zone such as us-central1-a."""

LABEL_LENGTH = 63
"""Characters of a label's key or value. Source: Compute Engine, requirements for labels."""


def region_of(zone: str) -> str:
    """The region that a zone lies in."""
    return zone.rpartition("-")[0]


def resource_labels(tags: Mapping[str, str]) -> dict[str, str]:
    """Tags as Google Cloud takes them: lower-case letters, digits, dashes and underscores; other signs become dashes.

    Raises ValueError for a key without a letter, because a key must start with one.
    """
    return {_label_key(key): _label(value) for key, value in tags.items()}


def _label_key(key: str) -> str:
    label = _label(key).lstrip("-_0123456789")
    if not label:
        raise ValueError(f"the tag {key!r} has no letter a to z, and a label's key starts with one: rename it")
    return label


def _label(text: str) -> str:
    return re.sub(r"[^a-z0-9_-]", "-", text.lower())[:LABEL_LENGTH]


def node_security(service_account: Any) -> dict[str, Any]:
    """The part of a node's configuration that no node goes without. `service_account` is an e-mail address.

    Secure Boot stays on for GPU nodes too: the drivers that GKE installs on Container-Optimized OS are signed.
    The scope covers all APIs because IAM, not the scope, decides what the account may do.
    """
    return {
        "service_account": service_account,
        "oauth_scopes": ["https://www.googleapis.com/auth/cloud-platform"],
        "workload_metadata_config": {"mode": "GKE_METADATA"},
        "metadata": {"disable-legacy-endpoints": "true"},
        "shielded_instance_config": {"enable_secure_boot": True, "enable_integrity_monitoring": True},
    }
