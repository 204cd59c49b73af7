"""`gpuyard size`: how many replicas an endpoint needs for a load, what they cost, and what they bear."""

from __future__ import annotations

import json
import math
import re
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from rich.console import Console
from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn
from rich.table import Table

from gpuyard.cli.output import emit, for_terminal, format_option
from gpuyard.cli.stacks import program_option
from gpuyard.review.errors import InputError

if TYPE_CHECKING:
    from gpuyard.cli.size_target import Target
    from gpuyard.components.serving.load.bill import Bill
    from gpuyard.components.serving.load.plan import Load, Plan
    from gpuyard.components.serving.load.simulation import Result
    from gpuyard.components.serving.load.speed import Speed


class Time(click.ParamType[float]):
    """A time with its unit, as seconds."""

    name = "time"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Seconds of `50ms` or `20s`."""
        if isinstance(value, float):
            return value
        found = re.fullmatch(r"([0-9]{1,6}(?:\.[0-9]{1,6})?)(ms|s)", value)
        seconds = float(found[1]) / (1e3 if found[2] == "ms" else 1) if found else 0.0
        if not seconds:
            self.fail(f"{value!r} is no time above 0: give one such as 50ms or 20s", param, ctx)
        return seconds


class Rate(click.FloatRange):
    """A finite number above 0."""

    def __init__(self) -> None:
        super().__init__(min=0, min_open=True, max=1e8)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """The number; click refuses what is out of range, but for `nan`."""
        number = float(super().convert(value, param, ctx))
        if math.isnan(number):
            self.fail(f"{value!r} is no number", param, ctx)
        return number


@dataclass(frozen=True, slots=True)
class Sized:
    """An endpoint's size, and what it is made from."""

    target: Target
    load: Load
    tokens: tuple[int, int] | None
    speed: Speed
    plan: Plan
    bill: Bill
    unsure: tuple[int | None, int | None]
    """Replicas if a replica is as fast as eight of ten estimates allow, and as slow; None where that keeps no latency.
    Twice the same for a measured one."""
    results: tuple[Result, ...]


@click.command(short_help="Replicas, batch and cost of an endpoint for a load, and what they bear.")
@click.argument("endpoint", required=False)
@click.option("--rps", type=Rate(), required=True, metavar="N", help="Requests a second at the busiest time.")
@click.option("--input", "input_", type=click.IntRange(1, 10**7), metavar="TOKENS", help="Tokens of a request.")
@click.option("--output", "output_", type=click.IntRange(1, 10**7), metavar="TOKENS", help="Tokens of an answer.")
@click.option("--p99", type=Time(), required=True, metavar="TIME", help="Time of 99 of 100 whole answers: 50ms, 20s.")
@click.option("--stack", metavar="STACK", help="Stack of the endpoint, where several have one of that name.")
@click.option("--model", metavar="ID", help="Without a stack: a model of the hub.")
@click.option("--engine", metavar="ENGINE", help="Without a stack: the engine.")
@click.option("--machine", metavar="MACHINE", help="Without a stack: the machine.")
@click.option("--region", metavar="REGION", help="Without a stack: region of the price.")
@click.option("--market", default="on_demand", show_default=True, help="Without a stack: how the machine is bought.")
@click.option("--tensor-parallel", type=click.IntRange(1, 1024), default=1, help="Without a stack: accelerators each.")
@click.option("--quantization", metavar="FORMAT", help="Without a stack: format of the weights.")
@click.option(
    "--measured",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="One replica as you measured it: the CSV file of perf_analyzer.",
)
@click.option("--zones", type=click.IntRange(1, 100), help="Zones, of which one may be lost; by default the stack's.")
@click.option("--simulate", is_flag=True, help="Send requests through bursts, failures and an update, one by one.")
@click.option("--burst", type=click.FloatRange(1, 100), default=1.5, show_default=True, help="Times the load, if so.")
@click.option("--seed", type=int, default=1, show_default=True, help="Of the simulation's chance.")
@format_option
@program_option
def size(endpoint: str | None, program: Path, format_: str, **given: Any) -> None:
    """Say how many replicas ENDPOINT needs for a load, how many requests each has in flight, and what the machines
    cost a month of 730 hours.

    \b
    gpuyard size qwen3-32b --rps 4 --input 1024 --output 256 --p99 20s
    gpuyard size fraud-score --rps 9000 --p99 50ms --measured perf.csv
    gpuyard size --model Qwen/Qwen3-32B --engine vllm --machine p5.48xlarge ...

    A language model's speed is estimated from measurements of it under conditions near to these, and from what the
    accelerator can do at the most; how sure that is, is said. Your own measurement, by --measured, is better.
    """
    target = _target(endpoint, program, given)
    sized = _sized(target, given, program)
    if format_ == "json":
        emit(json.dumps(document(sized), indent=2) + "\n")
    else:
        emit(for_terminal(lambda console: draw(sized, console)))


def _target(endpoint: str | None, program: Path, given: dict[str, Any]) -> Target:
    # Here, because the components load pulumi, which few commands need.
    from gpuyard.cli import size_target

    alone = {name: given[name] for name in ("model", "engine", "machine")}
    if endpoint and not any(alone.values()):
        return size_target.of_stack(program, given["stack"], endpoint)
    if endpoint or not all(alone.values()) or given["stack"]:
        raise InputError("give an ENDPOINT of a stack, or else --model, --engine and --machine, all three")
    return size_target.of_machine(
        **alone,
        region=given["region"],
        market=given["market"],
        tensor=given["tensor_parallel"],
        quantization=given["quantization"],
    )


def _sized(target: Target, given: dict[str, Any], program: Path) -> Sized:
    """Raises InputError for what cannot be sized."""
    from gpuyard.components.serving.load.bill import bill
    from gpuyard.components.serving.load.curve import read
    from gpuyard.components.serving.load.plan import Impossible, Load, plan
    from gpuyard.components.serving.load.speed import Speed, speed
    from gpuyard.review.evaluation.evaluate import find_policies
    from gpuyard.review.prices import prices
    from gpuyard.review.program.project import root_of

    zones = given["zones"] or target.zones
    load = Load(given["rps"], given["p99"], zones)
    tokens = (given["input_"], given["output_"])
    own = find_policies(root_of(program)).prices
    try:
        if given["measured"]:
            known = Speed(read(given["measured"]), None)
        elif None in tokens:
            raise ValueError(f"{target.called}: give --input and --output, in tokens, or --measured")
        else:
            known = speed(target.conditions(tokens))
        planned = plan(known.curve, load)
        unsure: list[int | None] = []
        for ratio in (known.estimate.high, known.estimate.low) if known.estimate else (1.0, 1.0):
            try:
                unsure.append(plan(known.curve.slower(1 / ratio), load).replicas)
            except Impossible:
                unsure.append(None)
        cost = bill(target.site, planned.replicas, target.accelerators, zones, prices(own).of)
    except ValueError as error:
        raise InputError(str(error)) from error
    results = tuple(_simulated(known, planned, load, given)) if given["simulate"] else ()
    said = None if None in tokens else tokens
    return Sized(target, load, said, known, planned, cost, (unsure[0], unsure[1]), results)


def _simulated(known: Speed, planned: Plan, load: Load, given: dict[str, Any]) -> list[Result]:
    from gpuyard.components.serving.load.simulation import everything

    console = Console(stderr=True)
    columns = (SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as progress:
        task = progress.add_task("simulating", total=None)

        def tell(event: str, part: float) -> None:
            progress.update(task, description=f"simulating: {event}, {part:.0%}")

        return list(everything(known.curve, planned, load, burst=given["burst"], seed=given["seed"], tell=tell))


def document(sized: Sized) -> dict[str, Any]:
    """What is printed as JSON: times in seconds, money in US dollars."""
    estimate, cost = sized.speed.estimate, sized.bill
    return {
        "endpoint": sized.target.called,
        "machine": sized.target.site.machine.name,
        "accelerators_a_replica": sized.target.accelerators,
        "load": asdict(sized.load),
        "tokens": {"input": sized.tokens[0], "output": sized.tokens[1]} if sized.tokens else None,
        "plan": asdict(sized.plan),
        "replicas_if": {"fast": sized.unsure[0], "slow": sized.unsure[1]},
        "basis": {
            "kind": estimate.basis,
            "efficiency": estimate.efficiency,
            "measured_over_estimated": [estimate.low, estimate.high],
            "sources": [one.source for one in estimate.from_] if estimate.basis == "measured" else [],
        }
        if estimate
        else {"kind": "own measurement"},
        "cost": asdict(cost) | {"currency": "USD", "usd_a_million": _million(sized)},
        "simulation": [asdict(one) for one in sized.results],
    }


def draw(sized: Sized, console: Console) -> None:
    """The size, for people."""
    from gpuyard.components.serving.load.plan import shown

    plan, load, cost, each = sized.plan, sized.load, sized.bill, sized.target.accelerators
    site = sized.target.site
    zones = f", {load.zones} zones, one of which may be lost" if load.zones > 1 else ""
    console.print(f"{sized.target.called}: {load.rps:g} requests a second, 99 of 100 in {shown(load.p99)}{zones}")
    table = Table(box=None, show_header=False, pad_edge=False, padding=(0, 2, 0, 0))
    table.add_column(style="dim", no_wrap=True)
    table.add_column(overflow="fold")
    table.add_row("replicas", f"{plan.replicas}, of {each} x {site.machine.accelerator} each{_range(sized)}")
    table.add_row("in flight", f"at most {plan.concurrency} a replica")
    lost = f", {plan.busy_left:.0%} once a zone is lost" if load.zones > 1 else ""
    table.add_row("load", f"{plan.busy:.0%} of what the replicas can answer{lost}")
    table.add_row("latency", f"p99 at most {shown(plan.p99)}, by queueing theory")
    table.add_row("machines", f"{cost.nodes} x {site.machine.name}")
    table.add_row("cost", _cost(sized))
    table.add_row("from", "\n".join(_basis(sized)))
    if sized.target.most is not None and plan.replicas > sized.target.most:
        table.add_row("stack", f"replicas.max is {sized.target.most}: raise it to {plan.replicas}")
    console.print(table)
    if sized.results:
        console.print()
        console.print(_simulation(sized))


def _range(sized: Sized) -> str:
    fast, slow = sized.unsure
    if fast == slow == sized.plan.replicas:
        return ""
    return f" (eight of ten estimates: {fast or '?'} to {slow or 'none, for it would be too slow'})"


def _cost(sized: Sized) -> str:
    cost, million = sized.bill, _million(sized)
    if cost.usd_month is None:
        return "?, for the machine's price is not known there: give --region, or policies/prices.csv"
    what = "output tokens" if sized.tokens else "requests"
    return f"${cost.usd_month:,.0f} a month, ${million:,.3f} a million {what} at this load ({cost.source})"


def _million(sized: Sized) -> float | None:
    if sized.bill.usd_month is None:
        return None
    made = sized.load.rps * (sized.tokens[1] if sized.tokens else 1) * 730 * 3600
    return float(f"{sized.bill.usd_month / made * 1e6:.4g}")


def _basis(sized: Sized) -> list[str]:
    estimate = sized.speed.estimate
    if estimate is None:
        return ["your own measurement of one replica"]
    sure = f"eight of ten such estimates: measured is {estimate.low:.2f} to {estimate.high:.2f} times as fast"
    if estimate.basis == "like":
        return [f"{estimate.efficiency:.0%} of the bound, as other models: no measurement of this one", sure]
    near = [
        f"{one.model} {one.weights} on {one.accelerators} x {one.accelerator}, {one.engine} {one.version}".rstrip()
        + f", {one.input} in, {one.output} out, {one.concurrency} in flight, {one.date}"
        for one in estimate.from_
    ]
    return [f"{estimate.efficiency:.0%} of the bound, as measured for:", *near, sure]


def _simulation(sized: Sized) -> Table:
    from gpuyard.components.serving.load.plan import shown

    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
    for title in ("simulated", "p50", "p95", "p99", "most", "in time", "anew", "requests"):
        table.add_column(title, justify="left" if title == "simulated" else "right", no_wrap=True)
    for one in sized.results:
        times = (shown(value) for value in (one.p50, one.p95, one.p99, one.most))
        table.add_row(one.event, *times, f"{one.within:.2%}", str(one.again), f"{one.requests:,}")
    return table
