"""`gpuyard explain`: what a rule demands, why, and what to do."""

from __future__ import annotations

import difflib
import json
from collections.abc import Iterable, Iterator
from pathlib import Path

import click
from rich.console import Console
from rich.table import Table
from rich.text import Text

from gpuyard.cli.output import emit, for_terminal
from gpuyard.cli.stacks import program_option
from gpuyard.review.errors import InputError
from gpuyard.review.evaluation import limits, rules
from gpuyard.review.evaluation.evaluate import find_policies
from gpuyard.review.evaluation.rules import Rule, RuleSet
from gpuyard.review.evaluation.thresholds import shown
from gpuyard.review.program.project import find_project


@click.command(short_help="What a rule demands, why, and what to do.")
@program_option
@click.argument("rule", required=False)
def explain(rule: str | None, program: Path) -> None:
    """Explain RULE, by its id (quota/machines) or its catalogue id (Q6); without one, list all rules.

    A program's own policies/rules are among them.
    """
    policies = find_policies(root_of(program))
    loaded = rules.load(policies.directories)
    known = loaded.rules
    if rule is None:
        emit(for_terminal(lambda console: _list(known.values(), console)))
        return
    found = known.get(rule.strip("/")) or next(
        (one for one in known.values() if one.catalogue.lower() == rule.lower()), None
    )
    if found is None:
        near = difflib.get_close_matches(rule, known, n=3, cutoff=0.4) or list(known)
        raise InputError(f"there is no rule {rule!r}: give one of {', '.join(near)}, or none to list them all")
    parts = [_explanation(found), *_thresholds(found, loaded, policies.limits), _reads(found)]
    emit(for_terminal(lambda console: console.print(*parts, sep="\n")))


def root_of(program: Path) -> Path:
    """The program's folder; a folder without a program has the packaged rules."""
    try:
        return find_project(program).root
    except InputError:
        return program


def _list(known: Iterable[Rule], console: Console) -> None:
    table = Table(box=None, pad_edge=False, header_style="dim")
    for column in ("id", "rule", "severity", "what it demands"):
        table.add_column(column, overflow="fold")
    for one in known:
        table.add_row(one.catalogue, Text(one.id, "bold"), one.severity, one.title)
    console.print(table)


def _explanation(rule: Rule) -> Text:
    text = Text.assemble((rule.title, "bold"), f"\n{rule.id} ({rule.catalogue}), {rule.severity}, {rule.level}\n\n")
    text.append(f"{rule.description.strip()}\n\n")
    text.append(Text.assemble(("What to do: ", "bold"), f"{rule.remediation.strip()}\n"))
    for step in rule.patch:
        value = "" if step.op == "remove" else f": {json.dumps(step.value)}"
        text.append(f"  {step.op} <where the finding is>{step.path}{value}\n")
    unknown = {"deny": "denies", "warn": "warns", "skip": "says nothing"}[rule.on_unknown]
    text.append(f"While a value that it reads is unknown, it {unknown}. ")
    for name, values in (("Frameworks", rule.frameworks), ("CVEs", rule.cves)):
        if values:
            text.append(f"{name}: {', '.join(values)}\n")
    return text


def _thresholds(rule: Rule, loaded: RuleSet, folder: Path) -> Iterator[Text]:
    """What a rule compares with, in each environment."""
    if not rule.thresholds:
        return
    names = limits.environments(folder)
    given = {name: limits.limits("", name, folder, loaded.thresholds)["thresholds"][rule.id] for name in names}
    text = Text("It compares with these, which limits set below `thresholds`:", style="dim")
    for name, threshold in rule.thresholds.items():
        text.append(Text.assemble(f"\n{name}", f"  {threshold.description}", style="not dim"))
        values = ", ".join(f"{where} {shown(values[name])}" for where, values in given.items())
        text.append(f"\n  {shown(threshold.default)} by default: {values}", "not dim")
    yield text.append("\n")


def _reads(rule: Rule) -> Text:
    """Every value that a rule reads, below the type that has it."""
    text = Text("It reads:", style="dim")
    last = ""
    for type_, path in sorted({(read.type, read.path) for read in rule.reads}):
        text.append(f"\n  {path}" if type_ == last else f"\n{type_}\n  {path}")
        last = type_
    return text
