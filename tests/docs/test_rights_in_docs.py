"""Whoever deploys to Google Cloud reads in the documentation which rights that takes."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

RIGHTS = {
    # Sources: IAM's roles and their permissions; the permission of a method is in its REST reference.
    "compute.Firewall": "roles/compute.securityAdmin",
    "compute.Network": "roles/compute.networkAdmin",
    "compute.ResourcePolicy": "compute.resourcePolicies.create",
    "compute.Router": "roles/compute.networkAdmin",
    "compute.RouterNat": "roles/compute.networkAdmin",
    "compute.Subnetwork": "roles/compute.networkAdmin",
    "container.Cluster": "roles/container.admin",
    "container.NodePool": "roles/container.admin",
    "kms.CryptoKey": "roles/cloudkms.admin",
    "kms.CryptoKeyIAMMember": "roles/cloudkms.admin",
    "kms.KeyRing": "roles/cloudkms.admin",
    "projects.IAMMember": "roles/resourcemanager.projectIamAdmin",
    "projects.ServiceIdentity": "serviceusage.services.generateServiceIdentity",
    "serviceaccount.Account": "roles/iam.serviceAccountAdmin",
}
"""What creates each kind of resource that a stack declares."""


def test_every_kind_of_resource_on_google_cloud_has_its_right_in_the_documentation() -> None:
    declared = {
        found
        for path in (ROOT / "components").rglob("*.py")
        for found in re.findall(r"\bgcp\.([a-z]+\.[A-Z][A-Za-z]+)\(", path.read_text(encoding="utf-8"))
    }
    assert declared == set(RIGHTS)
    rights = (ROOT / "docs" / "state.md").read_text(encoding="utf-8")
    [row] = [line for line in rights.splitlines() if line.startswith("| Google Cloud |")]
    assert [right for right in RIGHTS.values() if f"`{right}`" not in row] == []
