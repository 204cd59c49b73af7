"""Functions of Pulumi's AWS provider that programs ask."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from clouds.aws.vpc import zone_id
from clouds.kind import Session
from clouds.package import function

Arguments = Mapping[str, Any]

ZONES = "abcdef"
"""Letters of the zones that each region has here: us-east-1 has these six."""


@function("aws:index/getCallerIdentity:getCallerIdentity")
def caller(session: Session, _: Arguments) -> Arguments:
    role = f"arn:aws:sts::{session.account}:assumed-role/platform/deploy"
    return {"accountId": session.account, "arn": role, "id": session.account, "userId": "AROA0123456789ABCDEFG:deploy"}


@function("aws:index/getRegion:getRegion")
def region(session: Session, arguments: Arguments) -> Arguments:
    name = arguments.get("region") or arguments.get("name") or session.region
    endpoint = f"ec2.{name}.amazonaws.com"
    return {"region": name, "name": name, "id": name, "description": name, "endpoint": endpoint}


@function("aws:index/getPartition:getPartition")
def partition(_: Session, __: Arguments) -> Arguments:
    return {"partition": "aws", "id": "aws", "dnsSuffix": "amazonaws.com", "reverseDnsPrefix": "com.amazonaws"}


@function("aws:index/getAvailabilityZones:getAvailabilityZones")
def zones(session: Session, arguments: Arguments) -> Arguments:
    place = arguments.get("region") or session.region
    names = [f"{place}{letter}" for letter in ZONES]
    excluded = arguments.get("excludeNames") or []
    names = [name for name in names if name not in excluded]
    return {
        "id": place,
        "region": place,
        "names": names,
        "zoneIds": [zone_id(name) for name in names],
        "groupNames": [place],
        "state": arguments.get("state") or "available",
    }


@function("aws:iam/getPolicyDocument:getPolicyDocument")
def policy_document(_: Session, arguments: Arguments) -> Arguments:
    """Computed by the provider itself, without AWS."""
    statements = [_statement(given) for given in arguments.get("statements") or []]
    document = {"Version": arguments.get("version") or "2012-10-17", "Statement": statements}
    return {
        "json": json.dumps(document, indent=2),
        "minifiedJson": json.dumps(document, separators=(",", ":")),
        "id": "0",
    }


def _statement(given: Arguments) -> dict[str, Any]:
    statement: dict[str, Any] = {"Effect": given.get("effect") or "Allow"}
    names = (("sid", "Sid"), ("actions", "Action"), ("resources", "Resource"))
    statement |= {member: _one(given[name]) for name, member in names if given.get(name)}
    for name, member in (("principals", "Principal"), ("notPrincipals", "NotPrincipal")):
        if given.get(name):
            statement[member] = {one["type"]: _one(one["identifiers"]) for one in given[name]}
    for condition in given.get("conditions") or []:
        tests = statement.setdefault("Condition", {}).setdefault(condition["test"], {})
        tests[condition["variable"]] = _one(condition["values"])
    return statement


def _one(values: Any) -> Any:
    """IAM writes a list of one as its item."""
    return values[0] if isinstance(values, list) and len(values) == 1 else values
