"""`gpuyard admission`: the rules that a cluster can apply itself, as Gatekeeper takes them."""

from __future__ import annotations

from io import StringIO
from pathlib import Path
from typing import Any

import click
from rich.console import Console
from rich.table import Table
from rich.text import Text
from ruamel.yaml import YAML
from ruamel.yaml.scalarstring import LiteralScalarString

from gpuyard.cli.explain import root_of
from gpuyard.cli.output import clear, emit, for_terminal, write
from gpuyard.cli.stacks import program_option
from gpuyard.review import waivers
from gpuyard.review.admission import gatekeeper, webhook
from gpuyard.review.errors import InputError
from gpuyard.review.evaluation import limits, rules
from gpuyard.review.evaluation.evaluate import Policies, environment_of, find_policies
from gpuyard.review.waivers import Waiver

TEMPLATES, CONSTRAINTS, VALUES = "templates.yaml", "constraints.yaml", "values.yaml"


@click.command(short_help="Write the rules that a cluster can apply itself, for Gatekeeper.")
@program_option
@click.option("--stack", metavar="NAME", help="The cluster's stack: the limits of its environment, and its own.")
@click.option(
    "--environment",
    metavar="NAME",
    help="Environment whose limits hold; by default the stack's, and without a stack the strictest.",
)
@click.option(
    "--out",
    metavar="DIR",
    type=click.Path(path_type=Path),
    help=f"Write {TEMPLATES}, {CONSTRAINTS}, and {VALUES} for Gatekeeper's chart.",
)
def admission(program: Path, stack: str | None, environment: str | None, out: Path | None) -> None:
    """Write Gatekeeper's templates and constraints for the rules that can be judged on one object. All rules are
    listed: what the cluster does, or why it cannot judge one.

    \b
    gpuyard admission --stack prod-aws --out admission
    kubectl apply -f admission/templates.yaml
    kubectl apply -f admission/constraints.yaml    once their kinds are there
    """
    policies = find_policies(root_of(program))
    loaded = rules.load(policies.directories)
    name = _environment(stack, environment, policies)
    given = limits.limits(stack or "", name, policies.limits, loaded.thresholds)
    found = gatekeeper.admission(loaded, policies.directories[0], name, given)
    waived = waivers.read(policies.waivers, loaded.rules).of_stack(stack).waivers if stack else ()
    if out:
        clear(out, (TEMPLATES, CONSTRAINTS, VALUES))
        constraints = [one for each in found.constraints.values() for one in each]
        texts = {TEMPLATES: [*found.templates.values()], CONSTRAINTS: constraints, VALUES: [webhook.values(found)]}
        write(out, {file: _yaml(objects) for file, objects in texts.items()})
    refused = [one for one in waived if one.rule in found.templates]
    emit(for_terminal(lambda console: _draw(found, refused, name, out, console)))


def _environment(stack: str | None, environment: str | None, policies: Policies) -> str:
    own = environment_of(stack or "", policies)
    there = limits.environments(policies.limits)
    if environment is not None and environment not in there:
        raise InputError(
            f"--environment {environment}: there are no limits of that name: give one of {', '.join(there)}"
        )
    if stack and environment not in (None, own):
        raise InputError(
            f"--environment {environment}: the stack {stack} is judged as {own}: give one of the two options"
        )
    return environment or own


def _yaml(objects: list[dict[str, Any]]) -> str:
    yaml = YAML(typ="rt")
    yaml.width = 120
    yaml.representer.ignore_aliases = lambda *_: True
    text = StringIO()
    yaml.dump_all([_readable(one) for one in objects], text)
    return text.getvalue()


def _readable(value: Any) -> Any:
    """Texts of many lines as such: who installs a template reads its Rego first."""
    if isinstance(value, dict):
        return {key: _readable(member) for key, member in value.items()}
    if isinstance(value, list):
        return [_readable(member) for member in value]
    return LiteralScalarString(value) if isinstance(value, str) and "\n" in value else value


def _draw(
    found: gatekeeper.Admission, waived: list[Waiver], environment: str, out: Path | None, console: Console
) -> None:
    table = Table(box=None, pad_edge=False, header_style="dim")
    for column in ("rule", "in the cluster"):
        table.add_column(column, overflow="fold")
    for rule, constraints in found.constraints.items():
        actions = " and ".join(one["spec"]["enforcementAction"] for one in constraints)
        table.add_row(Text(rule, "bold"), f"{actions}: {constraints[0]['kind']}")
    for rule, reason in found.left_out.items():
        table.add_row(Text(rule, "dim"), Text(f"not judged: {reason}", "dim"))
    console.print(table)
    console.print()
    for one in waived:
        console.print(f"waived in the review, and not in the cluster: {one.resource} ({one.rule})", soft_wrap=True)
    count = f"{len(found.templates)} of {len(found.templates) + len(found.left_out)} rules"
    where = f"written to {out}" if out else "nothing is written without --out"
    console.print(f"{count}, by the limits of {environment}: {where}", soft_wrap=True)
