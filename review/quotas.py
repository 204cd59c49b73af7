"""What an account of a cloud may run at most, as a snapshot file says, beside what a stack may grow to.

`gpuyard quotas fetch` writes such files; the review only reads them, so it needs no credentials.
"""

from __future__ import annotations

import datetime
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from gpuyard import catalogue
from gpuyard.review.errors import InputError

FORMAT = "gpuyard.quotas/1"
FETCH = "write it again with `gpuyard quotas fetch`"
CLOUDS = ("aws", "gcp")
BY = ("cloud", "account", "region", "code", "name")
"""What tells quotas apart, and their order."""

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
    unit: Literal["vcpus", "gpus", "chips"]
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
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: is no text in UTF-8: {FETCH}") from error
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
        there = {
            f"{group['account'] or 'an account that is not known'} in {group['region'] or 'a region that is not known'}"
            for group in of_cloud
        }
        raise InputError(
            f"{place}: is of {given.account} in {given.region}, and the stack's node groups are of "
            f"{', '.join(sorted(there))}: give the file of their account and region"
        )


def lines(groups: Iterable[Mapping[str, Any]], known: Sequence[Snapshot], date: str) -> list[Json]:
    """Each quota that counts a node group, with what the groups may need of it together and what it allows.

    `groups` are the lines of capacity. `limit` is null where it is not known, and `unchecked` then says why; -1 is no
    limit. Nodes whose number is not known are in `uncounted`, and not in `need`. `surge` is what the groups need beyond
    that while all move to another version at once, as far as it is known.
    """
    by_quota: dict[tuple[str, ...], Json] = {}
    for group in groups:
        if group["cloud"] not in CLOUDS or group["nodes"]["max"] == 0 or not group["machine"]:
            continue
        for key, line, needs, surge in _of_group(group, known, date):
            there = by_quota.setdefault(key, line)
            if there["region"] != line["region"]:
                _widen(there, line)
            _add(there, group["name"], needs)
            there["surge"] += surge
    return sorted(by_quota.values(), key=lambda line: tuple(str(line[part]) for part in BY))


def _of_group(
    group: Mapping[str, Any], known: Sequence[Snapshot], date: str
) -> Iterator[tuple[tuple[str, ...], Json, list[int | None], int]]:
    """The quotas that count a group, what it needs of each in every way that it may be made of, and what more while it
    is upgraded: of several machines or markets it may be of any, but of one at a time."""
    needs: dict[tuple[str, ...], list[int | None]] = {}
    surges: dict[tuple[str, ...], int] = {}
    found: dict[tuple[str, ...], Json] = {}
    for way in group.get("ways") or [{}]:
        one = {**group, **way}
        counting: Sequence[catalogue.Quota | None] = catalogue.quotas_of(
            one["cloud"], one["machine"] or "", one["market"], one["attached"]
        )
        for quota in counting or [None]:
            line = _line(one, quota, known, date)
            if line is not None:
                everywhere = quota is not None and quota.scope == "global"
                key = tuple("" if everywhere and part == "region" else str(line[part]) for part in BY)
                found[key] = line
                nodes, each = one["nodes"]["max"], _of_a_node(one, quota)
                needs.setdefault(key, []).append(None if nodes is None or each is None else nodes * each)
                surges[key] = max(surges.get(key, 0), (one.get("surge_nodes") or 0) * (each or 0))
    return ((key, line, needs[key], surges[key]) for key, line in found.items())


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
    return empty | about | {"unchecked": why, "need": 0, "surge": 0, "groups": [], "uncounted": []}


def _widen(line: Json, other: Json) -> None:
    """Makes the line of a quota that counts all regions that of one more; any snapshot that has it will do."""
    regions = {*str(line["region"]).split(", "), str(other["region"])}
    if line["limit"] is None and other["limit"] is not None:
        line |= {part: other[part] for part in ("limit", "usage", "fetched", "age_days", "unchecked")}
    line["region"] = ", ".join(sorted(regions))


def _add(line: Json, name: str, needs: Sequence[int | None]) -> None:
    counted = [need for need in needs if need is not None]
    if len(counted) < len(needs):
        line["uncounted"].append(name)
    else:
        line["groups"].append(name)
        line["need"] += max(counted)


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
    """Days from the snapshot to the review; negative for a snapshot of a day that is still to come."""
    return (datetime.date.fromisoformat(date) - datetime.date.fromisoformat(fetched)).days
