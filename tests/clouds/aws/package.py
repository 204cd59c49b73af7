"""The stand-in of Pulumi's AWS provider: which account and region it works in, and what it adds to every resource."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from clouds import sdk
from clouds.cloud import Cloud
from clouds.kind import Kind, Session
from clouds.package import Package
from clouds.refused import NotConfiguredError
from clouds.wire import UNKNOWN, is_unknown

REGION = re.compile(r"[a-z]{2}(-[a-z]+)+-[0-9]")


class Aws(Package):
    """AWS."""

    name = "aws"
    replaces = frozenset({"region"})

    def configure(self, cloud: Cloud, settings: Mapping[str, Any]) -> Session:
        account, region = cloud.setting("account"), settings.get("region")
        if cloud.setting("no_credentials"):
            raise NotConfiguredError("No valid credential sources found.")
        if region is None:
            raise NotConfiguredError("Invalid or missing region: set aws:region or AWS_REGION")
        if not REGION.fullmatch(region) and settings.get("skipRegionValidation") not in (True, "true"):
            raise NotConfiguredError(f"invalid AWS Region: {region}")
        allowed = _parsed(settings.get("allowedAccountIds"), [])
        if allowed and account not in allowed:
            raise NotConfiguredError(f"AWS account ID not allowed: {account}")
        return Session(cloud, settings, account, region)

    def prepare(self, session: Session, kind: Kind, inputs: dict[str, Any]) -> dict[str, Any]:
        # Since version 7 every resource of a region says which: pulumi-aws, provider/region.go.
        prepared = dict(inputs)
        if sdk.at(sdk.inputs(kind.token), "region"):
            prepared.setdefault("region", session.region)
        if sdk.at(sdk.outputs(kind.token), "tagsAll"):
            prepared["tagsAll"] = _all_tags(session, inputs.get("tags", {}))
        return prepared

    @property
    def too_many(self) -> tuple[str, str]:
        return "ThrottlingException", "Rate exceeded"

    @property
    def unavailable(self) -> tuple[str, str]:
        return "ServiceUnavailableException", "The service is unavailable. Try again later."


def _all_tags(session: Session, tags: Any) -> Any:
    default = _parsed(session.settings.get("defaultTags"), {}).get("tags", {})
    return UNKNOWN if is_unknown(tags) else {**default, **tags}


def _parsed(setting: Any, default: Any) -> Any:
    """The engine sends settings that are no texts as JSON."""
    return json.loads(setting) if isinstance(setting, str) else default if setting is None else setting
