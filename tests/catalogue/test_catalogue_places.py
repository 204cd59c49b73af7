from __future__ import annotations

import botocore.session
import pytest

from gpuyard import catalogue


def test_the_regions_of_aws_are_those_that_have_eks() -> None:
    there = set(botocore.session.get_session().get_available_regions("eks"))
    assert {name for name, region in catalogue.regions().items() if region.cloud == "aws"} == there


def test_a_region_that_does_not_exist_is_refused_with_the_nearest() -> None:
    with pytest.raises(catalogue.Unknown, match="region 'us-est-1' is not in the catalogue") as refused:
        catalogue.region("us-est-1")
    assert "us-east-1" in refused.value.nearest
