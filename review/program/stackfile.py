"""Reads the configuration of a stack as the Pulumi CLI gives it to a program. Secrets are never decrypted.

Numbers become the text that the CLI makes of them: an unquoted `0777` is 511, `1.30` is 1.3, and a revision of digits
with one `e`, such as 1234567e89, is a float: names, ids and revisions have to be quoted.
What an `environment:` (Pulumi ESC) would add is not known here.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gpuyard.review.errors import InputError
from gpuyard.review.program import projectconfig
from gpuyard.review.program.goyaml import json_text
from gpuyard.review.program.project import Project
from gpuyard.review.program.yamlfile import load
from gpuyard.review.recording.values import UNKNOWN

PLATFORM = "gpuyard:platform"
"""The one key of a gpuyard stack."""

TOP_LEVEL = ("config", "environment", "secretsprovider", "encryptedkey", "encryptionsalt")
"""What a stack file may have. Source: ProjectStack, pulumi sdk/go/common/workspace/project.go."""

NAME = re.compile(r"[A-Za-z0-9_.-]{1,100}")
"""Source: stackNameRegex, pulumi sdk/go/common/tokens/stack_name.go."""


@dataclass(frozen=True)
class StackConfig:
    """What the SDK of a program gets."""

    values: Mapping[str, str]
    """By `namespace:name`. The sign for an unknown value stands for each secret."""
    secret_keys: tuple[str, ...]
    """Keys of `values` that are secret, as a whole or in part."""


def stacks(project: Project) -> list[str]:
    """The names of the project's stacks that have a file, sorted."""
    found = project.stacks.glob(f"Pulumi.*{project.file.suffix}") if project.stacks.is_dir() else ()
    names = (path.name.removeprefix("Pulumi.").removesuffix(path.suffix) for path in found if path.is_file())
    return sorted(name for name in names if NAME.fullmatch(name))


def read(project: Project, stack: str) -> StackConfig:
    """The configuration of one stack, with the project's defaults.

    Raises InputError for a stack without a file, and for anything in the file that the CLI or gpuyard refuses.
    """
    path = _path(project, stack)
    content = load(path)
    if content is None:
        raise InputError(f"{path}: is empty: give `config:`, or `config: {{}}` for a stack without configuration")
    if not isinstance(content, dict):
        raise InputError(f"{path}: is not a mapping: give `config:` with the stack's configuration")
    for key in content:
        if key not in TOP_LEVEL:
            raise InputError(f"{path}: {key!r} is not a key of a stack file: give {', '.join(TOP_LEVEL)}")
    given = content.get("config")
    if given is not None and not isinstance(given, dict):
        raise InputError(f"{path}: config is {_short(given)}: give a mapping of configuration keys")
    config = dict(_namespaced(path, project.name, given or {}))
    projectconfig.complete(project, stack, path, config)
    return _flattened(path, config)


def _path(project: Project, stack: str) -> Path:
    path = project.stacks / f"Pulumi.{stack}{project.file.suffix}"
    if NAME.fullmatch(stack) and path.is_file():
        return path
    names = stacks(project)
    there = f"there are {', '.join(names)}" if names else f"there is no Pulumi.<stack>{project.file.suffix} at all"
    raise InputError(f"{project.stacks}: no stack {stack!r}: {there}")


def _namespaced(path: Path, project: str, given: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    seen: dict[str, str] = {}
    for key, value in given.items():
        parts = key.split(":")
        if len(parts) == 3 and parts[1] == "config":
            parts = [parts[0], parts[2]]  # an old form that the CLI still reads
        if len(parts) > 2:
            raise InputError(f"{path}: config.{key} is not a configuration key: give <namespace>:<name>")
        full = key if len(parts) == 1 else ":".join(parts)
        full = f"{project}:{full}" if len(parts) == 1 else full
        if full in seen:
            raise InputError(f"{path}: config has both {seen[full]!r} and {key!r}, which are one key: keep one")
        seen[full] = key
        yield full, value


def _flattened(path: Path, config: Mapping[str, Any]) -> StackConfig:
    values: dict[str, str] = {}
    secret: list[str] = []
    for key, value in sorted(config.items()):
        blind, secrets = _blinded(value, f"config.{key}")
        if secrets and key == PLATFORM:
            raise InputError(
                f"{path}: {secrets[0]} is a secret: a platform holds none. Keep it in a Kubernetes Secret of its "
                "namespace, and name that by {secret: <name>, key: <key>}"
            )
        if secrets:
            secret.append(key)
        try:
            # The CLI takes a key without a value for an empty text.
            values[key] = "" if blind is None else json_text(blind, nested=False)
        except ValueError as error:
            raise InputError(f"{path}: config.{key}: {error}: quote it, or give a finite number") from error
    return StackConfig(values, tuple(secret))


def _blinded(value: Any, where: str) -> tuple[Any, list[str]]:
    """A value with the sign for an unknown in place of each secret, and where those are."""
    if projectconfig.is_secret(value):
        return UNKNOWN, [where]
    items: Any = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    parts = [(key, *_blinded(item, f"{where}.{key}")) for key, item in items]
    secrets = [secret for _, _, found in parts for secret in found]
    if not secrets:
        return value, []
    if isinstance(value, dict):
        return {key: item for key, item, _ in parts}, secrets
    return [item for _, item, _ in parts], secrets


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
