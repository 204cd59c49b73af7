"""The stand-in of Pulumi's Google Cloud provider: which project it works in."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from clouds.cloud import Cloud
from clouds.kind import Kind, Session
from clouds.package import Package
from clouds.refused import NotConfiguredError


class Gcp(Package):
    """Google Cloud."""

    name = "gcp"

    def configure(self, cloud: Cloud, settings: Mapping[str, Any]) -> Session:
        if cloud.setting("no_credentials"):
            raise NotConfiguredError(
                "Attempted to load application default credentials since neither `credentials` nor `access_token` was "
                "set in the provider block. No credentials loaded."
            )
        return Session(cloud, settings, settings.get("project") or "", settings.get("region") or "")

    def prepare(self, session: Session, kind: Kind, inputs: dict[str, Any]) -> dict[str, Any]:
        return inputs

    @property
    def too_many(self) -> tuple[str, str]:
        return "rateLimitExceeded", "Quota exceeded for quota metric 'Requests' and limit 'Requests per minute'"

    @property
    def unavailable(self) -> tuple[str, str]:
        return "backendError", "The service is currently unavailable."
