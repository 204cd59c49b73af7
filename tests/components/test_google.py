from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpuyard.components.gcp import node_security, region_of, resource_labels


def test_tags_become_labels_in_lower_case() -> None:
    tags = {"owner": "ML Platform", "cost-center": "4711", "Team": "fraud@example.com"}
    assert resource_labels(tags) == {"owner": "ml-platform", "cost-center": "4711", "team": "fraud-example-com"}


@given(st.dictionaries(st.text().map(lambda text: f"k{text}"), st.text()))
def test_any_tags_become_labels_that_the_cloud_takes(tags: dict[str, str]) -> None:
    for key, value in resource_labels(tags).items():
        assert re.fullmatch(r"[a-z][a-z0-9_-]{0,62}", key)
        assert re.fullmatch(r"[a-z0-9_-]{0,63}", value)


def test_a_tag_without_a_letter_is_refused() -> None:
    with pytest.raises(ValueError, match="'4711' has no letter"):
        resource_labels({"4711": "x"})


def test_a_zone_lies_in_its_region() -> None:
    assert region_of("northamerica-northeast1-a") == "northamerica-northeast1"


def test_a_node_hides_the_metadata_of_its_machine_and_starts_signed_software_only() -> None:
    security = node_security("nodes@example.iam.gserviceaccount.com")
    assert security["workload_metadata_config"] == {"mode": "GKE_METADATA"}
    assert security["metadata"] == {"disable-legacy-endpoints": "true"}
    assert security["shielded_instance_config"]["enable_secure_boot"] is True
