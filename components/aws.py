"""What all parts on AWS share: how its places are called, and what identifies a role."""

from __future__ import annotations

from typing import Annotated

from pydantic import AfterValidator, Field

from gpuyard import catalogue
from gpuyard.components.spec import pattern

AccountId = Annotated[str, pattern(r"^[0-9]{12}$", "the twelve digits of the account, in quotes")]
"""The twelve digits of an AWS account, in quotes."""


def _known_region(name: str) -> str:
    return catalogue.region(name).name


Region = Annotated[str, AfterValidator(_known_region)]
"""A region such as us-east-1, of the commercial partition: the ARNs here begin with arn:aws."""

Zone = Annotated[str, Field(pattern=r"^[a-z]{2}-[a-z]+-[0-9][a-g]$")]
"""An availability zone such as us-east-1a. Local zones and wavelength zones hold no control plane of EKS."""

RoleArn = Annotated[
    str,
    pattern(
        r"^arn:aws:iam::[0-9]{12}:role/[A-Za-z0-9_+=,.@/-]+$",
        'the ARN of an IAM role, such as "arn:aws:iam::111122223333:role/platform"',
    ),
]
"""An IAM role such as arn:aws:iam::111122223333:role/platform, in quotes. Users and sessions are not taken."""


def region_of(zone: str) -> str:
    """The region that a zone lies in: us-east-1 for us-east-1a."""
    return zone[:-1]
