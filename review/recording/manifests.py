"""Kubernetes manifests that a program hands over as text or as files, as the provider would read them."""

from __future__ import annotations

import glob
import json
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import yaml  # type: ignore[import-untyped]

FILES = {"kubernetes:yaml/v2:ConfigFile": "file", "kubernetes:yaml/v2:ConfigGroup": "files"}
"""Types whose objects the provider reads from files, and the input that names these."""

MOST_BYTES = 5_000_000
"""Of one text: the largest bundle of CRDs that is known has three million."""
MOST_NODES = 500_000
"""After aliases are expanded: a bomb is not read."""
DEEPEST = 100

_PARENT: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_BOOLEANS = {
    **dict.fromkeys(("y", "yes", "on", "true"), True),
    **dict.fromkeys(("n", "no", "off", "false"), False),
}


class _Loader(_PARENT):  # type: ignore[misc]
    """YAML 1.1, as sigs.k8s.io/yaml reads it: `y` and `n` are booleans too, which PyYAML takes for text."""


_Loader.add_implicit_resolver("tag:yaml.org,2002:bool", re.compile(r"[yYnN]$"), list("yYnN"))
_Loader.add_constructor("tag:yaml.org,2002:bool", lambda loader, node: _BOOLEANS[loader.construct_scalar(node).lower()])


def documents(text: str) -> list[Any] | None:
    """The documents of a YAML text, as JSON values; None for a text that cannot be read, or is too much to read."""
    try:
        return [document for _, document in placed(text)]
    except ValueError:
        return None


def placed(text: str) -> list[tuple[int, Any]]:
    """The documents of a YAML text, as JSON values, each with the line on which it begins.

    Raises ValueError, whose message begins with the line, for a text that cannot be read, or is too much to read.
    """
    if len(text) > MOST_BYTES:
        raise ValueError(f"1: is over {MOST_BYTES:,} bytes")
    try:
        found = list(_documents(text))
        if not _within([document for _, document in found]):
            raise ValueError(f"1: has over {MOST_NODES:,} values, or is nested deeper than {DEEPEST}")
        read: list[Any] = json.loads(json.dumps(found, default=str, allow_nan=False))
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 1
        raise ValueError(f"{line}: is no YAML ({error.problem or error.context})") from None
    except (yaml.YAMLError, TypeError, KeyError, RecursionError) as error:
        raise ValueError(f"1: is no YAML ({type(error).__name__})") from None
    return [(line, document) for line, document in read]


def _documents(text: str) -> Iterable[tuple[int, Any]]:
    loader = _Loader(text)
    try:
        while loader.check_node():
            node = loader.get_node()
            line, document = node.start_mark.line + 1, loader.construct_document(node)
            if document is not None:
                yield line, document
    finally:
        loader.dispose()


def from_files(type_: str, inputs: Mapping[str, Any], directory: Path) -> dict[str, list[Any]]:
    """What the files of a resource hold, by the input that names them; empty where one of them cannot be read.

    Names are relative to the program's folder, and may be patterns. An address is not followed.
    """
    field = FILES.get(type_, "")
    given = inputs.get(field)
    named = [given] if isinstance(given, str) else given if isinstance(given, list) else []
    found: list[Any] = []
    for name in named:
        read = [documents(text) for text in _texts(name, directory)]
        if not read or None in read:
            return {}
        found += [document for listed in read for document in listed or ()]
    return {field: found} if named else {}


def _texts(name: Any, directory: Path) -> Iterable[str]:
    if not isinstance(name, str) or "://" in name:
        return
    # Not by Path.glob, which refuses an absolute pattern.
    for path in sorted(glob.glob(str(directory / name))):  # noqa: PTH207
        try:
            with Path(path).open("rb") as file:
                yield file.read(MOST_BYTES + 1).decode("utf-8")
        except (OSError, UnicodeDecodeError):
            # As no YAML is.
            yield "{"


def _within(value: Any) -> bool:
    """Whether a value has no more nodes than one wants to walk, each alias counted where it stands."""
    left = MOST_NODES
    waiting = [(value, 0)]
    while waiting:
        node, depth = waiting.pop()
        left -= 1
        if left < 0 or depth > DEEPEST:
            return False
        if isinstance(node, dict):
            waiting += [(member, depth + 1) for member in node.values()]
        elif isinstance(node, list):
            waiting += [(member, depth + 1) for member in node]
    return True
