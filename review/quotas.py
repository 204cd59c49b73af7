"""What an account of a cloud may run at most, as a snapshot file says, beside what a stack may grow to.

`gpuyard quotas fetch` writes such files; the review only reads them, so it needs no credentials.
"""

from __future__ import annotations

import datetime
import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from gpuyard import catalogue
from gpuyard.review.errors import InputError

FORMAT = "gpuyard.quotas/1"
FETCH = "write it again with `gpuyard quotas fetch`"
CLOUDS = ("aws", "gcp")

Json = dict[str, Any]


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, use_attribute_docstrings=True)


class QuotaValue(_Part):
    """One quota of an account."""

    code: str
    """As the catalogue has it: EC2's quota code, or Compute Engine's metric."""
    name: str
    """As the cloud's console shows it."""
    value: Annotated[float, Field(ge=-1, allow_inf_nan=False)]
    """The limit; -1 where there is none."""
    unit: Literal["vcpus", "gpus"]
    usage: Annotated[float, Field(ge=0, allow_inf_nan=False)] | None = None
    """What is in use, by whomever; null where the cloud does not say."""


class Snapshot(_Part):
    """The quotas of one account in one region, on a day."""

    format: Literal["gpuyard.quotas/1"]
    cloud: Literal["aws", "gcp"]
    account: Annotated[str, Field(min_length=1)]
    """Account number of AWS, project id of Google Cloud."""
    region: Annotated[str, Field(min_length=1)]
    fetched: Annotated[str, Field(pattern=r"^[0-9]{4}-[0-9]{2}-[0-9]{2}$")]
    """The day, YYYY-MM-DD."""
    quotas: Annotated[list[QuotaValue], Field(min_length=1)]

    def value(self, code: str) -> QuotaValue | None:
        """The quota of that code, if the file has it."""
        return next((quota for quota in self.quotas if quota.code == code), None)


def read(path: Path) -> Snapshot:
    """The snapshot in a file. Raises InputError for a file that is none."""
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror}): give a file of `gpuyard quotas fetch`") from error
    try:
        content = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InputError(f"{path}: is no whole JSON, perhaps cut short: {FETCH}") from error
    given = content.get("format") if isinstance(content, dict) else None
    if given != FORMAT:
        raise InputError(f"{path}: its format is {given!r}, and {FORMAT!r} is read here: {FETCH}")
    try:
        snapshot = Snapshot.model_validate(content)
        datetime.date.fromisoformat(snapshot.fetched)
    except ValidationError as error:
        problem = error.errors()[0]
        where = ".".join(str(step) for step in problem["loc"])
        raise InputError(f"{path}: {where}: {problem['msg']}: {FETCH}") from None
    except ValueError as error:
        raise InputError(f"{path}: fetched: {snapshot.fetched!r} is no day: {FETCH}") from error
    codes = [quota.code for quota in snapshot.quotas]
    if twice := sorted({code for code in codes if codes.count(code) > 1}):
        raise InputError(f"{path}: quota {twice[0]} is there twice: {FETCH}")
    return snapshot


def snapshots(place: Path | None) -> tuple[Snapshot, ...]:
    """The snapshots of a file or of a folder, none where there is no place.

    Raises InputError for a file that is none, and for one in a folder whose name is another account's.
    """
    if place is None:
        return ()
    if not place.is_dir():
        return (read(place),)
    found: dict[tuple[str, str, str], Path] = {}
    read_ = []
    for path in sorted(place.glob("*.json")):
        snapshot = read(path)
        of = (snapshot.cloud, snapshot.account, snapshot.region)
        if path.stem not in (snapshot.account, f"{snapshot.account}-{snapshot.region}"):
            raise InputError(
                f"{path}: is of {snapshot.account} in {snapshot.region} by what it says: call it "
                f"{snapshot.account}-{snapshot.region}.json, or give the file of the account that its name says"
            )
        if of in found:
            raise InputError(f"{path}: is of the account and region of {found[of].name}: keep one of them")
        found[of] = path
        read_.append(snapshot)
    return tuple(read_)


def check_given(place: Path, given: Snapshot, groups: Sequence[Mapping[str, Any]]) -> None:
    """Raises InputError where a file that was named is of no account and region that the stack's groups are in."""
    of_cloud = [group for group in groups if group["cloud"] == given.cloud]
    if of_cloud and not any(_of(given, group) for group in of_cloud):
        there = {f"{group['account'] or 'an account that is not known'} in {group['region']}" for group in of_cloud}
        raise InputError(
            f"{place}: is of {given.account} in {given.region}, and the stack's node groups are of "
            f"{', '.join(sorted(there))}: give the file of their account and region"
        )


def lines(groups: Iterable[Mapping[str, Any]], known: Sequence[Snapshot], date: str) -> list[Json]:
    """Each quota that counts a node group, with what the groups may need of it together and what it allows.

    `groups` are the lines of capacity. `limit` is null where it is not known, and `unchecked` then says why; -1 is no
    limit. Nodes whose number is not known are in `uncounted`, and not in `need`.
    """
    by_quota: dict[tuple[str, ...], Json] = {}
    for group in groups:
        if group["cloud"] not in CLOUDS or group["nodes"]["max"] == 0 or not group["machine"]:
            continue
        counting: Sequence[catalogue.Quota | None] = catalogue.quotas_of(
            group["cloud"], group["machine"], group["market"], group["attached"]
        )
        for quota in counting or [None]:
            line = _line(group, quota, known, date)
            if line is not None:
                key = tuple(str(line[part]) for part in ("cloud", "account", "region", "code", "name"))
                _add(by_quota.setdefault(key, line), group, quota)
    return [line for _, line in sorted(by_quota.items())]


def _line(group: Mapping[str, Any], quota: catalogue.Quota | None, known: Sequence[Snapshot], date: str) -> Json | None:
    """A quota before anything is counted; None for a machine of which no quota is known and none matters."""
    about = {"cloud": group["cloud"], "account": group["account"], "region": group["region"]}
    if quota is None:
        if not group["accelerators_a_node"]:
            return None
        about |= {"code": "", "name": f"{group['machine']}, {group['market']}", "unit": "nodes"}
        return _unknown(about, "which quota counts it is not known")
    about |= {"code": quota.code, "name": quota.name, "unit": quota.unit}
    found = [snapshot for snapshot in known if _of(snapshot, group)]
    if len(found) != 1:
        why = "its account is not known" if found else "no snapshot"
        return _unknown(about, why)
    snapshot = found[0]
    about["account"] = snapshot.account
    about |= {"fetched": snapshot.fetched, "age_days": _age(snapshot.fetched, date)}
    value = snapshot.value(quota.code)
    if value is None:
        return _unknown(about, "the snapshot does not have it")
    return _unknown(about, None) | {"limit": value.value, "usage": value.usage}


def _unknown(about: Json, why: str | None) -> Json:
    empty = {"limit": None, "usage": None, "fetched": None, "age_days": None}
    return empty | about | {"unchecked": why, "need": 0, "groups": [], "uncounted": []}


def _add(line: Json, group: Mapping[str, Any], quota: catalogue.Quota | None) -> None:
    nodes, each = group["nodes"]["max"], _of_a_node(group, quota)
    if nodes is None or each is None:
        line["uncounted"].append(group["name"])
    else:
        line["groups"].append(group["name"])
        line["need"] += nodes * each


def _of_a_node(group: Mapping[str, Any], quota: catalogue.Quota | None) -> int | None:
    if quota is None:
        return 1
    each: int | None = group["vcpus_a_node"] if quota.unit == "vcpus" else group["accelerators_a_node"]
    return each or None


def _of(snapshot: Snapshot, group: Mapping[str, Any]) -> bool:
    """Whether a snapshot is of the account and region of a group; an account that is not known may be any."""
    same = snapshot.cloud == group["cloud"] and snapshot.region == group["region"]
    return same and group["account"] in (None, snapshot.account)


def _age(fetched: str, date: str) -> int:
    """Days from the snapshot to the review."""
    days = datetime.date.fromisoformat(date) - datetime.date.fromisoformat(fetched)
    return max(days.days, 0)
