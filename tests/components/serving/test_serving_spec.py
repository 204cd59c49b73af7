"""What an endpoint may say, and what it is told when it says something impossible."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from pydantic import ValidationError

from gpuyard.components.serving.spec import EndpointSpec
from gpuyard.components.spec import in_bytes

Make = Callable[..., EndpointSpec]
HUB = {"id": "meta-llama/Llama-3.3-70B-Instruct", "revision": "0123456789abcdef0123456789abcdef01234567"}
BUCKET = {"uri": "s3://models/fraud/12"}
DAYTIME = {"start": "08:00", "end": "20:00", "timezone": "Europe/Berlin"}


def refused(make: Make, **changes: Any) -> str:
    with pytest.raises(ValidationError) as error:
        make(**changes)
    return str(error.value)


def test_a_replica_has_as_many_accelerators_as_it_is_spread_over(llama: Make) -> None:
    assert llama().accelerators == 4
    assert llama(tensor_parallel=None).accelerators == 1


@pytest.mark.parametrize("revision", [1.2345e45, 1234567890123456789012345678901234567890])
def test_a_revision_that_yaml_made_a_number_is_told_to_be_quoted(llama: Make, revision: Any) -> None:
    message = refused(llama, model={**HUB, "revision": revision})
    assert "revision was read as the number" in message
    assert "put it in quotes" in message


@pytest.mark.parametrize("revision", ["main", "v1.0", "0123456", "0123456789ABCDEF0123456789ABCDEF01234567"])
def test_a_revision_that_can_move_is_refused(llama: Make, revision: str) -> None:
    assert "model.hub.revision" in refused(llama, model={**HUB, "revision": revision})


def test_a_model_of_a_hub_needs_a_revision(llama: Make) -> None:
    assert "revision\n  Field required" in refused(llama, model={"id": HUB["id"]})


def test_a_token_in_plain_text_is_refused_with_its_place(llama: Make) -> None:
    assert "token is plain text" in refused(llama, model={**HUB, "token": "abc"})


def test_the_message_about_a_plain_token_does_not_repeat_it(llama: Make) -> None:
    with pytest.raises(ValidationError) as error:
        llama(model={**HUB, "token": "hf_secret"})
    (problem,) = error.value.errors()
    assert "hf_secret" not in str(problem["ctx"]["error"])


def test_a_model_without_id_and_uri_is_asked_for_one(llama: Make) -> None:
    assert "a model has an id (of the hub, with a revision) or a uri" in refused(llama, model={"revision": "x"})


@pytest.mark.parametrize(
    "uri",
    ["http://models/x", "s3://host:9000/bucket", "s3://models/{name}", "s3://models/a b", "pvc://", "gs://UPPER/x"],
)
def test_an_address_that_is_no_folder_of_a_store_is_refused(fraud: Make, uri: str) -> None:
    assert "model.stored.uri" in refused(fraud, model={"uri": uri})


@pytest.mark.parametrize(
    ("model", "remedy"),
    [
        ({"uri": "s3://models/x", "role": "reader@project-1.iam.gserviceaccount.com"}, "give the ARN of an AWS role"),
        ({"uri": "gs://models/x", "role": "arn:aws:iam::111122223333:role/r"}, "address of a Google service account"),
        ({"uri": "pvc://models/x", "role": "arn:aws:iam::111122223333:role/r"}, "leave role out"),
        ({"uri": "gs://models/x", "region": "us-east-1"}, "only an s3:// address takes one"),
    ],
)
def test_an_identity_that_the_store_does_not_know_is_refused(fraud: Make, model: dict[str, str], remedy: str) -> None:
    assert remedy in refused(fraud, model=model)


def test_an_unknown_engine_is_told_which_there_are(llama: Make) -> None:
    assert "give one of triton, vllm" in refused(llama, engine="vlm")


def test_triton_serves_no_model_of_a_hub(fraud: Make) -> None:
    message = refused(fraud, model=HUB)
    assert "engine triton reads no model from hub: it reads from s3, gs, pvc" in message


@pytest.mark.parametrize("option", [{"tensor_parallel": 2}, {"quantization": "fp8"}, {"context": 1024}])
def test_triton_takes_none_of_the_options_of_a_language_model(fraud: Make, option: dict[str, Any]) -> None:
    assert f"engine triton takes no {next(iter(option))}: leave it out" in refused(fraud, **option)


def test_a_quantization_that_the_engine_lacks_is_told_which_it_has(llama: Make) -> None:
    message = refused(llama, quantization="bitsandbytes")
    assert "quantization 'bitsandbytes' is unknown to vllm: give one of fp8," in message


def test_a_model_that_nobody_knows_needs_its_weights(llama: Make, fraud: Make) -> None:
    unknown = {**HUB, "id": "acme/private-7b"}
    assert "the catalogue does not know acme/private-7b" in refused(llama, model=unknown)
    assert "the catalogue does not know s3://models/fraud/12" in refused(fraud, weights=None)
    assert llama(model=unknown, weights="15Gi").weights == "15Gi"


def test_tensor_parallel_must_divide_the_attention_heads(llama: Make) -> None:
    message = refused(llama, tensor_parallel=3)
    assert "tensor_parallel 3 does not divide the 64 attention heads" in message
    assert "give one of 1, 2, 4, 8, 16" in message


def test_tensor_parallel_must_agree_with_the_key_value_heads(llama: Make) -> None:
    phi = {"id": "microsoft/phi-4", "revision": HUB["revision"]}
    assert "neither divides the 10 key-value heads" in refused(llama, model=phi, tensor_parallel=4, context=None)
    assert llama(model=phi, tensor_parallel=5, context=None).tensor_parallel == 5


def test_a_context_above_the_models_is_refused(llama: Make) -> None:
    assert "context 200000 is above the 131072 tokens" in refused(llama, context=200_000)
    assert llama(context=131_072).context == 131_072


def test_min_above_max_is_refused(llama: Make) -> None:
    assert "min 3 is above max 2: raise max or lower min" in refused(llama, replicas={"min": 3, "max": 2})


def test_a_load_without_an_autoscaler_is_refused(llama: Make) -> None:
    message = refused(llama, replicas={"min": 2, "max": 2, "load": 9})
    assert "load 9 is given, but min and max are both 2" in message


def test_scaling_to_zero_needs_hours(llama: Make) -> None:
    message = refused(llama, replicas={"min": 0, "max": 2})
    assert "replicas.min is 0, and nothing would wake the endpoint again" in message
    assert "give hours, or raise min to 1" in message
    assert llama(replicas={"min": 0, "max": 2}, hours=DAYTIME).autoscaled


def test_hours_need_an_autoscaler(llama: Make) -> None:
    message = refused(llama, replicas={"min": 1, "max": 1}, hours=DAYTIME)
    assert "hours are given, but replicas are fixed at 1: lower min, or drop hours" in message


@pytest.mark.parametrize("count", [1, 5])
def test_hours_that_change_nothing_or_exceed_the_maximum_are_refused(llama: Make, count: int) -> None:
    message = refused(llama, hours={**DAYTIME, "replicas": count})
    assert f"hours.replicas {count} is not above replicas.min 1 and at most replicas.max 4" in message


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"end": "08:00"}, "start and end are both 08:00"),
        ({"end": "06:00", "days": "mon-fri"}, "end on the next day"),
        ({"timezone": "Berlin"}, "timezone 'Berlin' is unknown"),
        ({"start": "8:00"}, "hours.start"),
        ({"start": 480}, "hours.start"),
        ({"days": "monday"}, "hours.days"),
    ],
)
def test_hours_that_no_clock_has_are_refused(llama: Make, change: dict[str, Any], message: str) -> None:
    assert message in refused(llama, replicas={"min": 0, "max": 2}, hours={**DAYTIME, **change})


@pytest.mark.parametrize("image", ["vllm", "docker.io/vllm/vllm-openai", "docker.io/vllm/vllm-openai@sha256:12"])
def test_an_image_without_registry_and_version_is_refused(llama: Make, image: str) -> None:
    assert "image" in refused(llama, image=image)


def test_a_spec_goes_into_the_state_as_plain_values(llama: Make, fraud: Make) -> None:
    for spec in (llama(), fraud()):
        assert EndpointSpec.model_validate(spec.model_dump(mode="json")) == spec


@pytest.mark.parametrize(("amount", "number"), [("1Mi", 2**20), ("15Gi", 15 * 2**30), ("2Ti", 2**41)])
def test_amounts_are_binary(amount: str, number: int) -> None:
    assert in_bytes(amount) == number
