"""`gpuyard review`: what a stack would create, what it costs, which rule it breaks."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import click
from rich.console import Console
from rich.text import Text

from gpuyard.cli.output import clear, emit, for_file, for_terminal, write
from gpuyard.cli.stacks import each_live_stack, each_stack, options
from gpuyard.review.evaluation.evaluate import Policies
from gpuyard.review.judge import Review, judge
from gpuyard.review.live.review import LIVE_SECONDS, live_review
from gpuyard.review.report.json import to_json
from gpuyard.review.report.markdown import to_markdown
from gpuyard.review.report.terminal import print_review

FILES = ("review.txt", "review.md", "review.json")


@click.command(short_help="What stacks would create, cost and break.")
@options
@click.option(
    "--format",
    "format_",
    type=click.Choice(["terminal", "markdown", "json"]),
    default="terminal",
    show_default=True,
    help="What is printed.",
)
@click.option(
    "--out",
    metavar="DIR",
    type=click.Path(path_type=Path),
    help="Also write review.txt, review.md and review.json to this folder, in place of those of an earlier run.",
)
@click.option(
    "--live",
    is_flag=True,
    help="Judge what `pulumi preview` of the named STACKs registers, and show what it would create, change, replace "
    f"and delete. Needs the Pulumi CLI and all that a preview needs; --timeout is {LIVE_SECONDS:g} by default.",
)
@click.option(
    "--quotas",
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="What the cloud's account may run, as `gpuyard quotas fetch` wrote it; the files of the program's folder "
    "quotas when left out.",
)
def review(
    stacks: tuple[str, ...],
    program: Path,
    date: str,
    timeout: float | None,
    format_: str,
    out: Path | None,
    live: bool,
    quotas: Path | None,
) -> int:
    """Review STACKs, or every stack of the program: what would be created, what it costs a month, which quota it
    uses and which rule it breaks. Without --live it needs no engine, cloud account, cluster or login, and decrypts no
    secret.

    The program may be any Python program for Pulumi. Rules in its policies/rules are judged beside ours; limits in
    its policies/limits replace ours.

    A stack that cannot be reviewed does not hide the others on the terminal. Markdown, JSON and the files of --out
    are of all stacks that were asked for, or are not written.

    Exit code: 0 every stack may deploy, 1 a finding denies one, 2 the input is wrong, 3 the gate could not decide.
    """
    if out:
        clear(out, FILES)

    def all_of(found: Policies) -> Policies:
        return replace(found, quotas=quotas) if quotas else found

    if live:
        outcome = each_live_stack(
            stacks,
            program,
            lambda project, stack, found, tell: live_review(
                project, stack, all_of(found), tell, date=date, timeout_s=timeout or LIVE_SECONDS
            ),
        )
    else:
        outcome = each_stack(
            stacks, program, timeout, lambda recording, found: judge(recording, all_of(found), date=date)
        )
    reviews = list(outcome.made.values())
    if format_ == "terminal":
        emit(for_terminal(lambda console: _draw(reviews, console)))
    outcome.complain()
    if out:
        plain = for_file(lambda console: _draw(reviews, console))
        write(out, dict(zip(FILES, (plain, to_markdown(reviews), to_json(reviews)), strict=True)))
    if format_ != "terminal":
        emit(to_markdown(reviews) if format_ == "markdown" else to_json(reviews))
    return 1 if any(one.refused for one in reviews) else 0


def _draw(reviews: list[Review], console: Console) -> None:
    for one in reviews:
        print_review(one, console)
    if len(reviews) > 1:
        # Above the last report, others have scrolled away.
        refused = [one.document["stack"] for one in reviews if one.refused]
        said = f"refused: {', '.join(refused)}" if refused else "may deploy, all of them"
        console.print(Text(f"{len(reviews)} stacks, {said}", "bold red" if refused else "bold green"))
