"""Regions and zones that resources and providers name."""

from __future__ import annotations

from typing import Any

import pytest

from gpuyard.review.evaluation.places import default_places, places


@pytest.mark.parametrize(
    ("type_", "inputs", "expected"),
    [
        ("pulumi:providers:aws", {"region": "us-east-1"}, [("/region", "us-east-1", None)]),
        ("aws:s3/bucket:Bucket", {"region": "eu-west-1"}, [("/region", "eu-west-1", None)]),
        (
            "aws:ec2/subnet:Subnet",
            {"availabilityZone": "us-east-1a"},
            [("/availabilityZone", "us-east-1", "us-east-1a")],
        ),
        (
            "aws:ec2/subnet:Subnet",
            {"availabilityZone": "us-west-2-lax-1a"},
            [("/availabilityZone", "us-west-2", "us-west-2-lax-1a")],
        ),
        ("gcp:storage/bucket:Bucket", {"location": "EU"}, [("/location", "eu", None)]),
        (
            "gcp:container/nodePool:NodePool",
            {"location": "us-central1", "nodeLocations": ["us-central1-a", None]},
            [("/location", "us-central1", None), ("/nodeLocations/0", "us-central1", "us-central1-a")],
        ),
        ("gcp:compute/instance:Instance", {"zone": "europe-west4-b"}, [("/zone", "europe-west4", "europe-west4-b")]),
        ("gcp:compute/backendService:BackendService", {"location": "global", "region": 7}, []),
        ("kubernetes:core/v1:ConfigMap", {"region": "us-east-1"}, []),
        ("aws:ec2/vpc:Vpc", {"location": "office"}, []),
    ],
)
def test_what_a_resource_names_is_told(type_: str, inputs: dict[str, Any], expected: Any) -> None:
    assert [(place["path"], place["region"], place.get("zone")) for place in places(type_, inputs)] == expected


def test_a_default_provider_is_placed_by_the_configuration() -> None:
    (place,) = default_places("aws", {"inputs": {"region": "us-east-1", "profile": "x"}})
    assert place == {"path": "/config/aws:region", "region": "us-east-1"}
    assert list(default_places("kubernetes", {"inputs": {"region": "us-east-1"}})) == []
    assert list(default_places("aws", {})) == []
