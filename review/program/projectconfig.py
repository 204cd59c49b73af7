"""The configuration that a project itself declares in Pulumi.yaml: defaults, types and what every stack must give.

Source of the rules: pulumi sdk/go/common/workspace/project.go and pkg/workspace/config.go.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from gpuyard.review.errors import InputError
from gpuyard.review.program.goyaml import json_text
from gpuyard.review.program.project import Project

_TYPES = ("string", "integer", "boolean", "array", "object")
_NESTED = re.compile(r"[.\[]")


def complete(project: Project, stack: str, path: Path, config: dict[str, Any]) -> None:
    """Adds the project's defaults to a stack's configuration, and checks it.

    Raises InputError for a value that the project asks for and the stack does not give, or gives in another type.
    """
    missing = []
    for key, declared in sorted(project.config.items()):
        own = ":" not in key or key.startswith(f"{project.name}:")
        full = key if ":" in key else f"{project.name}:{key}"
        if _NESTED.search(full.split(":", 1)[1]):
            raise InputError(f"{project.file}: config.{key} names a part of a value: a review needs the whole value")
        declaration = _declaration(project, key, declared, own)
        if full not in config:
            default = declaration.get("value", declaration.get("default"))
            if default is not None:
                config[full] = default
            elif own:
                missing.append(key)
                continue
        _check(project, path, key, config.get(full), declaration)
    if missing:
        raise InputError(f"{path}: {project.file.name} asks every stack for {', '.join(missing)}: give a value")


def is_secret(value: Any) -> bool:
    """Whether a value is what the CLI writes for a secret: `secure: <ciphertext>`."""
    return isinstance(value, dict) and list(value) == ["secure"] and isinstance(value["secure"], str)


def _declaration(project: Project, key: str, declared: Any, own: bool) -> dict[str, Any]:
    if isinstance(declared, dict):
        if declared.get("type") is not None and declared["type"] not in _TYPES:
            raise InputError(f"{project.file}: config.{key}.type is {declared['type']!r}: give {', '.join(_TYPES)}")
        if declared.get("type") is not None and not own:
            raise InputError(f"{project.file}: config.{key} is not of this project, so it has a value and no type")
        return declared
    if isinstance(declared, str | int | list):
        return {"default" if own else "value": declared}
    raise InputError(
        f"{project.file}: config.{key} is {declared!r}: give text, a whole number, a list or a declaration"
    )


def _check(project: Project, path: Path, key: str, value: Any, declaration: dict[str, Any]) -> None:
    secret = is_secret(value)
    if declaration.get("type") is None:
        return
    if declaration.get("secret") and not secret:
        raise InputError(
            f"{path}: config.{key} is secret by {project.file.name}: set it with `pulumi config set --secret`"
        )
    if not secret and not _fits(value, declaration["type"], declaration.get("items")):
        raise InputError(f"{path}: config.{key} is {value!r}: {project.file.name} asks for {declaration['type']}")


def _fits(value: Any, type_: Any, items: Any) -> bool:
    """Whether a value is of a type; a scalar is looked at as the text that the CLI keeps of it."""
    if type_ == "array":
        of = items if isinstance(items, dict) else {}
        return isinstance(value, list) and all(_fits(item, of.get("type"), of.get("items")) for item in value)
    if type_ == "object":
        return isinstance(value, dict)
    if isinstance(value, dict | list):
        return False
    text = "" if value is None else json_text(value, nested=False)
    if type_ == "integer":
        return re.fullmatch(r"[-+]?[0-9]+", text) is not None
    return text in ("true", "false") if type_ == "boolean" else type_ == "string"
