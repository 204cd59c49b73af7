"""What a resource document cannot show: objects that only a chart, a file or another program's component would make."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

CHARTS = ("kubernetes:helm.sh/v3:Release", "kubernetes:helm.sh/v4:Chart")
TEXTS = {
    "kubernetes:yaml/v2:ConfigGroup": ("yaml", "files"),
    "kubernetes:yaml/v2:ConfigFile": ("file",),
    "kubernetes:kustomize/v2:Directory": ("directory",),
}
"""Types whose objects the engine makes by itself, and the inputs that it reads them from."""


@dataclass(frozen=True, slots=True)
class Unseen:
    """A part of a stack that no rule has judged."""

    urn: str
    what: str
    """What makes it, such as chart keda."""


def unseen(resources: Sequence[Mapping[str, Any]]) -> list[Unseen]:
    """Every part of the document that hides resources from the rules, in the order of the document."""
    return [found for resource in resources for found in _hidden(resource)]


def _hidden(resource: Mapping[str, Any]) -> Iterator[Unseen]:
    urn, type_, inputs = resource["urn"], resource["type"], resource["inputs"]
    if type_ in CHARTS:
        yield Unseen(urn, f"chart {inputs.get('chart') or '?'}")
    elif any(inputs.get(key) for key in TEXTS.get(type_, ())):
        yield Unseen(urn, f"the manifests of {resource['name']}")
    elif resource.get("remote") and type_ not in TEXTS:
        yield Unseen(urn, f"component {resource['name']} of another program")
