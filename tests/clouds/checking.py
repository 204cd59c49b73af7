"""Names and defaults that the provider adds to inputs before they are compared or sent."""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Mapping
from typing import Any

from clouds.kind import AutoName, Kind
from clouds.paths import at, bare
from clouds.wire import DEFAULTS, UNKNOWN

RANDOM_DIGITS = 7
"""Hexadecimal digits after an automatic name. Source: pulumi-terraform-bridge, AutoName."""


def completed(kind: Kind, urn: str, news: Mapping[str, Any], olds: Mapping[str, Any], seed: bytes) -> dict[str, Any]:
    """The inputs with what the provider adds, and each block's list of that, as real providers have it.

    A name that was added before stays.
    """
    result = _marked(news)
    for path, value in kind.defaults.items():
        *blocks, name = path.split(".")
        block = at(result, ".".join(blocks)) if blocks else result
        for one in block if isinstance(block, list) else [block]:
            if isinstance(one, dict):
                _add(one, name, value)
    if kind.autoname and kind.autoname.name not in result and f"{kind.autoname.name}Prefix" not in result:
        _add(result, kind.autoname.name, _name(kind.autoname, urn, olds, seed))
    return result


def _add(block: dict[str, Any], name: str, value: Any) -> None:
    if name not in block:
        block[name] = value
        block[DEFAULTS] = sorted([*block[DEFAULTS], name])


def _marked(value: Mapping[str, Any]) -> dict[str, Any]:
    """A copy in which each block of the schema has its list of defaults; maps of tags and labels have none."""
    result = {key: _mark(key, item) for key, item in value.items() if key != DEFAULTS}
    return {**result, DEFAULTS: []}


MAPS = frozenset({"tags", "tagsAll", "labels", "resourceLabels", "metadata", "terraformLabels"})
"""Inputs whose keys are the user's."""


def _mark(key: str, value: Any) -> Any:
    if key in MAPS:
        return value
    if isinstance(value, Mapping):
        return _marked(value)
    return [_mark(key, item) for item in value] if isinstance(value, list) else value


def _name(auto: AutoName, urn: str, olds: Mapping[str, Any], seed: bytes) -> Any:
    before = bare(olds.get(auto.name))
    if before is not None and before is not UNKNOWN and auto.name in olds.get(DEFAULTS, [auto.name]):
        return before
    # The engine's seed makes the name of the preview that of the update.
    digits = hashlib.sha256(seed).hexdigest() if seed else secrets.token_hex(RANDOM_DIGITS)
    stem = auto.transform(urn.rpartition("::")[2])
    return f"{stem[: auto.length - RANDOM_DIGITS - 1]}-{digits[:RANDOM_DIGITS]}"
