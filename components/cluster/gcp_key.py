"""The key that encrypts a GKE cluster's Secrets."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pulumi
import pulumi_gcp as gcp

from gpuyard.components.gcp import resource_labels

ROTATION = f"{90 * 24 * 3600}s"
"""A new key version every 90 days. Source: CIS Google Cloud Platform Foundation Benchmark, KMS key rotation."""

USE_ROLE = "roles/cloudkms.cryptoKeyEncrypterDecrypter"


class SecretsKey(pulumi.ComponentResource):
    """A key of a cluster's own, which GKE's service agent in the project may use."""

    key: pulumi.Output[str]
    """Full name of the key; known once GKE may use it."""

    def __init__(
        self,
        name: str,
        *,
        project: str,
        region: str,
        tags: Mapping[str, str],
        protect: bool,
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        super().__init__("gpuyard:index:GkeSecretsKey", name, {"project": project, "region": region}, opts)
        child = pulumi.ResourceOptions(parent=self)
        # Without its key no Secret of the cluster can be read again: it is as hard to delete as the cluster.
        kept = pulumi.ResourceOptions(parent=self, protect=protect)
        ring = gcp.kms.KeyRing(name, project=project, location=region, opts=child)
        key = gcp.kms.CryptoKey(name, **key_inputs(tags), key_ring=ring.id, opts=kept)
        agent = gcp.projects.ServiceIdentity(name, project=project, service="container.googleapis.com", opts=child)
        grant = gcp.kms.CryptoKeyIAMMember(name, crypto_key_id=key.id, role=USE_ROLE, member=agent.member, opts=child)
        self.key = grant.crypto_key_id
        self.register_outputs({"key": self.key})


def key_inputs(tags: Mapping[str, str]) -> dict[str, Any]:
    """Inputs of the key, besides its ring."""
    return {"purpose": "ENCRYPT_DECRYPT", "rotation_period": ROTATION, "labels": resource_labels(tags)}
