"""Each kind of resource is told by names; these are the names that the installed SDKs and the clouds' models have."""

from __future__ import annotations

import functools
import re
from typing import Any

import botocore.session
import pytest
from clouds import sdk
from clouds.aws.kinds import AwsKind
from clouds.kind import KINDS, Kind
from clouds.package import package

for _name in ("aws", "gcp"):
    package(_name)


@pytest.fixture(params=sorted(KINDS), ids=lambda token: token.rpartition(":")[2])
def kind(request: pytest.FixtureRequest) -> Kind:
    return KINDS[request.param]


def test_its_type_is_one_of_the_sdk(kind: Kind) -> None:
    assert sdk.describe(kind.token) == {"inputs": sdk.inputs(kind.token), "outputs": sdk.outputs(kind.token)}


def test_every_input_that_it_names_is_one_of_the_sdk(kind: Kind) -> None:
    named = {*kind.replaces, *kind.sets, *kind.kept, *kind.defaults, *(r.path for r in kind.references)}
    named |= {kind.autoname.name} if kind.autoname else set()
    named |= {cause for cause in kind.renewed if cause}
    assert not {path for path in named if sdk.at(sdk.inputs(kind.token), path) is None}


def test_every_output_that_it_names_is_one_of_the_sdk(kind: Kind) -> None:
    named = {*kind.computed, *kind.secret, *(path for paths in kind.renewed.values() for path in paths)}
    assert not {path for path in named if sdk.at(sdk.outputs(kind.token), path) is None}


def test_its_lists_without_an_order_are_lists(kind: Kind) -> None:
    for path in kind.sets:
        assert "list" in sdk.at(sdk.inputs(kind.token), path), path


def test_what_it_replaces_is_from_a_file_of_the_real_provider(kind: Kind) -> None:
    assert re.fullmatch(r"[a-z0-9]+/[a-z0-9_]+\.go(@[0-9a-f]{7})?", kind.source), kind.token


def test_what_it_refers_to_is_a_kind_too(kind: Kind) -> None:
    for reference in kind.references:
        assert reference.kind in KINDS


AWS = sorted(token for token in KINDS if token.startswith("aws:"))
WITH_ERRORS = {"eks", "iam", "kms", "ecr", "s3", "fsx", "efs"}
"""Services whose models say which errors an operation has; EC2's does not."""


@pytest.mark.parametrize("token", AWS, ids=lambda token: token.rpartition(":")[2])
def test_its_operations_are_those_of_the_service(token: str) -> None:
    kind = KINDS[token]
    assert isinstance(kind, AwsKind)
    model = _model(kind.service.lower())
    operations = {operation for operation in (kind.create, kind.update, kind.delete) if operation}
    assert operations <= set(model.operation_names)
    if kind.service.lower() in WITH_ERRORS and kind.taken[0]:
        errors = {shape.name for shape in model.operation_model(kind.create).error_shapes}
        codes = {
            shape.metadata.get("error", {}).get("code", shape.name)
            for shape in model.operation_model(kind.create).error_shapes
        }
        assert kind.taken[0] in errors | codes


@functools.cache
def _model(service: str) -> Any:
    return botocore.session.get_session().get_service_model(service)
