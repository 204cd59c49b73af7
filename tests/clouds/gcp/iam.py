"""Accounts, grants and keys. What forces a new resource: terraform-provider-google-beta, services/resourcemanager,
services/kms and tpgiamresource, ForceNew."""

from __future__ import annotations

import secrets
from typing import Any, ClassVar

from clouds.cloud import PROJECT_NUMBER, Thing
from clouds.gcp.kinds import GcpKind, Link, paths, project
from clouds.kind import AutoName, Inputs, Session
from clouds.refused import RefusedError

ACCOUNT, SERVICE = "gcp:serviceaccount/account:Account", "gcp:projects/serviceIdentity:ServiceIdentity"
RING, KEY = "gcp:kms/keyRing:KeyRing", "gcp:kms/cryptoKey:CryptoKey"

STORAGE_AGENT = f"serviceAccount:service-{PROJECT_NUMBER}@gs-project-accounts.iam.gserviceaccount.com"
"""The agent of Cloud Storage, which each project has without asking. Source: Google Cloud IAM, service agents."""


class Account(GcpKind):
    token, what, service = ACCOUNT, "service account", "iam"
    create, update, delete = "serviceAccounts.create", "serviceAccounts.patch", "serviceAccounts.delete"
    autoname = AutoName("accountId", 30)
    source = "resourcemanager/resource_google_service_account.go@93c65b2"
    replaces = paths("accountId project")
    computed = ("email", "member", "name", "project", "uniqueId")
    taken = ("alreadyExists", "Service account {} already exists within project.")

    def identify(self, session: Session, inputs: Inputs) -> str:
        return f"projects/{project(session, inputs)}/serviceAccounts/{self._email(session, inputs)}"

    def _email(self, session: Session, inputs: Inputs) -> str:
        return f"{inputs['accountId']}@{project(session, inputs)}.iam.gserviceaccount.com"

    def outputs(self, session: Session, name: str, inputs: Inputs, before: Inputs) -> dict[str, Any]:
        email = self._email(session, inputs)
        return {
            "email": email,
            "member": f"serviceAccount:{email}",
            "name": name,
            "project": project(session, inputs),
            "uniqueId": before.get("uniqueId") or str(secrets.randbelow(10**21)),
        }


def require_member(session: Session, member: str | None) -> None:
    """Raises RefusedError, as IAM does, for a service account that does not exist; people and groups are not ours to know."""
    kind, _, email = (member or "").partition(":")
    if kind != "serviceAccount" or member == STORAGE_AGENT:
        return
    for token in (ACCOUNT, SERVICE):
        if session.find(token, email, "email"):
            return
    raise RefusedError("badRequest", f"Service account {email} does not exist.")


class Grant(GcpKind):
    """A role of one member."""

    create, delete = "setIamPolicy", "setIamPolicy"
    computed = ("etag",)

    def found(self, session: Session, name: str) -> Thing | None:
        return super().found(session, name.replace(" ", "/"))

    def refuse_create(self, session: Session, inputs: Inputs) -> None:
        require_member(session, inputs.get("member"))

    def outputs(self, session: Session, name: str, inputs: Inputs, before: Inputs) -> dict[str, Any]:
        return {"etag": before.get("etag") or f"BwY{secrets.token_hex(4)}="}

    def shown_name(self, inputs: Inputs) -> str:
        return f"{inputs.get('role')} of {inputs.get('member')}"


class IAMMember(Grant):
    token, what, service = "gcp:projects/iAMMember:IAMMember", "project IAM member", "cloudresourcemanager"
    source = "tpgiamresource/resource_iam_member.go@93c65b2"
    replaces = paths("project role member condition")
    id_format = "{project}/{role}/{member}"


class CryptoKeyIAMMember(Grant):
    token, what, service = "gcp:kms/cryptoKeyIAMMember:CryptoKeyIAMMember", "KMS CryptoKey IAM member", "cloudkms"
    source = "tpgiamresource/resource_iam_member.go@93c65b2"
    replaces = paths("cryptoKeyId role member condition")
    references = (Link("cryptoKeyId", KEY, "notFound", "CryptoKey {} not found.", holds=False, status=404),)
    id_format = "{cryptoKeyId}/{role}/{member}"


class ServiceIdentity(GcpKind):
    """The agent of a service in a project. Google makes it once, and keeps it: deleting it does nothing."""

    token, what, service = SERVICE, "service identity", "serviceusage"
    create, delete = "services.generateServiceIdentity", "services.generateServiceIdentity"
    source = "resourcemanager/resource_project_service_identity.go@93c65b2"
    replaces = paths("project service")
    computed = ("email", "member", "project")
    id_format = "projects/{project}/services/{service}"
    remains = "Google keeps a service's agent as long as the project"

    AGENTS: ClassVar[dict[str, str]] = {"container.googleapis.com": "container-engine-robot"}
    """Domain of each service's agent. Source: Google Cloud IAM, service agents."""

    def outputs(self, session: Session, name: str, inputs: Inputs, before: Inputs) -> dict[str, Any]:
        domain = self.AGENTS.get(inputs["service"], f"gcp-sa-{inputs['service'].partition('.')[0]}")
        email = f"service-{PROJECT_NUMBER}@{domain}.iam.gserviceaccount.com"
        return {"email": email, "member": f"serviceAccount:{email}", "project": project(session, inputs)}

    def shown_name(self, inputs: Inputs) -> str:
        return str(inputs.get("service"))


class KeyRing(GcpKind):
    token, what, service = RING, "KeyRing", "cloudkms"
    create, delete = "keyRings.create", "keyRings.create"
    autoname = AutoName("name", 63)
    source = "kms/resource_kms_key_ring.go@93c65b2"
    replaces = paths("location name project")
    computed = ("project",)
    taken = ("alreadyExists", "KeyRing {} already exists.")
    id_format = "projects/{project}/locations/{location}/keyRings/{name}"
    remains = "key rings cannot be deleted from Google Cloud"


class CryptoKey(GcpKind):
    token, what, service = KEY, "CryptoKey", "cloudkms"
    create, update, delete = "cryptoKeys.create", "cryptoKeys.patch", "cryptoKeyVersions.destroy"
    autoname = AutoName("name", 63)
    defaults: ClassVar[dict[str, Any]] = {"purpose": "ENCRYPT_DECRYPT"}
    source = "kms/resource_kms_crypto_key.go@93c65b2"
    replaces = paths(
        "cryptoKeyBackend destroyScheduledDuration importOnly keyRing name purpose skipInitialVersionCreation "
        "versionTemplate.protectionLevel"
    )
    kept = paths("cryptoKeyBackend destroyScheduledDuration importOnly versionTemplate")
    computed = ("destroyScheduledDuration", "effectiveLabels", "importOnly", "primaries", "pulumiLabels")
    references = (Link("keyRing", RING, "notFound", "KeyRing {} not found.", holds=False, status=404),)
    taken = ("alreadyExists", "CryptoKey {} already exists.")
    id_format = "{keyRing}/cryptoKeys/{name}"
    remains = "keys cannot be deleted from Google Cloud; their versions are destroyed"

    def outputs(self, session: Session, name: str, inputs: Inputs, before: Inputs) -> dict[str, Any]:
        labels = inputs.get("labels", {})
        return {
            "destroyScheduledDuration": inputs.get("destroyScheduledDuration", "2592000s"),
            "effectiveLabels": labels,
            "importOnly": inputs.get("importOnly", False),
            "primaries": [{"name": f"{name}/cryptoKeyVersions/1", "state": "ENABLED"}],
            "pulumiLabels": labels,
        }
