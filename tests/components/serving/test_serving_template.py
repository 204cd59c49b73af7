"""Templates are data that the engines' own parsers and metrics agree with."""

from __future__ import annotations

import copy
import re
from collections.abc import Callable
from importlib.resources import files
from typing import Any

import pytest
from pydantic import ValidationError
from ruamel.yaml import YAML

from gpuyard import catalogue
from gpuyard.components.serving import template
from gpuyard.components.serving.template import ServingTemplate

Upstream = Callable[[str, str], dict[str, str]]
ENGINES = template.names()
METRIC = re.compile(r"([a-zA-Z_:][a-zA-Z0-9_:]*)\{selector\}")


@pytest.fixture
def vllm() -> dict[str, Any]:
    text = files("gpuyard.serving_templates").joinpath("vllm.yaml").read_text()
    return copy.deepcopy(YAML(typ="safe", pure=True).load(text))


def flags(engine: ServingTemplate) -> set[str]:
    arguments = [*engine.arguments]
    for group in engine.options.values():
        arguments += group
    for source in engine.sources.values():
        arguments += source.arguments
    return {argument.split("=", 1)[0] for argument in arguments if argument.startswith("-")}


def test_the_folder_is_the_list_of_engines() -> None:
    assert {"triton", "vllm"} <= {*ENGINES}


@pytest.mark.parametrize("engine", ENGINES)
def test_every_template_loads_and_names_an_image_of_the_catalogue(engine: str) -> None:
    assert catalogue.image(template.load(engine).image).tag


@pytest.mark.parametrize("engine", ENGINES)
def test_every_flag_is_known_to_the_engines_parser(engine: str, upstream: Upstream) -> None:
    used = flags(template.load(engine))
    assert used
    assert used - upstream(engine, "flags").keys() == set()


@pytest.mark.parametrize("engine", [name for name in ENGINES if template.load(name).quantizations])
def test_every_quantization_is_known_to_the_engines_parser(engine: str, upstream: Upstream) -> None:
    assert set(template.load(engine).quantizations) - upstream(engine, "quantizations").keys() == set()


@pytest.mark.parametrize("engine", ENGINES)
def test_the_load_is_measured_by_metrics_that_the_server_has(engine: str, upstream: Upstream) -> None:
    query, kinds = template.load(engine).load.query, upstream(engine, "metrics")
    used = set(METRIC.findall(query))
    assert used
    assert used - kinds.keys() == set()
    rated, summed = set(re.findall(r"rate\(([\w:]+)", query)), set(re.findall(r"sum\(([\w:]+)\{", query))
    assert rated | summed == used
    assert {name: kinds[name] for name in used} == dict.fromkeys(rated, "counter") | dict.fromkeys(summed, "gauge")


def test_vllm_is_probed_and_scraped_at_routes_that_it_serves(upstream: Upstream) -> None:
    engine = template.load("vllm")
    paths = {engine.health.startup, engine.health.readiness, engine.health.liveness, engine.metrics.path}
    assert paths <= upstream("vllm", "routes").keys()


@pytest.mark.parametrize("engine", ENGINES)
def test_no_template_starts_a_shell(engine: str) -> None:
    found = template.load(engine)
    assert not {"sh", "bash", "-c", "/bin/sh", "/bin/bash"} & {*found.command, *found.arguments}


def test_an_unknown_engine_is_told_which_there_are() -> None:
    with pytest.raises(
        template.UnknownEngineError, match=r"'vlm' has no serving template: did you mean vllm\? give one"
    ):
        template.load("vlm")


def test_an_engine_is_never_a_path() -> None:
    with pytest.raises(template.UnknownEngineError, match=r"has no serving template: give one of .*vllm"):
        template.load("../stacks/Pulumi.dev")


@pytest.mark.parametrize(
    "argument",
    ["--x={password}", "--x={name.__class__}", "--x={name[0]}", "--x={name!r}", "--x={context:>10}", "--x={}"],
)
def test_only_plain_placeholders_of_the_closed_list_are_taken(argument: str, vllm: dict[str, Any]) -> None:
    vllm["arguments"].append(argument)
    with pytest.raises(ValidationError, match="plain placeholders are cache, context"):
        ServingTemplate.model_validate(vllm)


@pytest.mark.parametrize("place", ["environment", "sources", "options"])
def test_placeholders_are_checked_wherever_text_is_filled(place: str, vllm: dict[str, Any]) -> None:
    wrong = "{home}"
    if place == "environment":
        vllm["environment"]["X"] = wrong
    elif place == "sources":
        vllm["sources"]["hub"] = {"environment": {"X": wrong}}
    else:
        vllm["options"]["context"] = [wrong]
    with pytest.raises(ValidationError, match=r"leaves \{home\} open"):
        ServingTemplate.model_validate(vllm)


def test_the_load_query_leaves_nothing_open_but_its_selector(vllm: dict[str, Any]) -> None:
    vllm["load"]["query"] = "sum(x{name})"
    with pytest.raises(ValidationError, match="plain placeholders are selector"):
        ServingTemplate.model_validate(vllm)


def test_a_probe_at_a_port_that_does_not_exist_is_refused(vllm: dict[str, Any]) -> None:
    vllm["health"]["port"] = "admin"
    with pytest.raises(ValidationError, match=r"health\.port 'admin' is none of the ports: give one of http"):
        ServingTemplate.model_validate(vllm)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"inherit": "triton"}, "inherit"),
        ({"options": {"shell": ["x"]}}, "options.shell"),
        ({"sources": {"ftp": {}}}, "sources.ftp"),
        ({"sources": {}}, "sources"),
        ({"security": {"user": 0, "cache": "/c", "writable": {}}}, "security.user"),
        ({"ports": {"http": 80}}, "ports.http"),
    ],
)
def test_what_the_schema_does_not_know_is_refused(change: dict[str, Any], message: str, vllm: dict[str, Any]) -> None:
    with pytest.raises(ValidationError, match=message):
        ServingTemplate.model_validate({**vllm, **change})
