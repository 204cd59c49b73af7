"""Limits are data, and a typing error in them must not lift one."""

from __future__ import annotations

from pathlib import Path

import pytest

from gpuyard.review.errors import GateError, InputError
from gpuyard.review.evaluation import limits

ENVIRONMENTS = """strictest: production
stacks: {dev: development}
patterns: [{stacks: "dev-*", environment: development}]
"""
PRODUCTION = """accelerators: {max: 8}
machines: ["g6.*"]
tags: [owner]
budget: {month_usd: 1000, unknown_price: mandatory}
registries: [nvcr.io/nvidia/]
namespaces: {privileged: [kube-system], system: [kube-*]}
capabilities: [CHOWN]
api: {widest_ipv4: 24, widest_ipv6: 64}
stacks: {big: {accelerators: {max: 64}}}
"""
DEVELOPMENT = "extends: production\nbudget: {month_usd: 500, unknown_price: advisory}\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "environments.yaml").write_text(ENVIRONMENTS)
    (tmp_path / "production.yaml").write_text(PRODUCTION)
    (tmp_path / "development.yaml").write_text(DEVELOPMENT)
    return tmp_path


@pytest.mark.parametrize(
    ("stack", "environment"),
    [
        ("dev", "development"),
        ("dev-2", "development"),
        ("acme/shop/dev", "development"),
        ("prod", "production"),
        ("xdev-2", "production"),
        ("devious", "production"),
        ("DEV", "production"),
        ("", "production"),
    ],
)
def test_the_environment_follows_from_the_stacks_name(stack: str, environment: str, folder: Path) -> None:
    assert limits.environment(stack, folder) == environment


def test_limits_of_a_stack_by_name_win(folder: Path) -> None:
    assert limits.limits("big", "production", folder)["accelerators"] == {"max": 64, "models": {}}
    assert limits.limits("big", "production", folder)["machines"] == ["g6.*"]
    assert limits.limits("small", "production", folder)["accelerators"]["max"] == 8


def test_an_environment_may_extend_another_but_not_its_stacks(folder: Path) -> None:
    found = limits.limits("big", "development", folder)
    assert found["budget"] == {"month_usd": 500.0, "unknown_price": "advisory"}
    assert found["registries"] == ["nvcr.io/nvidia/"]
    assert found["accelerators"]["max"] == 8


def test_extending_goes_one_step(folder: Path) -> None:
    (folder / "staging.yaml").write_text("extends: development\n")
    with pytest.raises(InputError, match=r"staging\.yaml: extends: development extends another"):
        limits.limits("a", "staging", folder)


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("accelerators:", "accelerator:", "accelerator"),
        ("max: 8", "max: -8", "accelerators/max"),
        ("max: 8", 'max: "8"', "accelerators/max"),
        ("max: 8", "max: 8, modles: {}", "accelerators/modles"),
        ("month_usd: 1000", "month_usd: .inf", "budget/month_usd"),
        ("unknown_price: mandatory", "unknown_price: maybe", "budget/unknown_price"),
        ("nvcr.io/nvidia/", "https://nvcr.io/", "registries/0"),
        ('"g6.*"', '"g6.[ab]"', "machines/0"),
        ("tags: [owner]\n", "", "tags"),
        ("widest_ipv4: 24", "widest_ipv4: 0", "api/widest_ipv4"),
    ],
)
def test_a_typing_error_is_named(old: str, new: str, says: str, folder: Path) -> None:
    (folder / "production.yaml").write_text(PRODUCTION.replace(old, new, 1))
    with pytest.raises(InputError, match=r"production\.yaml") as error:
        limits.limits("a", "production", folder)
    assert says in str(error.value)


@pytest.mark.parametrize("text", ["", "[]", "accelerators: {", "a: 1\na: 2\n"])
def test_what_is_no_mapping_is_an_input_error(text: str, folder: Path) -> None:
    (folder / "production.yaml").write_text(text)
    with pytest.raises(InputError, match=r"production\.yaml"):
        limits.limits("a", "production", folder)


def test_a_pattern_that_takes_in_every_stack_is_an_error(folder: Path) -> None:
    (folder / "environments.yaml").write_text(ENVIRONMENTS.replace("dev-*", "*"))
    with pytest.raises(InputError, match="takes in every stack"):
        limits.environment("a", folder)


@pytest.mark.parametrize("name", ["environments.yaml", "production.yaml"])
def test_missing_limits_are_no_pass(name: str, folder: Path) -> None:
    (folder / name).unlink()
    with pytest.raises(GateError, match="is missing"):
        limits.limits("a", limits.environment("a", folder), folder)
