"""`gpuyard new`: the files that a rule, a stack, an engine or a machine starts from. Nothing is written over."""

from __future__ import annotations

import csv
import datetime
import io
import json
import re
from collections.abc import Mapping
from pathlib import Path

import click

from gpuyard.catalogue import Unknown
from gpuyard.catalogue.hardware import machine_of
from gpuyard.catalogue.tables import OPEN
from gpuyard.cli import starters
from gpuyard.cli.explain import root_of
from gpuyard.cli.machines import CLOUDS
from gpuyard.cli.output import emit
from gpuyard.cli.stacks import program_option
from gpuyard.review.errors import GateError, InputError
from gpuyard.review.evaluation import rules
from gpuyard.review.evaluation.evaluate import find_policies
from gpuyard.review.program import stackfile
from gpuyard.review.program.goyaml import parse
from gpuyard.review.program.project import find_project

RULE = re.compile(r"[a-z][a-z0-9_]*/[a-z][a-z0-9_]*(?<!_test)")
ENGINE = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")
MACHINE = re.compile(r"[A-Za-z0-9]+([-._][A-Za-z0-9]+)*")

REGO = frozenset(
    {"as", "contains", "default", "else", "every", "false", "if", "import", "in", "not", "null", "package", "set"}
    | {"some", "true", "with"}
)
"""Words that are no part of a package's name. Source: openpolicyagent.org, Policy Language, Reserved Names."""

TO_DO = "TO BE WRITTEN"

checkout_option = click.option(
    "--checkout",
    metavar="DIR",
    type=click.Path(path_type=Path, file_okay=False),
    default=".",
    help="Checkout of gpuyard; by default the current folder.",
)


@click.group(short_help="Start a rule, a stack, an engine or a machine.")
def new() -> None:
    """Write the files that something new starts from, and say what to do next.

    A rule and a stack are of any program; an engine and a machine are of gpuyard itself. All but a stack fail a test,
    or are refused, until they are filled in. Nothing is written over.
    """


@new.command(short_help="A rule of the program's own, and its test.")
@click.argument("name", metavar="GROUP/RULE")
@program_option
@click.option(
    "--reads",
    nargs=2,
    metavar="TYPE PATH",
    default=("pod", "/schedulerName"),
    show_default=True,
    help="The value that it judges: a Pulumi type, kubernetes:<apiVersion>:<Kind> or pod, and a JSON pointer.",
)
@click.option("--id", "short", metavar="ID", help="Its short id; by default the first H1, H2, … that is free.")
@click.option("--title", help="What it demands, in a few words.")
@click.option("--description", default=f"{TO_DO}, what goes wrong without it.", help="Why it matters.")
@click.option("--remediation", default=f"{TO_DO}, what to do.", help="What cures a finding.")
@click.option(
    "--severity", type=click.Choice(["critical", "high", "medium", "low"]), default="medium", show_default=True
)
@click.option("--level", type=click.Choice(["mandatory", "advisory"]), default="advisory", show_default=True)
@click.option("--on-unknown", type=click.Choice(["deny", "warn", "skip"]), default="warn", show_default=True)
@click.option("--scope", type=click.Choice(["resource", "sum", "stack"]), default="stack", show_default=True)
def rule(name: str, program: Path, reads: tuple[str, str], short: str | None, title: str | None, **said: str) -> None:
    """Write a rule and its test into policies/rules of the program. The rule loads, and finds nothing until its
    condition is written: one of its two tests fails.

    \b
    gpuyard new rule house/min_size \\
      --reads aws:eks/nodeGroup:NodeGroup /scalingConfig/minSize
    """
    if not RULE.fullmatch(name) or REGO & {*name.split("/")}:
        raise InputError(
            f"{name!r} cannot name a rule: give <group>/<rule>, in a-z, 0-9 and _, a letter first, no word of Rego, "
            "and no _test at the end"
        )
    root = root_of(program)
    known = rules.load(find_policies(root).directories).rules
    if name in known:
        raise InputError(f"there is a rule {name!r} already: give another name")
    taken = {one.catalogue for one in known.values()}
    short = short or next(free for number in range(1, len(taken) + 2) if (free := f"H{number}") not in taken)
    if short in taken:
        raise InputError(f"--id {short}: another rule has it: give one that is free, or none")
    said["title"] = title or name.partition("/")[2].replace("_", " ").capitalize()
    words = {key: json.dumps(said[key], ensure_ascii=False) for key in ("title", "description", "remediation")}
    own = root / "policies" / "rules" / name
    file, test = (own / f"{own.name}{end}.rego" for end in ("", "_test"))
    text, text_of_test = starters.rule(name, reads, {**said, **words, "id": json.dumps(short)})
    try:
        rules.parsed(name, text, file)
    except GateError as error:
        raise InputError(f"nothing is written: {error}") from error
    _create({file: text, test: text_of_test})
    emit(
        f"Next:\n  write the condition in {file.name}, and the two values in {test.name}\n"
        f"  opa test {_shown(own)}\n  gpuyard explain {short}\n"
    )


@new.command(short_help="A stack file that a review takes as it is.")
@click.argument("name", metavar="STACK")
@click.option("--cloud", type=click.Choice(["aws", "gcp", "onprem", "existing"]), required=True, help="Where it is.")
@program_option
def stack(name: str, cloud: str, program: Path) -> None:
    """Write a small stack of gpuyard's own kind beside the program's other stacks. What only you know, such as an
    account, is an example in it, and says so. A cluster that runs already is better described by `gpuyard inventory`.
    """
    # Here, because the components load pulumi, which no other command of this module needs.
    from gpuyard.cli.schema import text as schema
    from gpuyard.components.stack import load
    from gpuyard.components.validation import InvalidStack

    project = find_project(program)
    if not stackfile.NAME.fullmatch(name):
        raise InputError(
            f"{name!r} cannot name a stack: give at most 100 letters, digits, dashes, dots and underscores"
        )
    text = starters.filled(f"stack.{cloud}.yaml", {"name": name})
    try:
        load(parse(text)["config"][stackfile.PLATFORM], name)
    except InvalidStack as error:
        raise InputError(str(error)) from error
    files = {project.stacks / f"Pulumi.{name}{project.file.suffix}": text}
    beside = project.stacks / "schema.json"
    _create(files if beside.exists() else {**files, beside: schema()})
    emit(f"Next:\n  put your own where it says `an example`\n  gpuyard review {name}\n")


@new.command(short_help="An inference engine, and what its tests compare it with.")
@click.argument("name", metavar="ENGINE")
@checkout_option
def engine(name: str, checkout: Path) -> None:
    """Write a serving template, and the lists of the server's own flags and metrics that its tests compare it with.
    The lists are empty, so the tests fail."""
    folder, lists = _part(checkout, "serving_templates"), _part(checkout, "tests/data/serving")
    if not ENGINE.fullmatch(name):
        raise InputError(f"{name!r} cannot name an engine: give a-z, 0-9 and dashes, a letter first")
    texts = {folder / f"{name}.yaml": starters.filled("engine.yaml", {"name": name, "metric": name.replace("-", "_")})}
    for what, more in (("flags", "one a line"), ("metrics", "one a line: its name and its type, counter or gauge")):
        head = f"# {what.capitalize()} of {name}: {TO_DO}, of which release and from where; {more}.\n"
        texts[lists / f"{name}-{what}.txt"] = head
    _create(texts)
    emit(
        "Next:\n  add the image to catalogue/data/images.csv, and what it is built for to image_runtimes.csv\n"
        "  fill the lists from the server's own parser and /metrics, and the template with what they have\n"
        "  pytest tests/components/serving/test_serving_template.py\n"
    )


@new.command(short_help="A row of the catalogue's machines.")
@click.argument("name", metavar="MACHINE")
@click.option("--cloud", type=click.Choice(CLOUDS), required=True, help="Where it is.")
@click.option(
    "--set", "given", multiple=True, metavar="COLUMN=VALUE", help="A column, as catalogue/hardware.py describes it."
)
@checkout_option
def machine(name: str, cloud: str, given: tuple[str, ...], checkout: Path) -> None:
    """Append a machine to its cloud's table. A column that is not given and does not follow from others is `?`: the
    catalogue refuses the row, and with it every command, until it is filled in.

    \b
    gpuyard new machine onprem-l40s-x3 --cloud onprem \\
      --set accelerator=L40S --set accelerators=3
    """
    tables = _part(checkout, "catalogue/data/machines")
    if not MACHINE.fullmatch(name):
        raise InputError(
            f"{name!r} cannot name a machine: give letters and digits, with single dashes, dots or _ between"
        )
    for path in sorted(tables.glob("*.csv")):
        if any(row["name"] == name for row in csv.DictReader(_text(path).splitlines())):
            raise InputError(f"{path} has a machine {name} already: change that row")
    table = tables / f"{cloud}.csv"
    columns = [*(csv.DictReader(_text(table).splitlines()).fieldnames or ())]
    values = {"date": datetime.datetime.now(datetime.UTC).date().isoformat(), **_given(given, columns)}
    try:
        row = dict.fromkeys(columns, OPEN) | starters.machine(name, cloud, values)
    except Unknown as error:
        raise InputError(f"--set accelerator={values['accelerator']}: {error}") from error
    line = io.StringIO()
    csv.DictWriter(line, columns, lineterminator="\n").writerow(row)
    _append(table, line.getvalue())
    todo = ["pytest tests/catalogue; docs/extending.md has the tables beside it"]
    if cloud != "onprem":
        todo.insert(0, f"add its price to catalogue/data/prices/{cloud}.csv, if a true one is known")
    if left := [column for column in columns if row[column] == OPEN]:
        todo.insert(0, f"fill in {', '.join(left)}: until then the catalogue is refused")
    emit(f"appended to {_shown(table)}\nNext:\n" + "".join(f"  {one}\n" for one in todo))


def _given(pairs: tuple[str, ...], columns: list[str]) -> dict[str, str]:
    found: dict[str, str] = {}
    for pair in pairs:
        column, sign, value = pair.partition("=")
        if not sign or column in ("name", "cloud") or column not in columns or column in found:
            free = ", ".join(one for one in columns if one not in ("name", "cloud"))
            raise InputError(f"--set {pair}: give COLUMN=VALUE, each column once, of {free}")
        if not value.isascii() or not value.isprintable() or value != value.strip():
            raise InputError(f"--set {pair}: give plain ASCII on one line, without blanks around it")
        try:
            machine_of({**dict.fromkeys(columns, "0"), column: value})
        except ValueError as error:
            raise InputError(f"--set {pair}: {error}: give what the other rows have") from error
        found[column] = value
    return found


def _part(checkout: Path, name: str) -> Path:
    folder = checkout / name
    if not folder.is_dir():
        raise InputError(f"--checkout {checkout}: has no {name}: give the folder of a checkout of gpuyard's sources")
    return folder


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path}: cannot be read: {error}") from error


def _append(path: Path, line: str) -> None:
    """Adds a line to a file. The file is the old or the new one, and never a part of either."""
    part = path.with_name(f".{path.name}")
    try:
        part.write_text(_text(path) + line, encoding="utf-8")
        part.replace(path)
    except OSError as error:
        part.unlink(missing_ok=True)
        raise InputError(f"{path}: {error.strerror}: nothing is written") from error


def _create(texts: Mapping[Path, str]) -> None:
    """Writes all files or none, and says so. Raises InputError where one is there already or cannot be written."""
    for path in texts:
        if path.exists() or path.is_symlink():
            raise InputError(f"{path}: is there already: give another name, or change that file")
    made: list[Path] = []
    try:
        for path, text in texts.items():
            path.parent.mkdir(parents=True, exist_ok=True)
            with path.open("x", encoding="utf-8") as file:
                made.append(path)
                file.write(text)
    except OSError as error:
        for path in made:
            path.unlink(missing_ok=True)
        raise InputError(f"{error.filename or path}: {error.strerror}: nothing is written") from error
    emit("".join(f"wrote {_shown(path)}\n" for path in texts))


def _shown(path: Path) -> str:
    """A path as whoever stands in the current folder writes it."""
    here = Path.cwd()
    return str(path.relative_to(here)) if path.is_relative_to(here) else str(path)
