"""`gpuyard review`: what a stack would create, what it costs, which rule it breaks."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import click
from rich.console import Console
from rich.text import Text

from gpuyard.cli.base import each_compared
from gpuyard.cli.given import WAYS, each_given
from gpuyard.cli.output import clear, emit, for_file, for_terminal, write
from gpuyard.cli.stacks import each_live_stack, each_stack, options
from gpuyard.review.evaluation.evaluate import Policies, find_policies
from gpuyard.review.judge import Review, judge
from gpuyard.review.live import LIVE_SECONDS
from gpuyard.review.program.project import root_of
from gpuyard.review.program.record import find_project
from gpuyard.review.report.github import to_github
from gpuyard.review.report.html import to_html
from gpuyard.review.report.json import to_json
from gpuyard.review.report.junit import to_junit
from gpuyard.review.report.markdown import to_markdown
from gpuyard.review.report.origin import Origin, origin_of_program
from gpuyard.review.report.sarif import to_sarif
from gpuyard.review.report.terminal import print_review

FILES = {
    "terminal": "review.txt",
    "markdown": "review.md",
    "json": "review.json",
    "sarif": "review.sarif",
    "junit": "review.junit.xml",
    "github": "review.github.txt",
    "html": "review.html",
}
"""By format, the file of --out."""


@click.command(short_help="What stacks would create, cost and break.")
@options
@click.option(
    "--format",
    "format_",
    type=click.Choice([*FILES]),
    default="terminal",
    show_default=True,
    help="What is printed. sarif is for code scanning, junit for a CI server, github for annotations of GitHub "
    "Actions, html is one page that needs no network.",
)
@click.option(
    "--out",
    metavar="DIR",
    type=click.Path(path_type=Path),
    help=f"Also write every format to this folder, in place of those of an earlier run: {', '.join(FILES.values())}.",
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
@click.option(
    "--document",
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="Judge a stored document, or the documents of what --format json wrote, and run no program.",
)
@click.option(
    "--state",
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="Judge what is deployed, as `pulumi stack export` wrote it, and run no program.",
)
@click.option(
    "--manifests",
    metavar="DIR",
    type=click.Path(path_type=Path, exists=True),
    help="Judge the Kubernetes objects of a folder or of a file, by the limits of the one STACK that is named, else by "
    "the strictest, and run no program.",
)
@click.option(
    "--base",
    metavar="REF",
    help="Judge the last commit beside this one, a branch for example, and say what the change changes. Rules, limits, "
    "waivers, prices and quotas are those of REF.",
)
@click.option("--only-new", is_flag=True, help="With --base: what the base has too, as it is there, does not deny.")
def review(
    stacks: tuple[str, ...],
    program: Path,
    date: str,
    timeout: float | None,
    format_: str,
    out: Path | None,
    live: bool,
    quotas: Path | None,
    document: Path | None,
    state: Path | None,
    manifests: Path | None,
    base: str | None,
    only_new: bool,
) -> int:
    """Review STACKs, or every stack of the program: what would be created, what it costs a month, which quota it
    uses and which rule it breaks. Without --live it needs no engine, cloud account, cluster or login, and decrypts no
    secret.

    The program may be any Python program for Pulumi. Rules in its policies/rules are judged beside ours; limits in
    its policies/limits replace ours, unless they extend them; policies/waivers.yaml lets single findings through.

    A stack that cannot be reviewed does not hide the others on the terminal. Other formats and the files of --out are
    of all stacks that were asked for, or are not written.

    Exit code: 0 every stack may deploy, 1 a finding denies one, 2 the input is wrong, 3 the gate could not decide.
    """
    ways = {"--document": document, "--state": state, "--manifests": manifests}
    # An empty name, as a variable that is not set gives, is a wrong one and not none.
    chosen = [name for name, given in (*ways.items(), ("--live", live or None), ("--base", base)) if given is not None]
    if len(chosen) > 1:
        raise click.UsageError(f"{' and '.join(chosen)} are different ways to get at a stack: give one of them")
    if only_new and base is None:
        raise click.UsageError("--only-new needs --base, which says what is not new")
    if out:
        clear(out, FILES.values())

    def all_of(found: Policies) -> Policies:
        return replace(found, quotas=quotas) if quotas else found

    if live:
        # Loads Pulumi's SDK, which no other command needs in this process.
        from gpuyard.review.live.review import live_review

        outcome = each_live_stack(
            stacks,
            program,
            lambda project, stack, found, tell: live_review(
                project, stack, all_of(found), tell, date=date, timeout_s=timeout or LIVE_SECONDS
            ),
        )
        origin = origin_of_program(find_project(program))
    elif base is not None:
        outcome = each_compared(stacks, program, timeout, base, date=date, only_new=only_new, over=all_of)
        origin = origin_of_program(find_project(program))
    elif chosen:
        given, origin = WAYS[chosen[0]](ways[chosen[0]] or program, stacks)
        outcome = each_given(given, all_of(find_policies(root_of(program))), date)
    else:
        outcome = each_stack(
            stacks, program, timeout, lambda recording, found: judge(recording, all_of(found), date=date)
        )
        origin = origin_of_program(find_project(program))
    reviews = list(outcome.made.values())
    if format_ == "terminal":
        emit(for_terminal(lambda console: _draw(reviews, console)))
    outcome.complain()
    if out:
        write(out, {file: _text(name, reviews, origin) for name, file in FILES.items()})
    if format_ != "terminal":
        emit(_text(format_, reviews, origin))
    return 1 if any(one.refused for one in reviews) else 0


def _text(format_: str, reviews: list[Review], origin: Origin) -> str:
    """The reviews in one format, as a file has it."""
    match format_:
        case "markdown":
            return to_markdown(reviews)
        case "json":
            return to_json(reviews)
        case "sarif":
            return to_sarif(reviews, origin)
        case "junit":
            return to_junit(reviews)
        case "github":
            return to_github(reviews, origin)
        case "html":
            return to_html(reviews)
    return for_file(lambda console: _draw(reviews, console))


def _draw(reviews: list[Review], console: Console) -> None:
    for one in reviews:
        print_review(one, console)
    if len(reviews) > 1:
        # Above the last report, others have scrolled away.
        refused = [one.document["stack"] for one in reviews if one.refused]
        said = f"refused: {', '.join(refused)}" if refused else "may deploy, all of them"
        console.print(Text(f"{len(reviews)} stacks, {said}", "bold red" if refused else "bold green"))
