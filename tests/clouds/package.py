"""What tells one stand-in provider from another: its name, how it is configured, and its functions."""

from __future__ import annotations

import importlib
import importlib.metadata
import pkgutil
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, ClassVar

from clouds.cloud import Cloud
from clouds.kind import Kind, Session

Function = Callable[[Session, Mapping[str, Any]], Mapping[str, Any]]

FUNCTIONS: dict[str, Function] = {}
"""Every function by its Pulumi token, of the providers that were made."""


def function(token: str) -> Callable[[Function], Function]:
    """Makes a function answer a Pulumi token."""

    def register(answer: Function) -> Function:
        FUNCTIONS[token] = answer
        return answer

    return register


class Package(ABC):
    """One provider."""

    name: ClassVar[str]
    """Of the provider, and of its folder here."""
    replaces: ClassVar[frozenset[str]] = frozenset()
    """The provider's inputs that a provider cannot change."""
    attempts: ClassVar[int] = 5
    """How often it asks a cloud that says "too many requests"."""

    def __init__(self) -> None:
        self.version = importlib.metadata.version(f"pulumi-{self.name}")

    @abstractmethod
    def configure(self, cloud: Cloud, settings: Mapping[str, Any]) -> Session:
        """The account to work in. Raises NotConfiguredError where it cannot be."""

    @abstractmethod
    def prepare(self, session: Session, kind: Kind, inputs: dict[str, Any]) -> dict[str, Any]:
        """Adds what the provider itself adds to every resource's inputs."""

    @property
    @abstractmethod
    def too_many(self) -> tuple[str, str]:
        """Code and message of "too many requests"."""

    @property
    @abstractmethod
    def unavailable(self) -> tuple[str, str]:
        """Code and message of a cloud that refuses for no fault of ours."""


def package(name: str) -> Package:
    """A provider by its name, with every kind and function in the modules of its folder."""
    for module in pkgutil.iter_modules([str(Path(__file__).with_name(name))]):
        importlib.import_module(f"clouds.{name}.{module.name}")
    made: Package = next(cls for cls in Package.__subclasses__() if cls.name == name)()
    return made
