"""`gpuyard adopt`: takes over what an interrupted run was making, so that it is neither lost nor made twice."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

import click

from gpuyard.cli.interrupted import Creation, adopted, chosen, creations
from gpuyard.cli.output import emit
from gpuyard.review.errors import InputError


@click.command(short_help="Take over what an interrupted run was making.")
@click.argument("state", type=click.Path(path_type=Path))
@click.option("--id", "ids", nargs=2, multiple=True, metavar="URN ID", help="A resource that exists, and its id.")
@click.option(
    "--absent", multiple=True, metavar="URN", help="A resource that does not exist, or that may be forgotten."
)
@click.option("--out", type=click.Path(path_type=Path), help="Write the mended state here; without it, only list.")
def adopt(state: Path, ids: tuple[tuple[str, str], ...], absent: tuple[str, ...], out: Path | None) -> None:
    """List what was being made when a run was cut off, by the file that `pulumi stack export --file STATE` wrote.

    With --out, everything whose id is known becomes a resource of the state, which `pulumi stack import` takes and
    `pulumi refresh` completes: what turns out not to exist leaves it again. An id that only the cloud knows is found
    by the tags that are listed, and given with --id. What is not there is given with --absent: the import forgets
    everything else that was being made, so nothing is written while something is neither.

    \b
    Exit code: 0; 2 when the file is no state, a URN is not among those
    listed, or --out would forget one.
    """
    given = _read(state)
    if len(dict(ids)) < len(ids):
        raise InputError("--id: two ids for one URN: give the one to keep, and delete the other in its cloud")
    try:
        making = creations(given)
    except InputError as error:
        raise InputError(f"{state}: {error}") from error
    known = chosen(making, dict(ids), absent)
    if out is None:
        emit("".join(_line(one, known, absent) for one in making) or "nothing was being made\n")
        return
    left = "".join(_line(one, known, absent) for one in making if one.urn not in known and one.urn not in absent)
    if left:
        raise InputError(
            f"--out {out}: not written, since `pulumi stack import` would forget what follows: give --id URN ID for "
            f"what exists, and --absent URN for what does not\n{left}"
        )
    try:
        if out.exists() and out.samefile(state):
            raise InputError(
                f"--out {out}: is the exported state, the only record of what was being made: give another"
            )
        out.write_text(json.dumps(adopted(given, known, absent), indent=2) + "\n", encoding="utf-8")
    except OSError as error:
        raise InputError(f"--out {out}: {error.strerror}: give a file that can be written") from error
    emit(f"{len(known)} taken over, {len(set(absent))} absent\n")


def _read(path: Path) -> dict[str, Any]:
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(f"{path}: {error.strerror}: give the file that `pulumi stack export` wrote") from error
    except (ValueError, RecursionError) as error:
        raise InputError(f"{path}: is no JSON: give the file that `pulumi stack export --file` wrote") from error
    if not isinstance(found, dict):
        raise InputError(f"{path}: is no state of a stack: give what `pulumi stack export` writes")
    return found


def _line(one: Creation, known: Mapping[str, str], absent: Collection[str]) -> str:
    return f"{one.urn}\n  {'absent' if one.urn in absent else _advice(one, known.get(one.urn))}\n"


def _advice(one: Creation, known: str | None) -> str:
    if known:
        return f"id {known}"
    tags = ", ".join(f"{key}={value}" for key, value in sorted(one.tags.items()))
    ids = " and ".join(f"id {id_}" for id_ in one.ids)
    look = f"look for {ids or (f'the tags {tags}' if tags else 'it in its cloud')}"
    if one.there is not None:
        return f"the state has {one.there}, and there may be another: {look}, delete it, then give --absent"
    if len(one.tries) > 1:
        return f"begun {len(one.tries)} times: {look}, keep one by --id, and delete any other"
    return f"id not known: {look}"
