"""What is known of kinds and of images, as a module of Rego: the same data that the review reads."""

from __future__ import annotations

import json
from typing import Any

from gpuyard.review.evaluation import images, objects, pods

PACKAGE = "gpuyard.admission.kinds"


def module() -> str:
    """Rego that holds the data."""
    known = pods.kinds()
    values: dict[str, Any] = {
        "accelerators": pods.ACCELERATORS,
        "containers": known.containers,
        "deepest": objects.DEEPEST,
        "hub": images.DOCKER_HUB,
        "hub_aliases": sorted(images.HUB_ALIASES),
        "own": pods.OWN,
        "quotes": dict.fromkeys(pods.QUOTES, True),
        "roles": pods.CONTAINERS,
        "settings": known.settings,
        "whole": sorted(known.whole),
    }
    # Regorus takes no line of more than 1,024 columns.
    texts = {name: json.dumps(value, indent=1, sort_keys=True) for name, value in values.items()}
    lines = [f"{name} := {text}" for name, text in texts.items()]
    return "\n\n".join([f"package {PACKAGE}", *lines]) + "\n"


def carriers() -> list[tuple[str, str]]:
    """Group and kind of everything that is known to carry pods."""
    known = pods.kinds()
    keys = {*pods.OWN, *known.whole, *known.containers, *known.settings}
    return sorted((group, kind) for kind, _, group in (key.partition(".") for key in keys))
