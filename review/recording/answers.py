"""Answers the calls of provider functions that a program makes while it is recorded: no provider is asked."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import yaml  # type: ignore[import-untyped]

from .manifests import documents

OWN_FILE = "gpuyard.invokes.yaml"
"""A program's own answers, beside its Pulumi.yaml."""

DEFAULTS = {
    "aws": {"region": "us-east-1"},
    "gcp": {"region": "us-central1", "zone": "us-central1-a", "project": "example-project"},
}
"""Where a call is made that says nothing, nor its provider, nor the stack's configuration."""

_BUILT_IN = Path(__file__).resolve().parent.parent / "invokes.yaml"
_PLACEHOLDER = re.compile(r"\{(region|zone|project|args\.\w+)\}")

Args = dict[str, Any]


class UnansweredError(LookupError):
    """A program needs the result of a function at once, and nothing answers."""

    def __init__(self, token: str) -> None:
        super().__init__(
            f"the program calls the function {token} directly, and a review asks no provider: write its result into "
            f'{OWN_FILE} beside Pulumi.yaml, as "{token}": {{<name>: <value>}}, or call its *_output form'
        )


class Answer(NamedTuple):
    """What a function may be taken to return."""

    value: Args
    made_up: bool
    """True for an example of ours: it lets a program run on, and is never worth more than "unknown"."""


class Answers:
    """Finds answers: the program's own, then our examples."""

    def __init__(self, directory: Path, fixtures: Mapping[str, Args] | None = None) -> None:
        self._own_file = directory / OWN_FILE
        self._given = fixtures
        self._files: tuple[Mapping[str, Args], Mapping[str, Args]] | None = None

    def computed(self, token: str, args: Args) -> Args | None:
        """What a function returns that needs no provider but its arguments, or None."""
        compute = _COMPUTED.get(token)
        return None if compute is None else compute(args)

    def find(self, token: str, args: Args, place: Mapping[str, Any]) -> Answer | None:
        """The answer to a call at a place (its region, zone and project), or None. Raises ValueError for a bad file."""
        own, examples = self._load()
        if token in own:
            return Answer(args | _filled(own[token], args, place), made_up=False)
        if token in examples:
            return Answer(args | _filled(examples[token], args, place), made_up=True)
        return None

    def _load(self) -> tuple[Mapping[str, Args], Mapping[str, Args]]:
        if self._files is None:
            own = dict(_read(self._own_file)) if self._own_file.exists() else {}
            self._files = own | dict(self._given or {}), _read(_BUILT_IN)
        return self._files


def place_of(token: str, args: Args, provider: Args, config: Mapping[str, str]) -> Args:
    """Region, zone and project of a call: its own, its provider's, the stack's, or an example."""
    package = token.split(":", 1)[0]
    place = {}
    for name, default in DEFAULTS.get(package, {}).items():
        place[name] = args.get(name) or provider.get(name) or config.get(f"{package}:{name}") or default
    return place


def _read(path: Path) -> Mapping[str, Args]:
    try:
        answers = yaml.safe_load(path.read_text(encoding="utf-8")) or {}
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise ValueError(f"{path} is not YAML: {error}") from error
    if not isinstance(answers, dict):
        raise ValueError(f"{path} holds a {type(answers).__name__}: give a mapping of function tokens to results")
    for token, answer in answers.items():
        if not isinstance(answer, dict):
            raise ValueError(f"{path}: the result of {token} is {answer!r}: give a mapping of names to values")
    return answers


def _filled(answer: Any, args: Args, place: Mapping[str, Any]) -> Any:
    if isinstance(answer, dict):
        return {key: _filled(value, args, place) for key, value in answer.items()}
    if isinstance(answer, list):
        return [_filled(value, args, place) for value in answer]
    if not isinstance(answer, str):
        return answer

    def fill(match: re.Match[str]) -> str:
        name = match[1]
        return str(args.get(name[5:], "example") if name.startswith("args.") else place.get(name, "example"))

    return _PLACEHOLDER.sub(fill, answer)


def _decoded_yaml(args: Args) -> Args:
    """The documents of a text, as pulumi-kubernetes' ConfigFile and ConfigGroup of version 1 ask for them."""
    found = documents(args["text"])
    if found is None:
        raise ValueError("kubernetes:yaml:decode: the text is no YAML, or too much of it: give YAML of at most 5 MB")
    return {"result": found}


def _policy_document(args: Args) -> Args | None:
    """An IAM policy as the data source aws_iam_policy_document writes it; None where it merges other documents."""
    if any(
        args.get(name) for name in ("sourceJson", "overrideJson", "sourcePolicyDocuments", "overridePolicyDocuments")
    ):
        return None
    policy: Args = {"Version": args.get("version") or "2012-10-17"}
    if args.get("policyId"):
        policy["Id"] = args["policyId"]
    policy["Statement"] = [_statement(statement) for statement in args.get("statements") or []]
    return args | {"id": "example", "json": json.dumps(policy, indent=2), "minifiedJson": json.dumps(policy)}


def _statement(given: Args) -> Args:
    statement: Args = {"Effect": given.get("effect") or "Allow"}
    if given.get("sid"):
        statement["Sid"] = given["sid"]
    for name in ("Action", "NotAction", "Resource", "NotResource"):
        values = given.get(name[0].lower() + name[1:] + "s")
        if values:
            statement[name] = values[0] if len(values) == 1 else values
    for name in ("Principal", "NotPrincipal"):
        principals = given.get(name[0].lower() + name[1:] + "s")
        if principals:
            statement[name] = _principals(principals)
    for condition in given.get("conditions") or []:
        test = statement.setdefault("Condition", {}).setdefault(condition["test"], {})
        values = condition["values"]
        test[condition["variable"]] = values[0] if len(values) == 1 else values
    return statement


def _principals(principals: list[Args]) -> Any:
    merged: dict[str, list[str]] = {}
    for principal in principals:
        merged.setdefault(principal["type"], []).extend(principal["identifiers"])
    if merged == {"*": ["*"]}:
        return "*"
    return {kind: names[0] if len(names) == 1 else names for kind, names in merged.items()}


_COMPUTED: dict[str, Callable[[Args], Args | None]] = {
    "aws:iam/getPolicyDocument:getPolicyDocument": _policy_document,
    "kubernetes:yaml:decode": _decoded_yaml,
}
