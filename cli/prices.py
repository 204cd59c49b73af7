"""`gpuyard prices`: a price list of somebody else as a small, dated file that goes over the catalogue's prices."""

from __future__ import annotations

import csv
import datetime
import io
import os
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import click

from gpuyard import catalogue
from gpuyard.catalogue.importing import Imported, import_list
from gpuyard.catalogue.pricing import COLUMNS, Sold, read_prices
from gpuyard.cli.output import emit
from gpuyard.review.errors import InputError

HEADER = (*COLUMNS, "machines")


@click.group(short_help="Prices of one's own.")
def prices() -> None:
    """Prices of one's own, which go over those of the catalogue: the file policies/prices.csv beside Pulumi.yaml."""


def _day(_: click.Context, __: click.Parameter, value: str | None) -> str | None:
    try:
        return datetime.date.fromisoformat(value).isoformat() if value else None
    except ValueError:
        raise click.BadParameter(f"{value!r} is not a day: give one such as 2026-11-30") from None


@prices.command("import", short_help="Take the prices of a published list.")
@click.argument("file", metavar="FILE", type=click.Path(path_type=Path))
@click.option(
    "--to",
    metavar="FILE",
    type=click.Path(path_type=Path),
    default="policies/prices.csv",
    show_default=True,
    help="The file to write. Rows that are there already stay, but those of the same machine, region and market.",
)
@click.option("--region", "regions", metavar="REGION", multiple=True, help="Take only this region; may be repeated.")
@click.option(
    "--date",
    metavar="YYYY-MM-DD",
    callback=_day,
    help="Day of the prices, for a list that says none itself: gpuhunt's and SkyPilot's.",
)
def import_(file: Path, to: Path, regions: tuple[str, ...], date: str | None) -> None:
    """Take the prices of the catalogue's machines from FILE, a price list that was downloaded before:

    \b
      AWS        the offer file of AmazonEC2 of a region, as CSV
      gpuhunt    catalog.zip of a provider, or the CSV in it
      SkyPilot   vms.csv of a cloud, of skypilot-org/skypilot-catalog

    Nothing is asked of the network.
    """
    found = _read(file, date)
    rows = {sold: price for sold, price in found.rows.items() if not regions or sold[1] in regions}
    if not rows:
        known = sorted({region for _, region, _, _ in found.rows})
        has = f"it has {', '.join(known)}" if known else "it has no price of a machine of the catalogue"
        asked = f" for {', '.join(regions)}" if regions else ""
        raise InputError(f"{file}: no price to take{asked}: {has}")
    before = _before(to)
    _write(to, {**before, **rows})
    left_out = "".join(f"\n  left out: {count} x {why}" for why, count in sorted(found.left_out.items()))
    emit(f"{to}: {len(rows)} prices of {found.kind}, {len({**before, **rows})} in all{left_out}\n")


def _read(file: Path, date: str | None) -> Imported:
    try:
        with _lines(file) as lines:
            return import_list(lines, date)
    except OSError as error:
        raise InputError(f"{file}: {error.strerror or error}: give a price list that can be read") from error
    except UnicodeDecodeError as error:
        raise InputError(f"{file}: it is no text in UTF-8: give the CSV or zip file as it was published") from error
    except (EOFError, zipfile.BadZipFile, zlib.error) as error:
        raise InputError(f"{file}: it is no whole zip file: download it again ({error})") from error
    except ValueError as error:
        raise InputError(f"{file}: {error}") from error
    except (RuntimeError, NotImplementedError) as error:
        # Python's word for an archive that is encrypted, or compressed by a way that it does not know.
        raise InputError(f"{file}: {error}: unpack it, and give the CSV in it") from error


@contextmanager
def _lines(file: Path) -> Iterator[Iterator[str]]:
    """The lines of a CSV file, or of the one that is in a zip file."""
    if not zipfile.is_zipfile(file):
        if file.suffix == ".zip":
            raise ValueError("it is no whole zip file: download it again")
        with file.open(newline="", encoding="utf-8-sig") as text:
            yield iter(text)
        return
    with zipfile.ZipFile(file) as archive:
        names = [name for name in archive.namelist() if name.endswith(".csv")]
        if len(names) != 1:
            raise ValueError(f"it has {len(names)} CSV files: give one with the catalog of one provider")
        with archive.open(names[0]) as member:
            yield iter(io.TextIOWrapper(member, "utf-8-sig", newline=""))


def _before(to: Path) -> Mapping[Sold, catalogue.Price]:
    if not to.exists():
        return {}
    try:
        return read_prices(to)
    except OSError as error:
        raise InputError(f"--to {to}: {error.strerror}: give a file that can be written") from error
    except ValueError as error:
        raise InputError(f"--to {to}: {error}: mend it, or give another file") from error


def _write(to: Path, rows: Mapping[Sold, catalogue.Price]) -> None:
    """Writes the file whole or not at all."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(HEADER)
    for (cloud, region, machine, market), price in sorted(rows.items()):
        number = f"{price.usd_hour:.6f}".rstrip("0").rstrip(".")
        writer.writerow((cloud, region, machine, market, number, price.source, price.date, price.machines or ""))
    part = to.with_name(f".{to.name}.{os.getpid()}")
    try:
        to.parent.mkdir(parents=True, exist_ok=True)
        part.write_text(text.getvalue(), encoding="utf-8")
        part.replace(to)
    except OSError as error:
        raise InputError(f"--to {to}: {error.strerror}: give a file that can be written") from error
    finally:
        part.unlink(missing_ok=True)
