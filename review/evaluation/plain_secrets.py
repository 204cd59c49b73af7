"""Secrets that a program writes where everybody can read them.

What a secret looks like is data, in tokens.yaml. What is found is told by its place and kind, never by its text.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from gpuyard.review.evaluation.objects import HELM, Json, Object, Path, member, metadata, pointer
from gpuyard.review.evaluation.pods import CONTAINERS, Pod, pods
from gpuyard.review.evaluation.shells import split
from gpuyard.review.program.goyaml import parse

_PLACEHOLDER = re.compile(r"example|placeholder|change[-_]?me|(.)\1{7}", re.IGNORECASE)
_LETTER_AND_DIGIT = re.compile(r"(?=.*[A-Za-z])(?=.*[0-9])")
_USER_DATA: Mapping[str, Mapping[str, bool]] = {
    "aws:ec2/instance:Instance": {"userData": False, "userDataBase64": True},
    "aws:ec2/launchConfiguration:LaunchConfiguration": {"userData": False, "userDataBase64": True},
    "aws:ec2/launchTemplate:LaunchTemplate": {"userData": True},
    "gcp:compute/instance:Instance": {"metadata": False, "metadataStartupScript": False},
    "gcp:compute/instanceTemplate:InstanceTemplate": {"metadata": False, "metadataStartupScript": False},
    "gcp:container/nodePool:NodePool": {"nodeConfig.metadata": False},
}
"""Inputs that a machine reads at its start, and whether they are base64. Any process on it may read them too."""


@dataclass(frozen=True, slots=True)
class Tokens:
    """What tokens.yaml says."""

    names: frozenset[str]
    endings: tuple[str, ...]
    flags: frozenset[str]
    shortest: int
    references: re.Pattern[str]
    any_format: re.Pattern[str]
    any_name: re.Pattern[str]
    """A variable or a flag of those above, with what is given to it."""
    formats: tuple[tuple[str, re.Pattern[str]], ...]

    def kind(self, text: str) -> str:
        """The kind of secret that a text holds; empty where it holds none."""
        for found in self.any_format.finditer(text):
            if not _PLACEHOLDER.search(found[0]):
                return next(name for name, pattern in self.formats if pattern.fullmatch(found[0]))
        return ""

    def value(self, text: str) -> bool:
        """Whether the value of something secret is written out: not a reference to where it is, not a stand-in."""
        written = len(text) >= self.shortest and " " not in text and not self.references.match(text)
        return written and not _PLACEHOLDER.search(text)

    def named(self, name: str, text: str) -> bool:
        """Whether a variable of this name with this value is a secret."""
        if name in self.names:
            return self.value(text)
        return name.endswith(self.endings) and bool(_LETTER_AND_DIGIT.match(text)) and self.value(text)


@cache
def tokens() -> Tokens:
    """Reads tokens.yaml, once."""
    said: Any = parse(files("gpuyard.review.evaluation").joinpath("tokens.yaml").read_text("utf-8"))
    formats = tuple((row["name"], re.compile(row["pattern"])) for row in said["formats"])
    together = "|".join(row["pattern"] for row in said["formats"])
    return Tokens(
        names=frozenset(said["names"]),
        endings=tuple(said["endings"]),
        flags=frozenset(said["flags"]),
        shortest=said["shortest"],
        references=re.compile("|".join(said["references"])),
        any_name=re.compile(rf"(?:{'|'.join(map(re.escape, (*said['names'], *said['endings'], *said['flags'])))})[= ]"),
        any_format=re.compile(rf"(?<![A-Za-z0-9_])(?:{together})"),
        formats=formats,
    )


def in_plain_text(type_: str, inputs: Json, found: Iterable[Object], secret: frozenset[str]) -> Iterator[Json]:
    """Every secret of a resource that stands in plain text: `{path, place, name, kind}`.

    `secret` are the pointers that the program marks secret: such a value is one, whatever it looks like, and ends in
    plain text where a container's variable, a ConfigMap or user data takes it.
    """
    for item in found:
        if item.key == "ConfigMap":
            yield from _config_map(item, secret)
        for pod in pods(item):
            yield from _pod(pod, secret)
            if len(pod.path) > len(item.path):
                yield from _annotations(item, pod.path[:-1], secret)
    for field, encoded in _USER_DATA.get(type_, {}).items():
        yield from _user_data(inputs, field, secret, encoded=encoded)
    if type_.startswith(HELM):
        # Helm keeps values in a Secret: one that is marked is not in plain text, one that is not lies in the state too.
        yield from _values(inputs.get("values"), ("values",), secret)


def _pod(pod: Pod, secret: frozenset[str]) -> Iterator[Json]:
    found = list(_in_containers(pod, secret))
    yield from found
    for role in CONTAINERS if secret else ():
        # A provider that checks inputs marks a whole list for one secret in it, and does not say for which.
        whole = pointer((*pod.path, role))
        if whole in secret and not any(item["path"].startswith(f"{whole}/") for item in found):
            yield {"path": whole, "place": "pod", "name": "", "kind": "marked"}


def _in_containers(pod: Pod, secret: frozenset[str]) -> Iterator[Json]:
    for _, place, container in pod.containers:
        variables = container.get("env")
        for i, variable in enumerate(variables if isinstance(variables, list) else []):
            if isinstance(variable, dict):
                at = (*place, "env", i, "value")
                yield from _named(variable.get("value"), at, "environment variable", variable.get("name"), secret)
        for field in ("command", "args"):
            words = container.get(field)
            if isinstance(words, list):
                yield from _arguments(words, (*place, field), secret)


def _annotations(item: Object, pod: Path, secret: frozenset[str]) -> Iterator[Json]:
    described: Any = item.body
    for step in pod[len(item.path) :]:
        described = member(described, step)
    annotations = metadata(described).get("annotations") if isinstance(described, dict) else None
    for key, value in annotations.items() if isinstance(annotations, dict) else ():
        yield from _named(value, (*pod, "metadata", "annotations", key), "annotation", key, secret)


def _arguments(words: list[Any], path: Path, secret: frozenset[str]) -> Iterator[Json]:
    before = ""
    for i, word in enumerate(words):
        text = word if isinstance(word, str) else ""
        flag, _, value = text.partition("=")
        at = (*path, i)
        if before in tokens().flags and tokens().value(text):
            yield {"path": pointer(at), "place": "argument", "name": before, "kind": f"the value of {before}"}
        elif flag in tokens().flags and tokens().value(value):
            yield {"path": pointer(at), "place": "argument", "name": flag, "kind": f"the value of {flag}"}
        else:
            yield from _named(word, at, "argument", "", secret)
            if " " in text:
                yield from _in_script(text, at, "argument")
        before = text


def _in_script(text: str, path: Path, place: str) -> Iterator[Json]:
    """The first secret that a script gives to a variable or a flag; one of a known format is told already."""
    if tokens().kind(text) or not tokens().any_name.search(text):
        return
    for command in split(text):
        for word, following in zip(command, [*command[1:], ""], strict=True):
            name, _, value = word.partition("=")
            secret = tokens().value(value or following) if name in tokens().flags else tokens().named(name, value)
            if secret:
                yield {"path": pointer(path), "place": place, "name": name, "kind": f"the value of {name}"}
                return


def _config_map(item: Object, secret: frozenset[str]) -> Iterator[Json]:
    whole = pointer((*item.path, "data"))
    data = item.body.get("data")
    if whole in secret:
        yield {"path": whole, "place": "ConfigMap", "name": "data", "kind": "marked"}
    for key, value in data.items() if isinstance(data, dict) else ():
        place: Path = (*item.path, "data", key)
        told = list(_named(value, place, "ConfigMap key", key, secret))
        yield from told or _in_script(value if isinstance(value, str) else "", place, "ConfigMap key")
    binary = item.body.get("binaryData")
    for key, value in binary.items() if isinstance(binary, dict) else ():
        text = _decoded(value) if isinstance(value, str) else ""
        yield from _named(text, (*item.path, "binaryData", key), "ConfigMap key", key, secret)
    # A key whose value is secret and not known yet has no value here.
    for at in sorted(secret):
        key = at.removeprefix(f"{whole}/")
        if at.startswith(f"{whole}/") and "/" not in key and key not in (data if isinstance(data, dict) else {}):
            yield {"path": at, "place": "ConfigMap key", "name": key, "kind": "marked"}


def _user_data(inputs: Json, field: str, secret: frozenset[str], *, encoded: bool) -> Iterator[Json]:
    path = tuple(field.split("."))
    value: Any = inputs
    for step in path:
        value = value.get(step) if isinstance(value, dict) else None
    for at, text in _texts(value, path):
        yield from _named(_decoded(text) if encoded else text, at, "user data", "", frozenset())
    for marked in sorted(secret):
        if marked == pointer(path) or marked.startswith(f"{pointer(path)}/"):
            yield {"path": marked, "place": "user data", "name": "", "kind": "marked"}


def _values(value: Any, path: Path, secret: frozenset[str]) -> Iterator[Json]:
    names = {(*at, "value"): variable["name"] for at, variable in _variables(value, path)}
    for at, text in _texts(value, path):
        if not _marked(at, secret):
            yield from _named(text, at, "Helm value", names.get(at, at[-1]), frozenset())


def _variables(value: Any, path: Path) -> Iterator[tuple[Path, Json]]:
    """Environment variables that values hand to a chart's containers."""
    if isinstance(value, dict):
        if isinstance(value.get("name"), str) and isinstance(value.get("value"), str):
            yield path, value
        for key, member in value.items():
            yield from _variables(member, (*path, key))
    elif isinstance(value, list):
        for i, member in enumerate(value):
            yield from _variables(member, (*path, i))


def _named(value: Any, path: Path, place: str, name: Any, secret: frozenset[str]) -> Iterator[Json]:
    """A secret by its format, by the name of the variable, or because the program says that it is one."""
    name = name if isinstance(name, str) else ""
    text = value if isinstance(value, str) else ""
    kind = tokens().kind(text)
    if not kind and tokens().named(name, text):
        kind = f"the value of {name}"
    if not kind and secret and pointer(path) in secret:
        kind = "marked"
    if kind:
        yield {"path": pointer(path), "place": place, "name": name, "kind": kind}


def _marked(path: Path, secret: frozenset[str]) -> bool:
    return bool(secret) and any(pointer(path[:length]) in secret for length in range(len(path) + 1))


def _texts(value: Any, path: Path) -> Iterator[tuple[Path, str]]:
    if isinstance(value, str):
        yield path, value
    elif isinstance(value, dict):
        for key, member in value.items():
            yield from _texts(member, (*path, key))
    elif isinstance(value, list):
        for i, member in enumerate(value):
            yield from _texts(member, (*path, i))


def _decoded(text: str) -> str:
    try:
        return base64.b64decode(text, validate=True).decode("utf-8", "replace")
    except (binascii.Error, ValueError):
        return text
