"""Judges a resource document: all rules, one evaluation, one verdict.

It fails closed. No rules, a rule that does not load, an engine that is dead or slow, an answer that is undefined,
partial or of another shape: each is a GateError, and an error is not a pass.
"""

from __future__ import annotations

import json
from collections.abc import Container, Iterable, Mapping
from dataclasses import dataclass, field, replace
from importlib.resources import files
from pathlib import Path
from typing import Any

from gpuyard.review import waivers
from gpuyard.review.errors import GateError
from gpuyard.review.evaluation import limits, rules
from gpuyard.review.evaluation.engines import Choice, Engine, engine
from gpuyard.review.evaluation.findings import Finding, Status, Waived, order
from gpuyard.review.evaluation.installation import check_installed
from gpuyard.review.evaluation.masks import Mask
from gpuyard.review.evaluation.prepare import Preparation, Prepared, prepare, stack_input
from gpuyard.review.evaluation.rules import Refers, Rule, RuleSet
from gpuyard.review.evaluation.undetermined import SKIP, settle
from gpuyard.review.evaluation.waiving import GROUP, Names, Waiving, names, waiving
from gpuyard.review.prices import CATALOGUE, FILE, Prices, prices
from gpuyard.review.quotas import Snapshot, snapshots
from gpuyard.review.waivers import Waivers

_TEXTS = ("rule", "urn", "path", "message")

Document = Mapping[str, Any]
Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Policies:
    """Where rules and limits come from."""

    directories: tuple[Path, ...]
    """The first has the entry point; each may have `lib/` and `rules/`."""
    limits: Path
    """The folder with environments.yaml and a file an environment."""
    quotas: Path | None = None
    """Folder or file of the quotas of accounts, if there are any."""
    prices: Path | None = None
    """File of prices that go over the catalogue's, if there is one."""
    waivers: Path | None = None
    """File of waivers and break-glass, if there is one."""


@dataclass(frozen=True, slots=True)
class Rulebook:
    """What judges one stack, read once."""

    stack: str
    environment: str
    limits: Json
    """As rules read them."""
    rules: RuleSet
    snapshots: tuple[Snapshot, ...] = ()
    """Quotas of accounts, as far as they are known."""
    prices: Prices = CATALOGUE
    """What machines cost."""
    waivers: Waivers = field(default_factory=Waivers)
    """Those of the stack."""

    def waiving(self, date: str) -> Waiving:
        """What is waived on a day (YYYY-MM-DD). Raises InputError for what the limits do not allow."""
        return waiving(self.waivers, self.limits, self.rules.rules, date)

    @property
    def refers(self) -> list[Refers]:
        """What the rules say of values that name other resources, each once."""
        return sorted({refers for rule in self.rules.rules.values() for refers in rule.refers}, key=str)


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the rules say of a stack."""

    findings: list[Finding]
    """Sorted; what denies comes first."""
    undecided: list[Finding]
    """What could not be decided and is neither denied nor warned of: the rule's metadata says `on_unknown: skip`."""
    engine: str
    """Name and version of the engine that answered."""
    plain_secrets: list[tuple[str, str]]
    """URN and JSON pointer of every secret that stands in plain text: no report may show it."""
    limits: Json = field(default_factory=dict)
    """What it was judged by."""
    rules: Mapping[str, Rule] = field(default_factory=dict)
    """By id, the rules that have judged: those that found nothing have passed."""


def find_policies(program: Path, packaged: Path | None = None) -> Policies:
    """The packaged rules and limits; a program's own `policies/rules` add to the rules, its `policies/limits` replace
    the limits, its `policies/waivers.yaml` replaces the waivers (there are none), its `policies/prices.csv` goes over
    the catalogue's prices, and its `quotas` say what its accounts may run. `packaged` is another version of
    what gpuyard brings."""
    packaged = packaged or Path(str(files("gpuyard.policies"))).resolve()
    own = (program / "policies").resolve()
    added = (own,) if own != packaged and (own / "rules").is_dir() else ()
    limits_ = own / "limits" if (own / "limits").is_dir() else packaged / "limits"
    quotas = (program / "quotas").resolve()
    own_prices, waivers_ = own / FILE, own / waivers.FILE
    return Policies(
        (packaged, *added),
        limits_,
        quotas if quotas.is_dir() else None,
        own_prices if own_prices.is_file() else None,
        waivers_ if waivers_.is_file() else None,
    )


def environment_of(stack: str, policies: Policies) -> str:
    """The environment of a stack, by the map among the limits. Raises InputError for a wrong map."""
    return limits.environment(stack, policies.limits)


def rulebook(stack: str, policies: Policies) -> Rulebook:
    """Reads rules, limits and waivers.

    Raises InputError for wrong limits or waivers, GateError for rules that cannot be read whole.
    """
    check_installed()
    environment = environment_of(stack, policies)
    loaded = rules.load(policies.directories)
    given = limits.limits(stack, environment, policies.limits, loaded.thresholds)
    waived = waivers.read(policies.waivers, loaded.rules).of_stack(stack)
    return Rulebook(stack, environment, given, loaded, snapshots(policies.quotas), prices(policies.prices), waived)


def evaluate(document: Document, policies: Policies, *, choice: Choice = "auto") -> Verdict:
    """Judges a document.

    Raises InputError for wrong limits, GateError when the rules cannot be applied as a whole.
    """
    book = rulebook(_text(document, "stack"), policies)
    return judge_all(document, book, Mask(_resources(document).values()), choice=choice)


def judge_all(
    document: Document,
    book: Rulebook,
    mask: Mask,
    preparation: Preparation | None = None,
    *,
    choice: Choice = "auto",
) -> Verdict:
    """Judges a document by rules that are read already; `preparation` has its resources, if they were read before.

    Raises InputError for waivers that the limits do not allow, GateError when the rules cannot be applied as a whole.
    """
    if document.get("environment") != book.environment:
        raise GateError(
            f"the document is of {document.get('environment')!r}, its stack's environment is {book.environment!r}"
        )
    by_urn = _resources(document)
    waiving = book.waiving(document["date"])
    try:
        if preparation is None:
            prepared = prepare(document, book.limits, book.refers)
        else:
            prepared = preparation.whole(document, book.limits)
        urns = {*by_urn, prepared.input["urn"]}
        plain = [(found["urn"], found["path"]) for found in prepared.input["plain_secrets"]]
        called = names(prepared.input["objects"]) if waiving.by_name else {}
        text = json.dumps(prepared.input, allow_nan=False)
        # A copy of every input, which the engine is about to make once more.
        prepared.input.clear()
    except (RecursionError, ValueError) as error:
        raise GateError(f"the document cannot be prepared for the rules: {error}") from None
    try:
        with engine(book.rules, choice) as chosen:
            settled = list(settle(_fired(chosen.ask(text), book.rules, urns), book.rules.rules, prepared))
            settled += _of_waivers(chosen, book, document, waiving.described(settled, called))
            name = chosen.name
    except GateError as error:
        # An engine's error may quote a value.
        raise GateError(mask(str(error))) from None
    decided = [found for found in settled if found["level"] != SKIP]
    left = [found for found in settled if found["level"] == SKIP]
    findings, undecided = (told(some, book.rules.rules, mask, waiving, called) for some in (decided, left))
    return Verdict(findings, undecided, name, plain, book.limits, book.rules.rules)


def told(
    settled: Iterable[Json], rules: Mapping[str, Rule], mask: Mask, waiving: Waiving, called: Names
) -> list[Finding]:
    """Findings as they are told: in order, one for each rule and place, what is waived marked so, and without a secret.
    `called` are the names of Kubernetes objects."""
    return _once([_finding(found, rules[found["rule"]], mask) for found in waiving.over(settled, called)])


def _of_waivers(engine: Engine, book: Rulebook, document: Document, described: Json) -> list[Json]:
    """What the rules about waivers find, which need to know what the others have found."""
    if not described:
        return []
    about = {key: document[key] for key in ("stack", "project", "environment", "date")}
    given = stack_input(about, book.limits) | described
    fired = _fired(engine.ask(json.dumps(given)), book.rules, {given["urn"]})
    own = [found for found in fired if found["rule"].startswith(GROUP)]
    return list(settle(own, book.rules.rules, Prepared(given, {}, {})))


def _text(document: Document, key: str) -> str:
    value = document.get(key)
    if not isinstance(value, str) or not value:
        raise GateError(f"the document says no {key}")
    return value


def _resources(document: Document) -> dict[str, Mapping[str, Any]]:
    for key in ("project", "date"):
        _text(document, key)
    resources = document.get("resources")
    if not isinstance(resources, list):
        raise GateError("the document has no resources: an empty program has an empty list")
    for resource in resources:
        if not isinstance(resource, dict):
            raise GateError(f"the document has a resource that is none: {type(resource).__name__}")
        texts = all(isinstance(resource.get(key), str) for key in ("urn", "type", "name", "parent", "provider"))
        paths = all(
            isinstance(resource.get(key), list) and all(isinstance(p, str) for p in resource[key])
            for key in ("unknown", "secret")
        )
        if not texts or not paths or not isinstance(resource.get("options"), dict) or "inputs" not in resource:
            raise GateError(f"the document has a resource that is none: {resource.get('urn')!r}")
    by_urn = {resource["urn"]: resource for resource in resources}
    if len(by_urn) < len(resources):
        raise GateError("the document has two resources with one URN: one would hide the other")
    return by_urn


def _fired(answer: Any, loaded: RuleSet, urns: set[str]) -> list[Json]:
    """The findings of a whole answer by the very rules that were loaded."""
    if not isinstance(answer, dict) or set(answer) != {"findings", "loaded", "revision"}:
        raise GateError("the rules gave no whole answer: the entry point is undefined")
    if answer["revision"] != loaded.revision:
        raise GateError("another set of rules answered: somebody else uses the same OPA for another review")
    lost = set(loaded.rules).symmetric_difference(answer["loaded"] if isinstance(answer["loaded"], list) else [])
    if lost:
        raise GateError(f"rules without a set `deny` in the engine: {', '.join(sorted(map(str, lost)))}")
    return checked(answer["findings"], loaded.rules, urns)


def checked(findings: Any, rules: Container[str], urns: Container[str]) -> list[Json]:
    """What rules say that they found. Raises GateError for what has another shape, or is about something else."""
    if not isinstance(findings, list):
        raise GateError("the findings are no list")
    for finding in findings:
        whole = isinstance(finding, dict) and all(isinstance(finding.get(key), str) for key in _TEXTS)
        if not whole or not {*finding} <= {*_TEXTS, "level", "rests_on"}:
            raise GateError(f"a rule gave a finding of another shape: {_rule_of(finding)}")
        rests_on = finding.get("rests_on", [])
        if finding["rule"] not in rules or finding["urn"] not in urns:
            raise GateError(f"{finding['rule']} gave a finding for something that is not in the document")
        if finding.get("level", "advisory") not in ("mandatory", "advisory"):
            raise GateError(f"{finding['rule']} gave a finding with a level that there is not")
        if not isinstance(rests_on, list) or not all(isinstance(path, str) for path in rests_on):
            raise GateError(f"{finding['rule']} gave a finding whose rests_on is no list of paths")
    return findings


def _rule_of(finding: Any) -> str:
    return str(finding.get("rule")) if isinstance(finding, dict) else type(finding).__name__


def _finding(settled: Json, rule: Rule, mask: Mask) -> Finding:
    status: Status = settled["status"]
    waiver: Waived | None = settled.get("waiver")
    certain = "violation" in (status, waiver.status if waiver else "")
    return Finding(
        rule=rule.id,
        severity=rule.severity,
        level="advisory" if settled["level"] == SKIP else settled["level"],
        status=status,
        urn=settled["urn"],
        path=mask.path(settled["path"]),
        message=mask(settled["message"]),
        remediation=rule.remediation,
        patch=rule.patched(settled["path"]) if certain and mask.path(settled["path"]) == settled["path"] else (),
        waiver=waiver and _masked(waiver, mask),
    )


def _masked(waiver: Waived, mask: Mask) -> Waived:
    ticket, approver, reason = (mask(text) for text in (waiver.ticket, waiver.approver, waiver.reason))
    return replace(waiver, ticket=ticket, approver=approver, reason=reason)


def _once(findings: list[Finding]) -> list[Finding]:
    """The findings in order, one for each rule and place."""
    kept: dict[tuple[str, str, str], Finding] = {}
    for finding in sorted(findings, key=order):
        kept.setdefault((finding.rule, finding.urn, finding.path), finding)
    return list(kept.values())
