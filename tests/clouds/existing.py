"""Things that a test's cloud has from the start: what others made, and a stack only names."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from clouds.aws.iam import ROLE
from clouds.aws.vpc import SUBNET, VPC
from clouds.cloud import Cloud, Thing
from clouds.kind import Session, kind_of
from clouds.paths import merged, put

ROLE_NAMED = re.compile(r"arn:aws:iam::([0-9]{12}):role/([\w+=,.@/-]+)")
SUBNET_NAMED = re.compile(r"subnet-(?:[0-9a-f]{17}|[0-9a-f]{8})\b")

TRUSTED = ("eks.amazonaws.com", "ec2.amazonaws.com", "pods.eks.amazonaws.com")
"""Services that may take the roles that are there: what they are for, only their owners know."""


def plant(cloud: Cloud, token: str, inputs: Mapping[str, Any], *, name: str = "", region: str = "us-east-1") -> Thing:
    """Makes something exist, unasked and unchecked: `name` is its id, where the cloud would not give it another."""
    kind = kind_of(token)
    session = Session(cloud, {}, cloud.setting("account"), region)
    given = merged(inputs, {})
    name = name or kind.identify(session, given)
    outputs = merged(given, {})
    for path, value in kind.outputs(session, name, given, {}).items():
        put(outputs, path, value)
    thing = Thing(token, name, given, outputs)
    cloud.put(thing, planted=True)
    return thing


def plant_named(cloud: Cloud, text: str, *, region: str = "us-east-1") -> list[Thing]:
    """Makes what a stack's text names exist: roles of IAM by their ARNs, and subnets in one VPC by their ids."""
    return [*_roles(cloud, text), *_subnets(cloud, text, region)]


def _roles(cloud: Cloud, text: str) -> Iterator[Thing]:
    statement = {"Effect": "Allow", "Action": "sts:AssumeRole", "Principal": {"Service": list(TRUSTED)}}
    for _, path in dict.fromkeys(ROLE_NAMED.findall(text)):
        folder, _, name = path.rpartition("/")
        trust = {"Version": "2012-10-17", "Statement": [statement]}
        place = f"/{folder}/" if folder else "/"
        yield plant(cloud, ROLE, {"name": name, "path": place, "assumeRolePolicy": json.dumps(trust)})


def _subnets(cloud: Cloud, text: str, region: str) -> Iterator[Thing]:
    named = list(dict.fromkeys(SUBNET_NAMED.findall(text)))
    if not named:
        return
    vpc = plant(cloud, VPC, {"cidrBlock": "10.0.0.0/16", "region": region}, region=region)
    yield vpc
    for number, name in enumerate(named):
        zone = f"{region}{'abcdef'[number % 6]}"
        inputs = {"vpcId": vpc.id, "cidrBlock": f"10.0.{number}.0/24", "availabilityZone": zone, "region": region}
        yield plant(cloud, SUBNET, inputs, name=name, region=region)
