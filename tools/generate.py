"""Writes what is derived from the code: the stack schema and the reference pages."""

from __future__ import annotations

import json
import statistics
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from gpuyard.components.serving.load import estimate
from gpuyard.components.stack import stack_schema
from gpuyard.review.evaluation import limits
from gpuyard.review.evaluation import rules as policies
from gpuyard.review.evaluation.evaluate import find_policies
from gpuyard.review.evaluation.rules import Rule
from gpuyard.review.evaluation.thresholds import shown
from gpuyard.review.report.schema import report_schema

ROOT = Path(__file__).resolve().parent.parent
REFERENCE = ROOT / "docs" / "reference"
NOTICE = "<!-- Written by `make generate`; do not edit. -->\n\n"


def main() -> None:
    """Writes every generated file anew."""
    schema = stack_schema()
    (ROOT / "stacks" / "schema.json").write_text(json.dumps(schema, indent=2) + "\n")
    REFERENCE.mkdir(parents=True, exist_ok=True)
    (REFERENCE / "stack.md").write_text(stack_page(schema))
    (REFERENCE / "report.schema.json").write_text(json.dumps(report_schema(), indent=2) + "\n")
    (REFERENCE / "rules.md").write_text(rules_page(list(policies.load(find_policies(ROOT).directories).rules.values())))
    (REFERENCE / "sizing.md").write_text(sizing_page())


def sizing_page() -> str:
    """Every measurement of throughput, as sizing would estimate it without it."""
    page = [
        f"# How wrong sizing is\n\n{NOTICE}",
        "Each measurement is left out, and estimated from the rest: from the nearest of the same architecture, and "
        "from other architectures alone, as if nobody had measured this one. The bound is what the accelerator could "
        "reach. Figures are output tokens a second of one accelerator.\n\n",
    ]
    near = {error.measurement: error for error in estimate.errors("measured")}
    like = {error.measurement: error for error in estimate.errors("like")}
    page += _table("estimated from", "points", "median error", "nine of ten below", "worst")
    page.append(_row("the same architecture", *_spread([error.error for error in near.values()])))
    page.append(_row("other architectures", *_spread([error.error for error in like.values()])) + "\n")
    page += _table("model", "weights", "on", "engine", "in / out", "in flight", "bound", "measured", "same", "others")
    for one, error in near.items():
        page.append(
            _row(
                one.model,
                one.weights,
                f"{one.accelerators} x {one.accelerator}",
                f"{one.engine} {one.version}",
                f"{one.input} / {one.output}",
                str(one.concurrency),
                f"{error.bound:,.0f}",
                f"{one.tokens_second:,.0f}",
                *(f"{found.estimated:,.0f} ({found.error:+.0%})" for found in (error, like[one])),
            )
        )
    return "".join(page)


def _spread(errors: Sequence[float]) -> tuple[str, ...]:
    sizes = sorted(abs(error) for error in errors)
    parts = (statistics.median(sizes), sizes[int(0.9 * len(sizes))], sizes[-1])
    return str(len(sizes)), *(f"{part:.0%}" for part in parts)


def stack_page(schema: dict[str, Any]) -> str:
    """Every part of a stack file, with its fields."""
    page = [
        f"# The stack file\n\n{NOTICE}",
        "Under `config: gpuyard:platform:` stands one of the platforms below, by its cluster's `cloud`.\n",
    ]
    for name, part in sorted(schema["$defs"].items()):
        if part.get("type") == "object":
            page.append(f"\n## {name}\n\n{part.get('description', '')}\n\n")
            page += _table("key", "value", "default", "meaning")
            page += [_row(*_field(key, field, part.get("required", []))) for key, field in part["properties"].items()]
    return "".join(page)


def rules_page(rules: list[Rule]) -> str:
    """Every rule with what it demands and what to do."""
    page = [f"# The rules\n\n{NOTICE}"]
    page += _table("rule", "catalogue", "severity", "level", "if unknown", "needs", "what it demands", "what to do")
    for rule in sorted(rules, key=lambda rule: rule.id):
        kind = (f"`{rule.id}`", rule.catalogue, rule.severity, rule.level, rule.on_unknown, rule.scope)
        page.append(_row(*kind, rule.title, rule.remediation))
    return "".join([*page, *_thresholds(rules)])


def _thresholds(rules: list[Rule]) -> list[str]:
    """What rules compare with, in each environment that gpuyard brings."""
    folder, known = find_policies(ROOT).limits, {rule.id: rule.thresholds for rule in rules}
    names = limits.environments(folder)
    given = {name: limits.limits("", name, folder, known)["thresholds"] for name in names}
    page = ['\n## Thresholds\n\n`thresholds` in policies/limits sets them: `{"<rule>": {<name>: <value>}}`.\n\n']
    page += _table("rule", "threshold", "type", "default", *names, "what it is")
    for rule in sorted(rules, key=lambda rule: rule.id):
        for name, one in rule.thresholds.items():
            values = (f"`{shown(value)}`" for value in (one.default, *(given[of][rule.id][name] for of in names)))
            page.append(_row(f"`{rule.id}`", f"`{name}`", one.type, *values, one.description))
    return page


def _table(*columns: str) -> list[str]:
    return [_row(*columns), f"|{'---|' * len(columns)}\n"]


def _row(*cells: str) -> str:
    return f"| {' | '.join(_line(cell) for cell in cells)} |\n"


def _field(key: str, field: dict[str, Any], required: list[str]) -> tuple[str, str, str, str]:
    default = "**required**" if key in required else f"`{json.dumps(field['default'])}`" if field.get("default") else ""
    return f"`{key}`", _shape(field), default, field.get("description", "")


def _shape(field: dict[str, Any]) -> str:
    if "$ref" in field:
        name = field["$ref"].rpartition("/")[2]
        return f"[{name}](#{name.lower()})"
    if "const" in field:
        return f"`{field['const']}`"
    if "enum" in field:
        return " or ".join(f"`{value}`" for value in field["enum"])
    for choice in ("anyOf", "oneOf"):
        if choice in field:
            return " or ".join(dict.fromkeys(_shape(one) for one in field[choice] if one.get("type") != "null"))
    if field.get("type") == "array":
        return f"list of {_shape(field['items'])}"
    if field.get("type") == "object":
        values = field.get("additionalProperties", field.get("patternProperties", {}))
        values = next(iter(values.values())) if isinstance(values, dict) and "patternProperties" in field else values
        return f"mapping of names to {_shape(values)}" if isinstance(values, dict) else "mapping"
    return str(field.get("type", "anything"))


def _line(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


main()
