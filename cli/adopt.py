"""`gpuyard adopt`: takes over what an interrupted run was making, so that it is neither lost nor made twice."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

from gpuyard.cli.interrupted import Creation, adopted, creations
from gpuyard.cli.output import emit
from gpuyard.review.errors import InputError


@click.command(short_help="Take over what an interrupted run was making.")
@click.argument("state", type=click.Path(path_type=Path))
@click.option("--id", "ids", nargs=2, multiple=True, metavar="URN ID", help="A resource that exists, and its id.")
@click.option("--out", type=click.Path(path_type=Path), help="Write the mended state here; without it, only list.")
def adopt(state: Path, ids: tuple[tuple[str, str], ...], out: Path | None) -> None:
    """List what was being made when a run was cut off, by the file that `pulumi stack export --file STATE` wrote.

    With --out, everything whose id is known becomes a resource of the state, which `pulumi stack import` takes and
    `pulumi refresh` completes: what turns out not to exist leaves it again. An id that only the cloud knows is found
    by the tags that are listed, and given with --id.

    \b
    Exit code: 0; 2 when the file is no state, or a URN is not among those listed.
    """
    given = _read(state)
    known = {one.urn: one.known_id for one in creations(given) if one.known_id} | dict(ids)
    mended = adopted(given, known)
    if out is None:
        emit("".join(_line(one, known.get(one.urn)) for one in creations(given)) or "nothing was being made\n")
        return
    try:
        out.write_text(json.dumps(mended, indent=2) + "\n", encoding="utf-8")
    except OSError as error:
        raise InputError(f"--out {out}: {error.strerror}: give a file that can be written") from error
    left = creations(mended)
    emit(f"{len(known)} taken over, {len(left)} left\n" + "".join(_line(one, None) for one in left))


def _read(path: Path) -> dict[str, Any]:
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(f"{path}: {error.strerror}: give the file that `pulumi stack export` wrote") from error
    except ValueError as error:
        raise InputError(f"{path}: is no JSON: give the file that `pulumi stack export --file` wrote") from error
    if not isinstance(found, dict):
        raise InputError(f"{path}: is no state of a stack: give what `pulumi stack export` writes")
    return found


def _line(one: Creation, known: str | None) -> str:
    tags = ", ".join(f"{key}={value}" for key, value in sorted(one.tags.items()))
    where = f"id {known}" if known else f"id not known: look for {f'the tags {tags}' if tags else 'it in its cloud'}"
    return f"{one.urn}\n  {where}\n"
