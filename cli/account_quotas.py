"""Reads what an account of a cloud may run, by the cloud's own command line and the credentials that it has.

The command lines are what whoever asks has installed and is logged in with, by whatever way the house logs in; an SDK
of ours would be one more thing to log in. Only commands that read are called.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from collections.abc import Iterable, Sequence
from math import isfinite
from typing import Any

from gpuyard import catalogue
from gpuyard.catalogue.account_quotas import FAMILIES
from gpuyard.review.errors import InputError
from gpuyard.review.quotas import FORMAT
from gpuyard.review.values import mapping, sequence, text

SECONDS = 120
"""A command that answers later is ended: both page through thousands of quotas in less."""

PER_REGION = "-per-project-region"
"""Ends the ids of the quotas of the Cloud Quotas API that count a region."""

LOGINS = {
    "aws": ("ExpiredToken", "expired", "Unable to locate credentials", "SSO", "InvalidClientTokenId"),
    "gcloud": ("Reauthentication", "auth login", "invalid_grant", "do not currently have an active account"),
}
"""What the command lines say where nobody is logged in, or no longer."""

RIGHTS = {
    "aws": ("AccessDenied", "UnauthorizedOperation", "not authorized"),
    "gcloud": ("PERMISSION_DENIED", "Required '", "does not have permission", "required permission"),
}
"""What they say where the one who is logged in may not read."""

NEEDED = {
    "aws": "sts:GetCallerIdentity, servicequotas:ListServiceQuotas and servicequotas:ListAWSDefaultServiceQuotas",
    "gcloud": "roles/compute.viewer and roles/cloudquotas.viewer",
}

Json = dict[str, Any]


def of_aws(region: str, expected: str | None, day: str) -> Json:
    """The snapshot of the account that `aws` is logged in to. Raises InputError, also where it is another account."""
    account = str(_member(_ask("aws", "sts", "get-caller-identity"), "Account", "aws sts get-caller-identity"))
    if expected not in (None, account):
        raise InputError(
            f"--account {expected}: aws is logged in to {account}: log in to {expected}, or name its profile in "
            "AWS_PROFILE"
        )
    values: dict[str, Json] = {}
    # An account's own quotas are listed only where they differ, or were ever asked about: the defaults come first.
    for command in ("list-aws-default-service-quotas", "list-service-quotas"):
        answer = _ask("aws", "service-quotas", command, "--service-code", "ec2", "--region", region)
        for quota in _rows(answer, "Quotas", f"aws service-quotas {command}"):
            code, limit = text(quota.get("QuotaCode")) or "", _limit(quota.get("Value"))
            if ("aws", code) in catalogue.quotas() and limit is not None:
                values[code] = _value("aws", code, limit, None)
    return _snapshot("aws", account, region, day, values.values())


def of_gcp(project: str, region: str, day: str) -> Json:
    """The snapshot of a project. Raises InputError."""
    common = ("--project", project)
    values: dict[str, Json] = {}
    for what in (("regions", "describe", region), ("project-info", "describe")):
        answer = _ask("gcloud", "compute", *what, *common)
        for quota in _rows(answer, "quotas", f"gcloud compute {what[0]} {what[1]}"):
            code, limit = text(quota.get("metric")) or "", _limit(quota.get("limit"))
            if ("gcp", code) in catalogue.quotas() and limit is not None:
                values[code] = _value("gcp", code, limit, _limit(quota.get("usage")))
    # What counts newer accelerators is in the Cloud Quotas API alone.
    missing = [code for cloud, code in catalogue.quotas() if cloud == "gcp" and code not in values]
    wanted = {_id(code) for code in missing}
    told = ("beta", "quotas", "info", "list", "--service=compute.googleapis.com")
    infos = _ask_list("gcloud", *told, f"--filter=quotaId=({','.join(sorted(wanted))})", *common)
    listed = {text(info.get("quotaId")): info.get("dimensionsInfos") for info in infos}
    for code in missing:
        metric, _, family = code.partition("/")
        if _id(code) in listed:
            limit = region_limit(listed[_id(code)], region, FAMILIES.get(metric), family)
            if limit is not None:
                values[code] = _value("gcp", code, limit, None)
    return _snapshot("gcp", project, region, day, values.values())


def _id(code: str) -> str:
    """What the Cloud Quotas API calls a quota."""
    return code.partition("/")[0].replace("_", "-") + PER_REGION


def region_limit(infos: Any, region: str, dimension: str | None = None, family: str = "") -> int | None:
    """What a region allows, of a family where a dimension tells families apart, by the Cloud Quotas API; None where it
    says nothing about either.

    A row of both region and family comes before one of the region alone, that before one of the family alone, and that
    before one of neither. A row without a value is 0, and -1 is no limit.
    Source: docs.cloud.google.com/docs/quotas/configure-dimensions, and its QuotaInfo.
    """
    ranked: dict[int, int | None] = {}
    for info in (one for one in sequence(infos) if isinstance(one, dict)):
        dimensions = info.get("dimensions") or {}
        if not isinstance(dimensions, dict) or not {*dimensions} <= {"region", dimension}:
            continue
        if dimensions.get("region", region) != region or dimensions.get(dimension, family) != family:
            continue
        if "region" not in dimensions and region not in (info.get("applicableLocations") or [region]):
            continue
        rank = 2 * ("region" in dimensions) + (dimension in dimensions)
        # The API writes whole numbers as texts.
        value = mapping(info.get("details")).get("value", 0)
        ranked[rank] = int(value) if re.fullmatch(r"-?[0-9]{1,15}", str(value)) else None
    return ranked[max(ranked)] if ranked else None


def _snapshot(cloud: str, account: str, region: str, day: str, values: Iterable[Json]) -> Json:
    quotas = sorted(values, key=lambda value: str(value["code"]))
    if not quotas:
        raise InputError(
            f"--region {region}: the cloud says none of the quotas that count node groups: give a region that it has"
        )
    about = {"format": FORMAT, "cloud": cloud, "account": account, "region": region, "fetched": day}
    return about | {"quotas": quotas}


def _value(cloud: str, code: str, limit: float, usage: float | None) -> Json:
    row = catalogue.quotas()[cloud, code]
    return {"code": code, "name": row.name, "value": limit, "unit": row.unit, "usage": usage}


def _limit(value: Any) -> float | None:
    """A number that a snapshot can hold; None for what is none."""
    return value if isinstance(value, int | float) and not isinstance(value, bool) and isfinite(value) else None


def _rows(answer: Json, key: str, command: str) -> list[Json]:
    rows = _member(answer, key, command)
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise InputError(f"{command} gave {key} that are no list of quotas: is it the cloud's own program?")
    return rows


def _member(answer: Json, key: str, command: str) -> Any:
    if key not in answer:
        raise InputError(f"{command} gave an answer without {key}: is it the cloud's own program?")
    return answer[key]


def _ask(program: str, *arguments: str) -> Json:
    """What a command of a cloud's command line answers, an object."""
    answer = _answer(program, *arguments)
    if not isinstance(answer, dict):
        raise InputError(f"`{' '.join((program, *arguments))}` answered no object: is it the cloud's own program?")
    return answer


def _ask_list(program: str, *arguments: str) -> list[Json]:
    """What a command of a cloud's command line answers, a list of objects."""
    answer = _answer(program, *arguments)
    if not isinstance(answer, list) or not all(isinstance(one, dict) for one in answer):
        raise InputError(f"`{' '.join((program, *arguments))}` answered no list: is it the cloud's own program?")
    return answer


def _answer(program: str, *arguments: str) -> Any:
    """What a command of a cloud's command line answers, from its JSON."""
    told = " ".join((program, *arguments))
    found = shutil.which(program)
    if found is None:
        raise InputError(f"{program} is not on PATH, and `{told}` reads the quotas: install the cloud's command line")
    form = ("--output", "json") if program == "aws" else ("--format=json",)
    quiet = {"AWS_PAGER": "", "CLOUDSDK_CORE_DISABLE_PROMPTS": "1"}
    try:
        done = subprocess.run(
            [found, *arguments, *form],
            capture_output=True,
            stdin=subprocess.DEVNULL,
            timeout=SECONDS,
            check=False,
            env=os.environ | quiet,
        )
    except subprocess.TimeoutExpired as error:
        raise InputError(f"`{told}` gave no answer in {SECONDS} s: try again where the cloud can be reached") from error
    except OSError as error:
        raise InputError(f"{found}: {error.strerror}: give a {program} that runs") from error
    if done.returncode:
        raise InputError(_failure(program, told, done.stderr.decode("utf-8", "replace")))
    try:
        return json.loads(done.stdout)
    except (ValueError, RecursionError) as error:
        raise InputError(f"`{told}` answered something else than JSON: is it the cloud's own program?") from error


def _failure(program: str, told: str, said: str) -> str:
    last = next((line.strip() for line in reversed(said.splitlines()) if line.strip()), "it says nothing")
    if _any(LOGINS[program], said):
        remedy = "log in again, such as by " + ("`aws sso login`" if program == "aws" else "`gcloud auth login`")
    elif _any(RIGHTS[program], said):
        remedy = f"ask for {NEEDED[program]}, which only read"
    else:
        remedy = "give an account and a region that it can read"
    return f"`{told}` fails: {last}: {remedy}"


def _any(marks: Sequence[str], said: str) -> bool:
    return any(mark in said for mark in marks)
