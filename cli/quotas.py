"""`gpuyard quotas`: what the accounts of clouds may run, as files that the review reads."""

from __future__ import annotations

import datetime
import json
from pathlib import Path

import click

from gpuyard.cli.account_quotas import of_aws, of_gcp
from gpuyard.cli.output import emit
from gpuyard.cli.stacks import program_option
from gpuyard.review.errors import InputError
from gpuyard.review.program.project import find_project

FOLDER = "quotas"


@click.group(short_help="What accounts may run: a snapshot for the review.")
def quotas() -> None:
    """Quotas of clouds' accounts. The review compares them with what node groups may grow to, and needs no credentials
    for it: it reads what `fetch` wrote."""


@quotas.command(short_help="Write the quotas of an account to a file.")
@click.option("--cloud", type=click.Choice(["aws", "gcp"]), required=True, help="Whose account it is.")
@click.option("--region", required=True, help="The region: quotas are per region.")
@click.option(
    "--account",
    metavar="ID",
    help="The account number of AWS, for the case that you are logged in to another; the project id of Google Cloud.",
)
@click.option(
    "--out",
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="Where to write; quotas/ID-REGION.json in the program's folder when left out, where the review finds it.",
)
@program_option
def fetch(cloud: str, region: str, account: str | None, out: Path | None, program: Path) -> None:
    """Write what an account may run in a region to a file, by `aws` or `gcloud` and whoever is logged in there.

    Only commands that read are called. AWS: `sts get-caller-identity`, `service-quotas list-service-quotas` and
    `list-aws-default-service-quotas`. Google Cloud: `compute regions describe`, `compute project-info describe` and
    `beta quotas info describe`, with roles/compute.viewer and roles/cloudquotas.viewer.

    \b
    Exit code: 0; 2 when the cloud cannot be read or the file not written.
    """
    if cloud == "gcp" and account is None:
        raise InputError("--account: is missing: give the id of the project")
    date = datetime.datetime.now(datetime.UTC).date().isoformat()
    snapshot = of_aws(region, account, date) if cloud == "aws" else of_gcp(str(account), region, date)
    if out is None:
        out = find_project(program).root / FOLDER / f"{snapshot['account']}-{region}.json"
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        part = out.with_name(f".{out.name}.part")
        part.write_text(json.dumps(snapshot, indent=2) + "\n", encoding="utf-8")
        part.replace(out)
    except OSError as error:
        raise InputError(f"--out {out}: {error.strerror}: give a file that can be written") from error
    emit(f"{len(snapshot['quotas'])} quotas of {snapshot['account']} in {region} as of {date}: {out}\n")
