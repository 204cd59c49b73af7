"""`gpuyard explain`: what a rule demands, why, and what to do."""

from __future__ import annotations

import difflib
from pathlib import Path

import click
from rich.console import Console
from rich.text import Text

from gpuyard.cli.stacks import program_option
from gpuyard.review import rules
from gpuyard.review.errors import InputError
from gpuyard.review.evaluate import find_policies
from gpuyard.review.rules import Rule


@click.command()
@program_option
@click.argument("rule", required=False)
def explain(rule: str | None, program: Path) -> None:
    """Explain RULE, by its id (quota/machines) or its catalogue id (Q6); without one, list all rules."""
    known = rules.load(find_policies(program).directories).rules
    console = Console(highlight=False)
    if rule is None:
        for one in known.values():
            console.print(Text.assemble((f"{one.catalogue:4} ", "dim"), (f"{one.id:32} ", "bold"), one.title))
        return
    found = known.get(rule) or next((one for one in known.values() if one.catalogue.lower() == rule.lower()), None)
    if found is None:
        near = difflib.get_close_matches(rule, known, n=3, cutoff=0.4) or list(known)
        raise InputError(f"there is no rule {rule!r}: give one of {', '.join(near)}, or none to list them all")
    console.print(_explanation(found))


def _explanation(rule: Rule) -> Text:
    text = Text.assemble((rule.title, "bold"), f"\n{rule.id} ({rule.catalogue}), {rule.severity}, {rule.level}\n\n")
    text.append(f"{rule.description.strip()}\n\n")
    text.append(Text.assemble(("What to do: ", "bold"), f"{rule.remediation.strip()}\n"))
    unknown = {"deny": "denies", "warn": "warns", "skip": "says nothing"}[rule.on_unknown]
    text.append(f"While a value that it reads is unknown, it {unknown}. ")
    text.append("It can be waived.\n" if rule.waivable else "It cannot be waived.\n")
    for name, values in (("Frameworks", rule.frameworks), ("CVEs", rule.cves)):
        if values:
            text.append(f"{name}: {', '.join(values)}\n")
    text.append("Reads: " + ", ".join(sorted({f"{read.type}{read.path}" for read in rule.reads})), style="dim")
    return text
