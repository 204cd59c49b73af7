"""The rules: their texts, and what their METADATA says of them.

A rule is a file `rules/<group>/<rule>/<rule>.rego` below a policy directory; its id is that path. The METADATA block
is read here because the embedded engine cannot tell it, and as OPA reads it: comment lines above the package, YAML.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from gpuyard.review.errors import GateError
from gpuyard.review.evaluation.findings import Operation
from gpuyard.review.evaluation.thresholds import Name, Threshold
from gpuyard.review.program.goyaml import YamlError, parse

ENTRY = "main.rego"
PACKAGE = "gpuyard"
"""Prefix of every package of ours: a shared OPA holds the packages of others too."""

_NAME = re.compile(r"[a-z][a-z0-9_]*")
_PACKAGE = re.compile(r"^package[ \t]+(\S+)[ \t]*$", re.MULTILINE)
_IMPORT = re.compile(rf"^import[ \t]+data\.({PACKAGE}\.[\w.]+)", re.MULTILINE)
_DENY = re.compile(r"^deny contains ", re.MULTILINE)


class _Metadata(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)


class Read(_Metadata):
    """A value that a rule reads. While it is unknown, the rule cannot decide."""

    type: Annotated[str, Field(min_length=1)]
    """Pulumi type, `*` for any part of it; `kubernetes:<apiVersion>:<Kind>` for an object; `pod` for a pod's spec,
    whatever workload carries it."""
    path: Annotated[str, Field(pattern=r"^(/[^/]+)+$")]
    """JSON pointer into the inputs (of `pod`: into its spec); a step `*` is any member."""
    fires: bool = False
    """Whether the rule itself fires where it needs the value and does not know it, and says on what it rests: then not
    to know it is no reason to be undecided by itself."""

    @property
    def steps(self) -> tuple[str, ...]:
        """The path, step by step."""
        return tuple(self.path.split("/")[1:])


class Refers(Read):
    """A value that names another resource of the program: by its name, or, where that is not known yet, by being what
    the resource depends on. It is no reason to be undecided by itself."""

    to: Annotated[str, Field(min_length=1)]
    """The type that it names."""


class Patch(_Metadata):
    """One step of what cures a finding, as JSON Patch has it."""

    op: Literal["add", "replace", "remove"]
    path: Annotated[str, Field(pattern=r"^(/[^/]+)*$")]
    """From the finding's path on: empty for itself, `/x` for what is below it, `/../x` for what is beside it."""
    value: Any = None

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        given = "value" in self.model_fields_set
        if given == (self.op == "remove"):
            raise ValueError(f"{self.op} {'has a value' if given else 'has no value'}")
        if ".." in self.path.lstrip("/.").split("/"):
            raise ValueError(f"{self.path} goes up after it went down")
        return self

    def at(self, path: str) -> Operation | None:
        """The step for a finding at a path; None where that has not so many steps above it."""
        steps = self.path.split("/")[1:]
        up = steps.count("..")
        base = path.split("/")[1:]
        if up > len(base):
            return None
        return Operation(self.op, "".join(f"/{step}" for step in [*base[: len(base) - up], *steps[up:]]), self.value)


class Rule(_Metadata):
    """What METADATA says of a rule."""

    id: str
    """Its path: `<group>/<rule>`."""
    title: Annotated[str, Field(min_length=1)]
    description: Annotated[str, Field(min_length=1)]
    catalogue: Annotated[str, Field(pattern=r"^[A-Z][A-Z0-9-]{0,15}$")]
    """Its short id in the catalogue of guardrails: Q4; a rule of one's own takes any letters and digits."""
    severity: Literal["critical", "high", "medium", "low"]
    level: Literal["mandatory", "advisory"]
    on_unknown: Literal["deny", "warn", "skip"]
    """What follows where a value that the rule reads is unknown: a mandatory finding, an advisory one, or a note."""
    scope: Literal["resource", "sum", "stack"] = "stack"
    """What a finding needs, and so how early the policy pack gives it. `resource`: the resource alone, its provider and
    what it refers to. `sum`: also a sum over resources that only grows with each. `stack`: all resources, for any of
    them may cure it."""
    waivable: bool = True
    reads: list[Read]
    refers: list[Refers] = Field(default_factory=list)
    thresholds: dict[Name, Threshold] = Field(default_factory=dict)
    """By name, what it compares with: it reads them in `input.limits.thresholds["<group>/<rule>"]`, where all are."""
    frameworks: list[str] = Field(default_factory=list)
    remediation: Annotated[str, Field(min_length=1)]
    patch: list[Patch] = Field(default_factory=list)
    """What cures a finding, where the same always does; in the inputs of the resource that the finding is about."""
    cves: list[Annotated[str, Field(pattern=r"^CVE-[0-9]{4}-[0-9]{4,}$")]] = Field(default_factory=list)

    def patched(self, path: str) -> tuple[Operation, ...]:
        """The patch of a finding at a path: whole or none."""
        found = [step.at(path) for step in self.patch]
        return tuple(step for step in found if step) if all(found) else ()

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if self.level == "advisory" and self.on_unknown == "deny":
            raise ValueError("level is advisory and on_unknown is deny: what only warns cannot deny what is unknown")
        return self


@dataclass(frozen=True, slots=True)
class RuleSet:
    """Every rule that judges a stack, and the texts that an engine needs for it."""

    rules: Mapping[str, Rule]
    modules: Mapping[str, str]
    """Rego text by file name, in the order in which an engine may take them: a module follows what it imports."""

    @property
    def thresholds(self) -> dict[str, Mapping[str, Threshold]]:
        """By rule and name."""
        return {rule.id: rule.thresholds for rule in self.rules.values()}

    @property
    def revision(self) -> str:
        """Digest of all texts: an engine says it in its answer, so that no other rules can answer for these."""
        digest = hashlib.sha256()
        for name, text in self.modules.items():
            digest.update(f"{name}\0{len(text)}\0{text}".encode())
        return digest.hexdigest()


def load(directories: Iterable[Path]) -> RuleSet:
    """Reads the rules of all directories; the first brings the entry point.

    Raises GateError for what is missing, malformed or there twice.
    """
    rules: dict[str, Rule] = {}
    libraries: dict[str, str] = {}
    texts: dict[str, str] = {}
    first, *others = directories
    for directory in (first, *others):
        for path in _files(directory / "lib"):
            _put(libraries, f"lib/{path.name}", path, f"{PACKAGE}.lib.{path.stem}")
        for path in _files(directory / "rules"):
            rule_id = _rule_id(path, directory / "rules")
            text = _put(texts, f"rules/{rule_id}.rego", path, f"{PACKAGE}.rules.{rule_id.replace('/', '.')}")
            rules[rule_id] = parsed(rule_id, text, path)
    if not rules:
        raise GateError(f"no rule is found in {', '.join(str(d) for d in (first, *others))}: nothing would be judged")
    entry = {ENTRY: _read(first / ENTRY)}
    ordered = {name: modules[name] for modules in (libraries, texts) for name in sorted(modules)} | entry
    _check_imports(ordered)
    return RuleSet(dict(sorted(rules.items())), ordered)


def metadata(text: str) -> Any:
    """The METADATA block above the package. Raises ValueError where there is none that can be read."""
    lines = text.splitlines()
    package = next((i for i, line in enumerate(lines) if line.startswith("package ")), 0)
    start = package
    while start and lines[start - 1].startswith("#"):
        start -= 1
    block = lines[start:package]
    if "# METADATA" not in block:
        raise ValueError("there is no `# METADATA` block right above the package")
    body = block[block.index("# METADATA") + 1 :]
    try:
        return parse("\n".join(line[2:] for line in body))
    except YamlError as error:
        raise ValueError(f"METADATA is not YAML: {error}") from None


def _files(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*.rego") if not path.name.endswith("_test.rego"))


def _read(path: Path) -> str:
    try:
        return path.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise GateError(f"{path} cannot be read: {error}") from None


def _rule_id(path: Path, rules: Path) -> str:
    steps = path.relative_to(rules).with_suffix("").parts
    if len(steps) != 3 or steps[1] != steps[2] or not all(_NAME.fullmatch(step) for step in steps):
        raise GateError(f"{path} is no rule: the file must be rules/<group>/<rule>/<rule>.rego, in a-z, 0-9 and _")
    return f"{steps[0]}/{steps[1]}"


def _put(modules: dict[str, str], name: str, path: Path, package: str) -> str:
    if name in modules:
        raise GateError(f"{path}: there is a {name.removesuffix('.rego')} already: give yours another name")
    text = _read(path)
    found = _PACKAGE.search(text)
    if found is None or found[1] != package:
        raise GateError(f"{path}: the package is {found[1] if found else 'missing'}, and must be {package}")
    modules[name] = text
    return text


def _check_imports(modules: Mapping[str, str]) -> None:
    """To an engine, an import of what is not there is undefined: a rule that reads it would never fire."""
    packages = {found[1] for text in modules.values() if (found := _PACKAGE.search(text))}
    for name, text in modules.items():
        for imported in _IMPORT.findall(text):
            if not any(f"{imported}.".startswith(f"{package}.") for package in packages):
                raise GateError(f"{name} imports data.{imported}, which is not there: the rule could never fire")


def parsed(rule_id: str, text: str, path: Path) -> Rule:
    """What the text of a rule says of it. Raises GateError."""
    if not _DENY.search(text):
        raise GateError(f"{path}: there is no `deny contains`, so the rule could never fire")
    try:
        said = metadata(text)
        custom = dict(said["custom"])
        named = {"id": rule_id, "title": said["title"], "description": said["description"]}
        return Rule(**named, catalogue=custom.pop("id"), **custom)
    except ValidationError as error:
        problem = error.errors()[0]
        where = "".join(f" {step}" for step in ["/".join(str(step) for step in problem["loc"])] if step)
        raise GateError(f"{path}: METADATA{where}: {problem['msg'].removeprefix('Value error, ')}") from None
    except (KeyError, TypeError) as error:
        raise GateError(f"{path}: METADATA lacks {error}: it takes title, description and custom") from None
    except ValueError as error:
        raise GateError(f"{path}: {error}") from None
