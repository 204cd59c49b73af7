"""Runs a Pulumi program without an engine and keeps what it registers: no cloud, no cluster, no login, no secrets.

The package needs pulumi alone, on any Python that pulumi runs on, and its modules import each other relatively: it
runs inside other programs' own environments, where gpuyard may not be installed. Nothing of pulumi is loaded until a
function here is called, because the review's own process never needs it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypedDict


class _Always(TypedDict):
    urn: str
    type: str
    name: str
    parent: str
    custom: bool
    provider: str
    inputs: dict[str, Any]
    unknown: list[str]
    secret: list[str]
    options: dict[str, Any]


class Resource(_Always, total=False):
    """One registration, as plain JSON values.

    `unknown` and `secret` are JSON pointers into `inputs`: an unknown value is null there, a secret one is itself.
    `options` holds those that the program set, of protect, ignore_changes, depends_on (URNs, also those that inputs
    imply), aliases (URNs) and retain_on_delete. `remote` is a component that another program makes, whose parts are not
    here. `source` is `file:line`, relative to the project. `autoname` is the name that its provider has chosen, where
    an engine tells; it is not among the inputs. `manifests` is what files hold that an input names, by that input: it
    is judged, and never written.
    """

    remote: bool
    source: str
    autoname: str
    manifests: dict[str, list[Any]]


@dataclass(frozen=True)
class Recording:
    """What a program registers for one stack."""

    project: str
    stack: str
    resources: list[Resource]
    """By URN."""
    log: list[dict[str, str]]
    """The program's own log, debugging left out: `severity` and `message`, recorded secrets masked."""
    seconds: float
    """Wall time. The only part that differs between two recordings of one program."""
    config: Mapping[str, str] = field(default_factory=dict)
    """Configuration that the program got, by full key, without secrets: default providers take their inputs from it."""


def record(
    program: Callable[[], object],
    *,
    project: str,
    stack: str,
    config: Mapping[str, str],
    secret_keys: Iterable[str] = (),
    directory: Path,
    organization: str = "organization",
    fixtures: Mapping[str, dict[str, Any]] | None = None,
    upstream: Any = None,
) -> Recording:
    """Records a program in this thread, also while a real Pulumi run goes on in another one.

    Args:
        program: builds the stack; may return an awaitable, as Pulumi's own entry allows.
        project: name of the project.
        stack: name of the stack.
        config: configuration as the SDK gets it, secrets replaced as `blinded_config` does.
        secret_keys: keys of `config` that are secret.
        directory: the project's folder: source positions are relative to it, gpuyard.invokes.yaml lies in it.
        organization: the stack's organisation.
        fixtures: results of provider functions, before those of gpuyard.invokes.yaml.
        upstream: the monitor of the real run, whose providers then answer function calls.

    Raises what the program raises; LookupError for a function call without an answer; ValueError for two resources
    with one URN; RuntimeError where an event loop runs in this thread already.
    """
    from .session import Session

    session = Session(project, stack, config, secret_keys, Path(directory), organization, fixtures, upstream)
    return session.run(program)


def under_recorder() -> bool:
    """True when the running program is being recorded.

    The monitor decides, by a mark on its type: an environment variable could switch a gate off from outside, and an
    isinstance would not know a recorder that another copy of this package made.
    """
    from pulumi.runtime import settings

    return getattr(type(settings.get_monitor()), "_gpuyard_recorder", False) is True


def blinded_config() -> tuple[dict[str, str], list[str]]:
    """The running program's configuration, with the sign for an unknown value for each secret, and the secret keys."""
    from pulumi.runtime import config

    from .values import UNKNOWN

    secret = {*config._SECRET_KEYS.get(), *config.get_config_secret_keys_env()}
    values = {**config.get_config_env(), **config.CONFIG.get()}
    return {key: UNKNOWN if key in secret else value for key, value in values.items()}, sorted(secret)
