"""One stack file as one spec: how it is read, and its schema."""

from __future__ import annotations

import json
import re
from typing import Any

from pydantic import TypeAdapter

from gpuyard.components.aws_platform import AwsPlatformSpec
from gpuyard.components.cluster import aws as aws_cluster
from gpuyard.components.cluster import gcp as gcp_cluster
from gpuyard.components.existing_platform import ExistingPlatformSpec
from gpuyard.components.gcp_platform import GcpPlatformSpec
from gpuyard.components.onprem_platform import OnPremPlatformSpec
from gpuyard.components.platform_spec import PlatformSpec
from gpuyard.components.validation import InvalidStack, problem, validate

ROOT = "gpuyard:platform"
"""How the stack's one key is called in messages."""

LONG_NAME = re.compile(r"gpuyard__components__[a-z_]+?__(?P<cloud>[a-z]+)(_[a-z]+)?__(?P<name>[A-Za-z]+)")

CLOUDS: dict[str, type[PlatformSpec]] = {
    "aws": AwsPlatformSpec,
    "gcp": GcpPlatformSpec,
    "onprem": OnPremPlatformSpec,
    "existing": ExistingPlatformSpec,
}


def load(value: Any, stack: str) -> PlatformSpec:
    """The platform that a stack's configuration describes.

    Raises InvalidStack with one line a problem.
    """
    if value is None:
        raise InvalidStack(f"{ROOT}: stack {stack} does not have this key: put the platform under it")
    if not isinstance(value, dict):
        raise InvalidStack(f"{ROOT}: {value!r} given: give a mapping of keys to values")
    cluster = value.get("cluster")
    cloud = cluster.get("cloud") if isinstance(cluster, dict) else None
    if not isinstance(cloud, str) or cloud not in CLOUDS:
        given = "is missing" if cloud is None else f"is {cloud!r}"
        raise InvalidStack(f"{ROOT}.cluster.cloud: {given}: give one of {', '.join(CLOUDS)}")
    spec = validate(CLOUDS[cloud], value, ROOT)
    check_name = {AwsPlatformSpec: aws_cluster.check_name, GcpPlatformSpec: gcp_cluster.check_name}.get(type(spec))
    if check_name:
        for wrong in problem("stack", check_name, stack):
            raise InvalidStack(wrong)
    return spec


def stack_schema() -> dict[str, Any]:
    """The JSON schema of a stack file."""
    platform = TypeAdapter(AwsPlatformSpec | GcpPlatformSpec | OnPremPlatformSpec | ExistingPlatformSpec)
    found = json.loads(LONG_NAME.sub(_short_name, json.dumps(platform.json_schema())))
    definitions = found.pop("$defs")
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "A gpuyard stack",
        "type": "object",
        "properties": {"config": {"type": "object", "properties": {ROOT: found}, "required": [ROOT]}},
        "required": ["config"],
        "$defs": definitions,
    }


def _short_name(long: re.Match[str]) -> str:
    """Where clouds have specs of one name, pydantic spells out modules: aws's ClusterSpec becomes AwsClusterSpec."""
    return f"{long['cloud'].capitalize()}{long['name']}"
