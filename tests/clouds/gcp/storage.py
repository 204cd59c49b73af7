"""Buckets of Cloud Storage. What forces a new resource: terraform-provider-google-beta, services/storage, ForceNew."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from clouds.cloud import PROJECT_NUMBER, Thing
from clouds.gcp.iam import KEY, STORAGE_AGENT, CryptoKeyIAMMember
from clouds.gcp.kinds import GcpKind, paths, project
from clouds.kind import AutoName, Inputs, Session
from clouds.paths import at
from clouds.refused import RefusedError

BUCKET = "gcp:storage/bucket:Bucket"
CREATED = "2026-11-30T00:00:00.000Z"

NO_KEY = (
    "Permission denied on Cloud KMS key. Please ensure that your Cloud Storage service account has been authorized to "
    "use this key."
)
"""What Cloud Storage says of a key that does not exist too."""


class Bucket(GcpKind):
    token, what, service = BUCKET, "bucket", "storage"
    create, update, delete = "buckets.insert", "buckets.patch", "buckets.delete"
    autoname = AutoName("name", 222)
    defaults: ClassVar[Mapping[str, Any]] = {
        "forceDestroy": False,
        "softDeletePolicy.retentionDurationSeconds": 604_800,
        "storageClass": "STANDARD",
    }
    source = "storage/resource_storage_bucket.go@0241f12"
    replaces = paths(
        "customPlacementConfig.dataLocations enableObjectRetention hierarchicalNamespace location name project"
    )
    sets = paths("customPlacementConfig.dataLocations")
    kept = paths("project publicAccessPrevention rpo softDeletePolicy uniformBucketLevelAccess versioning website")
    computed = (
        "effectiveLabels",
        "location",
        "project",
        "projectNumber",
        "publicAccessPrevention",
        "pulumiLabels",
        "rpo",
        "selfLink",
        "softDeletePolicy",
        "timeCreated",
        "uniformBucketLevelAccess",
        "updated",
        "url",
    )
    taken = ("conflict", "Your previous request to create the named bucket succeeded and you already own it.")
    id_format = "{name}"

    def must_replace(self, path: str, old: Inputs, new: Inputs) -> bool:
        """A locked policy is never unlocked: resource_storage_bucket.go, isPolicyLocked."""
        lock = "retentionPolicy.isLocked"
        unlocked = path == lock and bool(at(old, lock)) and not at(new, lock)
        return unlocked or super().must_replace(path, old, new)

    def found(self, session: Session, name: str) -> Thing | None:
        return super().found(session, name.rpartition("/")[2])

    def refuse_create(self, session: Session, inputs: Inputs) -> None:
        self._refuse_key(session, inputs)

    def refuse_update(self, session: Session, thing: Thing, inputs: Inputs) -> None:
        self._refuse_key(session, inputs)

    def _refuse_key(self, session: Session, inputs: Inputs) -> None:
        name = at(inputs, "encryption.defaultKmsKeyName")
        if name is None:
            return
        grants = session.having(CryptoKeyIAMMember.token, "cryptoKeyId", name)
        if session.find(KEY, name) is None or all(grant.inputs["member"] != STORAGE_AGENT for grant in grants):
            raise RefusedError("forbidden", NO_KEY, status=403)

    def outputs(self, session: Session, name: str, inputs: Inputs, before: Inputs) -> dict[str, Any]:
        place, labels = inputs["location"].upper(), inputs.get("labels", {})
        return {
            "effectiveLabels": labels,
            "location": place,
            "project": project(session, inputs),
            "projectNumber": int(PROJECT_NUMBER),
            "publicAccessPrevention": inputs.get("publicAccessPrevention", "inherited"),
            "pulumiLabels": labels,
            # Regions have no second place to replicate to.
            "rpo": inputs.get("rpo") or ("" if "-" in place else "DEFAULT"),
            "selfLink": f"https://www.googleapis.com/storage/v1/b/{name}",
            "softDeletePolicy": {
                "retentionDurationSeconds": at(inputs, "softDeletePolicy.retentionDurationSeconds") or 604_800,
                "effectiveTime": CREATED,
            },
            "timeCreated": CREATED,
            "uniformBucketLevelAccess": inputs.get("uniformBucketLevelAccess", False),
            "updated": CREATED,
            "url": f"gs://{name}",
        }
