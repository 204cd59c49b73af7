"""What the installed SDKs say of a resource type: names and types of its inputs and outputs.

The SDKs take seconds to load, and every provider process needs a few types of them, so what they say is kept beside
them, in the virtual environment, by their version.
"""

from __future__ import annotations

import collections.abc
import contextlib
import functools
import importlib
import importlib.metadata
import inspect
import json
import os
import sys
import typing
from pathlib import Path
from typing import Any

from pulumi import _types  # the one place where the SDK tells its types; it is private, and pinned with the SDK

Node = Any
"""string, number, integer, boolean or any; {"list": Node}; {"map": Node}; {"block": {name: Node}, "required": [name]}."""

KEPT = Path(sys.prefix) / "standins"
"""Where descriptions are kept. Nothing is lost with it."""

SIMPLE = {str: "string", bool: "boolean", int: "integer", float: "number"}


@functools.cache
def inputs(token: str) -> Node:
    """The block of a type's inputs. Raises LookupError for a type that the SDK has not."""
    return _described(token)["inputs"]


@functools.cache
def outputs(token: str) -> Node:
    """The block of a type's outputs."""
    return _described(token)["outputs"]


def at(node: Node, path: str) -> Node:
    """The type at a path of nested blocks; None where there is none."""
    for step in path.split("."):
        while isinstance(node, dict) and "list" in node:
            node = node["list"]
        node = node["block"].get(step) if isinstance(node, dict) and "block" in node else None
    return node


def _described(token: str) -> dict[str, Node]:
    package, module, name = token.split(":")
    version = importlib.metadata.version(f"pulumi-{package}")
    kept = KEPT / f"{package}-{version}" / f"{module.replace('/', '.')}.{name}.json"
    with contextlib.suppress(OSError, ValueError):
        described: dict[str, Node] = json.loads(kept.read_text(encoding="utf-8"))
        return described
    described = describe(token)
    with contextlib.suppress(OSError):  # an environment that cannot be written to costs time only
        kept.parent.mkdir(parents=True, exist_ok=True)
        new = kept.with_suffix(f".{os.getpid()}")
        new.write_text(json.dumps(described), encoding="utf-8")
        new.replace(kept)
    return described


def describe(token: str) -> dict[str, Node]:
    """Both blocks, read from the SDK's classes: aws:eks/nodeGroup:NodeGroup is pulumi_aws.eks.NodeGroup."""
    package, module, name = token.split(":")
    home = importlib.import_module(f"pulumi_{package}.{module.partition('/')[0]}")
    if not hasattr(home, f"{name}Args"):
        raise LookupError(f"the SDK of {package} has no {token}")
    made = {key: _node(kind) for key, kind in _types.resource_types(getattr(home, name)).items()}
    return {"inputs": _node(getattr(home, f"{name}Args")), "outputs": {"block": made, "required": []}}


def _node(kind: Any) -> Node:
    kind = _types.unwrap_type(kind)
    origin = typing.get_origin(kind)
    if _types.is_input_type(kind):
        members = {key: _node(member) for key, member in _types.input_type_types(kind).items()}
        return {"block": members, "required": sorted(_required(kind))}
    if _types.is_output_type(kind):
        return {"block": {k: _node(t) for k, t in _types.output_type_types(kind).items()}, "required": []}
    if origin is collections.abc.Sequence:
        return {"list": _node(typing.get_args(kind)[0])}
    if origin is collections.abc.Mapping:
        return {"map": _node(typing.get_args(kind)[1])}
    return SIMPLE.get(kind, "any")


def _required(block: Any) -> set[str]:
    wire = _types.input_type_py_to_pulumi_names(block)
    parameters = inspect.signature(block.__init__).parameters
    return {wire[name] for name, given in parameters.items() if name in wire and given.default is given.empty}
