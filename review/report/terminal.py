"""The report in a terminal: what would be created, what it costs, which quota it uses, which rule it breaks."""

from __future__ import annotations

from collections import Counter
from typing import Any

from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from gpuyard.review.changes import Change, counted, losses
from gpuyard.review.comparison import Comparison
from gpuyard.review.document import Document
from gpuyard.review.judge import Review
from gpuyard.review.report.difference import is_new, lines, news, sentences, weight
from gpuyard.review.report.levels import Level, levels
from gpuyard.review.report.summary import (
    by_rule,
    charged,
    hourly,
    kinds,
    money,
    parts,
    places,
    priced,
    rate,
    short_type,
    span,
)

SEVERITY = {"critical": "bold red", "high": "red", "medium": "yellow", "low": "cyan"}


def print_review(review: Review, console: Console) -> None:
    """Prints one review."""
    document = review.document
    console.print(Text.assemble((f"{document['stack']}", "bold"), f"  {document['environment']}, {document['date']}"))
    console.print(Padding(Group(*_sections(review)), (0, 0, 0, 2)))
    console.print("", _verdict(review), "", sep="\n")


def print_cost(document: Document, console: Console) -> None:
    """Prints what one stack costs."""
    console.print(Text.assemble((f"{document['stack']}", "bold"), f"  {document['environment']}, {document['date']}"))
    tables: list[RenderableType] = [_node_groups(document)]
    if document["cost"]["charges"]:
        tables += ["", _charges(document["cost"])]
    if document["cost"]["not_priced"]:
        tables += ["", _not_priced(document["cost"])]
    if document["capacity"]["tenants"]:
        tables += ["", _tenants(document)]
    console.print(Padding(Group(*tables), (0, 0, 0, 2)), "")


def _sections(review: Review) -> list[RenderableType]:
    resources = review.document["resources"]
    if review.changes is None:
        sections: list[RenderableType] = [_declared("Creates", resources)]
    else:
        sections = [_changes(review.changes, review.failures), "", _declared("Declares", resources)]
    if review.comparison:
        sections = [_compared(review, review.comparison), "", *sections]
    cost = review.document["cost"]
    if cost["lines"] or cost["charges"]:
        sections += ["", _node_groups(review.document)]
    if cost["not_priced"]:
        sections += ["", _not_priced(cost)]
    if review.document["capacity"]["tenants"]:
        sections += ["", _tenants(review.document)]
    if found := levels(review):
        sections += ["", _levels(found)]
    if review.findings:
        sections += ["", _findings(review)]
    if review.unseen:
        hidden = ", ".join(dict.fromkeys(part.what for part in review.unseen))
        sections += ["", Text.assemble(("Not judged", "bold"), (f"  what these make: {hidden}", "dim"))]
    if review.undecided:
        rules = ", ".join(f"{rule} at {count}" for rule, count in Counter(one.rule for one in review.undecided).items())
        sections += ["", Text.assemble(("Decided at the deployment", "bold"), (f"  {rules}", "dim"))]
    return sections


def _table(title: str, *columns: str) -> Table:
    table = Table(title=title, title_justify="left", title_style="bold", box=None, pad_edge=False, header_style="dim")
    for column in columns:
        right = column.startswith(">")
        # A number that is folded over two lines is another number.
        table.add_column(column.removeprefix(">"), justify="right" if right else "left", overflow="fold", no_wrap=right)
    return table


def _changes(found: list[Change], failures: list[str]) -> Group:
    counts = ", ".join(f"{count} {operation}" for operation, count in counted(found).items())
    lines = [Text.assemble(("Changes", "bold"), f"  {counts or 'none'}")]
    for change in losses(found):
        because = f" because of {', '.join(change.because)}" if change.because else ""
        lines.append(
            Text.assemble(
                (f"{change.operation.upper()} ", "bold red"),
                (f"{short_type(change.type)} {change.name}", "bold"),
                f"{because}: {change.lost}",
            )
        )
    lines += [Text.assemble(("The preview fails  ", "bold red"), failure) for failure in failures]
    return Group(*lines)


def _compared(review: Review, found: Comparison) -> Group:
    said: list[RenderableType] = [Text(one.text, "bold yellow" if one.loud else "dim") for one in sentences(found)]
    if found.base is None:
        return Group(*said)
    said.append(_changes(found.changes, []))
    said += [
        Text.assemble(
            (f"{line.what}  ", "bold"), f"{line.was or 'none'} -> {line.now or 'none'}  ", (line.more, "bold")
        )
        for line in lines(review)
    ]
    if about := news(review):
        said.append(Text.assemble(("Findings", "bold"), f"  {about}"))
    place = places(found.base.document["resources"])
    said += [Text.assemble(("  fixed  ", "green"), f"{one.rule}  ", (place(one), "cyan")) for one in found.fixed]
    return Group(*said)


def _declared(title: str, resources: list[Any]) -> Table:
    table = _table(title, "part", "kind", ">resources", "of which")
    for part in parts(resources):
        kinds = ", ".join(f"{count} {name}" if count > 1 else name for name, count in part.types)
        table.add_row(part.name, part.kind, str(part.resources), kinds)
    return table


def _node_groups(document: Any) -> Table:
    # Eight columns fit into 80 characters: there the market stands below its machine, the accelerator below its count.
    title = f"Costs a month{priced(document['cost']['lines'])}"
    table = _table(title, "group", "machine", "uses", ">nodes", ">USD/h", ">min", ">start", ">max")
    lines = {line["urn"]: line for line in document["capacity"]["groups"]}
    for line in document["cost"]["lines"]:
        group = lines[line["urn"]]
        accelerators = f"{_span(group['accelerators'])} {group['accelerator']}" if group["accelerator"] else ""
        price = hourly(line)
        month = line["month"] or dict.fromkeys(("min", "initial", "max"))
        machine = Text.assemble(line["machine"] or "?", (f" {line['market']}", "dim"))
        table.add_row(
            line["group"],
            machine,
            accelerators,
            _span(line["nodes"]),
            price,
            *(money(month[bound]) for bound in ("min", "initial", "max")),
        )
    cost = document["cost"]
    total = cost["total"]
    if cost["charges"]:
        table.add_row("beside machines", "", "", "", "", *(money(usd) for usd in charged(cost).values()))
    known = "known prices" if cost["unknown"] else "total"
    table.add_row(Text(known, style="bold"), "", "", "", "", *(Text(money(total[b]), style="bold") for b in total))
    if any(cost["usd_gpu_hour"].values()):
        table.add_row("an accelerator-hour", "", "", "", "", *(rate(cost["usd_gpu_hour"][bound]) for bound in total))
    return table


def _charges(cost: Any) -> Table:
    """What is no machine, each kind in one row."""
    table = _table(f"Beside machines{priced(cost['charges'])}", "what", ">how often", ">min", ">start", ">max")
    for what, count in kinds(cost["charges"]).items():
        months = charged({"charges": [one for one in cost["charges"] if one["what"] == what]})
        table.add_row(what, str(count), *(f"${usd:,.2f}" for usd in months.values()))
    return table


def _not_priced(cost: Any) -> Text:
    """What costs money and is in no total."""
    found = ", ".join(f"{count} x {what}" if count > 1 else what for what, count in kinds(cost["not_priced"]).items())
    return Text.assemble(("Not priced", "bold"), (f"  {found}", "dim"))


def _span(bounds: Any) -> str:
    return span(bounds).replace(" to ", "-")


def _tenants(document: Any) -> Table:
    table = _table(
        "Tenants",
        "tenant",
        "share (+ may borrow)",
        "endpoints take",
        ">quota",
        ">worst case",
        ">budget",
    )
    for name, groups in document["capacity"]["tenants"].items():
        shares = [f"{group} {_share(share)}" for group, share in groups.items()]
        taken = [f"{group} {share['endpoints_max']}" for group, share in groups.items() if share["endpoints_max"]]
        costs = document["cost"]["tenants"].get(name, {})
        table.add_row(
            name, ", ".join(shares), ", ".join(taken), *(money(costs.get(key)) for key in ("quota", "worst", "budget"))
        )
    return table


def _levels(found: list[Level]) -> Table:
    table = _table("Quotas", "level", "of", ">may need", ">may have", "")
    last = ""
    for level in found:
        table.add_row("" if level.level == last else level.level, level.what, level.need, level.limit, level.note)
        last = level.level
    return table


def _share(share: Any) -> str:
    borrow = f" + {share['borrow']}" if share["borrow"] else ""
    return f"{share['quota']}{borrow}"


def _findings(review: Review) -> Table:
    table = Table(
        box=None, pad_edge=False, show_header=False, title="Findings", title_justify="left", title_style="bold"
    )
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    place = places(review.document["resources"])
    for group in by_rule(review.findings):
        first = group[0]
        kind = Text(first.severity, SEVERITY.get(first.severity, ""))
        kind.append(f"\n{weight(first)}" if weight(first) else "", "dim")
        said = Text(first.rule, "bold")
        for finding in group:
            said.append("\nnew" if is_new(finding, review) else "", "bold yellow")
            said.append(f"\n{place(finding)}", "cyan")
            said.append(f"\n{finding.message}", "default")
            if finding.waiver:
                said.append(f"\n{finding.waiver.said}", "dim")
        table.add_row(kind, said.append(f"\n{first.remediation}\n", "dim"))
    return table


def _verdict(review: Review) -> Text:
    denied = sum(finding.denies for finding in review.findings)
    waived = sum(finding.waiver is not None for finding in review.findings)
    advice = len(review.findings) - denied - waived
    counted = f"{denied} denied, {advice} advice{f', {waived} waived' if waived else ''}, judged by {review.engine}"
    if review.failures:
        counted += ", and the engine's own preview fails"
    if review.refused:
        return Text.assemble(("  refused ", "bold red"), counted)
    return Text.assemble(("  may deploy ", "bold green"), counted)
