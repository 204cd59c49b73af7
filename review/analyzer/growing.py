"""A stack that grows by one resource at a time, judged as early as each rule can be."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from fnmatch import fnmatchcase
from typing import Any

from gpuyard.review.analyzer.sums import Sums
from gpuyard.review.document import default_providers
from gpuyard.review.errors import GateError
from gpuyard.review.evaluation.engines import Embedded
from gpuyard.review.evaluation.evaluate import Rulebook, checked, judge_all, told
from gpuyard.review.evaluation.findings import Finding
from gpuyard.review.evaluation.masks import Mask, scalars
from gpuyard.review.evaluation.prepare import Preparation, stack_input
from gpuyard.review.evaluation.rules import Rule
from gpuyard.review.evaluation.undetermined import SKIP, settle
from gpuyard.review.evaluation.waiving import names
from gpuyard.review.judge import describe_in
from gpuyard.review.recording import Recording, Resource

Place = tuple[str, str, str]
Json = dict[str, Any]


class GrowingStack:
    """Judges a stack while its resources come.

    A rule that needs the resource alone, or a sum that only grows, is asked when the resource comes, before it is
    created; every rule is asked once more when all are in. The same finding is not given twice.
    """

    def __init__(
        self, book: Rulebook, project: str, *, date: str, config: Mapping[str, str], secret_keys: Iterable[str] = ()
    ) -> None:
        hidden = set(secret_keys)
        self._book, self._project, self._date = book, project, date
        self._config = {key: value for key, value in config.items() if key not in hidden}
        self._secrets = config_secrets(config, hidden)
        defaults = default_providers(project, self._config)
        self._preparation = Preparation(book.refers, defaults)
        self._sums = Sums(defaults, book.snapshots, date, book.prices)
        self._resources: dict[str, Resource] = {}
        self._given: dict[Place, tuple[str, bool]] = {}
        self._early = {rule.id: rule for rule in book.rules.rules.values() if rule.scope != "stack"}
        self._looks: dict[tuple[str, ...], list[Rule]] = {}
        self._mask: Mask | None = None
        self._waiving = book.waiving(date)
        self._engine = Embedded(book.rules)
        about = {"stack": book.stack, "project": project, "environment": book.environment, "date": date}
        self._stack = stack_input(about, book.limits)
        self._urns = {self._stack["urn"]}

    @property
    def mask(self) -> Mask:
        """Masks every secret that came so far."""
        if self._mask is None:
            self._mask = Mask(self._resources.values(), self._secrets)
        return self._mask

    def add(self, resource: Resource) -> tuple[list[Finding], frozenset[str]]:
        """Adds a resource; the findings that are certain now, whatever comes later, and the rules that were asked.

        Raises GateError when a rule cannot be applied.
        """
        urn = resource["urn"]
        self._resources[urn] = resource
        self._urns.add(urn)
        if resource["secret"]:
            self._mask = None
        self._preparation.add(resource)
        named, open_ = self._preparation.references(urn)
        counts = self._sums.add(resource, named.values())
        rules = {rule.id: rule for rule in self._looking(urn, counts=counts) if not open_.intersection(rule.refers)}
        if not rules:
            return [], frozenset()
        found = self._found(urn, rules, sums=self._sums.so_far() if counts else {})
        return self._new(found), frozenset(rules)

    def _looking(self, urn: str, *, counts: bool) -> list[Rule]:
        """The rules that look at a resource as soon as it comes."""
        types = tuple(sorted({part.type for part in self._preparation.parts(urn)}))
        if types not in self._looks:
            self._looks[types] = [rule for rule in self._early.values() if _looks_at(rule, types)]
        if not counts:
            return [rule for rule in self._looks[types] if rule.scope == "resource"]
        return [rule for rule in self._early.values() if rule.scope == "sum" or rule in self._looks[types]]

    def complete(self, depends_on: Mapping[str, Iterable[str]]) -> list[Finding]:
        """All resources are in: the findings that were not given before. `depends_on` are URNs by URN.

        Raises GateError when the rules cannot be applied as a whole.
        """
        for urn, resource in self._resources.items():
            if depends_on.get(urn):
                resource["options"]["depends_on"] = sorted(set(depends_on[urn]))
        recording = Recording(self._project, self._book.stack, list(self._resources.values()), [], 0.0, self._config)
        book = self._book
        document = describe_in(recording, book.environment, date=self._date, quotas=book.snapshots, prices=book.prices)
        verdict = judge_all(document, self._book, self.mask, self._preparation, choice="embedded")
        return self._new(verdict.findings)

    def _found(self, urn: str, rules: Mapping[str, Rule], *, sums: Json) -> list[Finding]:
        prepared = self._preparation.one(urn, self._stack | sums)
        called = names(prepared.input["objects"]) if self._waiving.by_name else {}
        fired: list[Any] = []
        try:
            text = json.dumps(prepared.input, allow_nan=False)
            for rule, denied in zip(rules, self._engine.deny(text, list(rules)), strict=True):
                fired += _with_rule(rule, denied)
        except (RecursionError, ValueError) as error:
            raise GateError(f"{urn} cannot be prepared for the rules: {error}") from None
        except GateError as error:
            # An engine's error may quote a value.
            raise GateError(self.mask(str(error))) from None
        stack = self._stack["urn"]
        own = [
            finding
            for finding in checked(fired, rules, self._urns)
            if finding["urn"] == urn or (finding["urn"] == stack and rules[finding["rule"]].scope == "sum")
        ]
        prepared.unknown = {urn: prepared.unknown[urn]}
        settled = [found for found in settle(own, rules, prepared) if found["level"] != SKIP]
        # The mask is costly, and most resources have no finding.
        return told(settled, rules, self.mask, self._waiving, called) if settled else []

    def _new(self, findings: list[Finding]) -> list[Finding]:
        """Those that were not given yet, or that say something else now, as a sum that has grown does."""
        new = [finding for finding in findings if not self._said(finding)]
        self._given |= {_place(finding): (finding.message, finding.denies) for finding in new}
        return new

    def _said(self, finding: Finding) -> bool:
        before = self._given.get(_place(finding))
        # Masked anew: a secret that came since may hide more of it.
        return before is not None and (self.mask(before[0]), before[1]) == (finding.message, finding.denies)


def config_secrets(config: Mapping[str, str], secret_keys: Iterable[str]) -> list[str]:
    """Texts of configuration that must not show: secret values, and what stands in one that is JSON."""
    texts: list[str] = []
    for value in (config[key] for key in secret_keys if key in config):
        texts.append(value)
        try:
            texts += map(str, scalars(json.loads(value)))
        except (ValueError, RecursionError):
            # Most are plain text.
            continue
    return texts


def _looks_at(rule: Rule, types: Iterable[str]) -> bool:
    return any(fnmatchcase(type_, read.type) for read in rule.reads for type_ in types)


def _with_rule(rule: str, denied: Any) -> list[Any]:
    """What a rule denies, each with its rule, as the entry point gives it."""
    if not isinstance(denied, list):
        raise GateError(f"{rule} has no set `deny` in the engine")
    return [finding | {"rule": rule} if isinstance(finding, dict) else finding for finding in denied]


def _place(finding: Finding) -> Place:
    return finding.rule, finding.urn, finding.path
