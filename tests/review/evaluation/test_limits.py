"""Limits are data, and a typing error in them must not lift one."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest

from gpuyard.review.errors import GateError, InputError
from gpuyard.review.evaluation import limits
from gpuyard.review.evaluation.rules import load
from gpuyard.review.evaluation.thresholds import Threshold

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
WAIT = Threshold(type="integer", default=30, description="Seconds.")
NAMES = Threshold(type="texts", default=["a"], description="Names.")
SHARE = Threshold(type="number", default=0.5, description="A part of one.")
KNOWN = {"pods/wait": {"seconds": WAIT, "names": NAMES}, "pods/share": {"share": SHARE}, "pods/none": {}}
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
    assert limits.limits("big", "production", folder, {})["accelerators"] == {"max": 64, "models": {}}
    assert limits.limits("big", "production", folder, {})["machines"] == ["g6.*"]
    assert limits.limits("small", "production", folder, {})["accelerators"]["max"] == 8


def test_an_environment_may_extend_another_but_not_its_stacks(folder: Path) -> None:
    found = limits.limits("big", "development", folder, {})
    assert found["budget"] == {"month_usd": 500.0, "unknown_price": "advisory"}
    assert found["registries"] == ["nvcr.io/nvidia/"]
    assert found["accelerators"]["max"] == 8


def test_extending_goes_one_step(folder: Path) -> None:
    (folder / "staging.yaml").write_text("extends: development\n")
    with pytest.raises(InputError, match=r"staging\.yaml: extends: development extends another"):
        limits.limits("a", "staging", folder, {})


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
        limits.limits("a", "production", folder, {})
    assert says in str(error.value)


@pytest.mark.parametrize("text", ["", "[]", "accelerators: {", "a: 1\na: 2\n"])
def test_what_is_no_mapping_is_an_input_error(text: str, folder: Path) -> None:
    (folder / "production.yaml").write_text(text)
    with pytest.raises(InputError, match=r"production\.yaml"):
        limits.limits("a", "production", folder, {})


def test_a_pattern_that_takes_in_every_stack_is_an_error(folder: Path) -> None:
    (folder / "environments.yaml").write_text(ENVIRONMENTS.replace("dev-*", "*"))
    with pytest.raises(InputError, match="takes in every stack"):
        limits.environment("a", folder)


@pytest.mark.parametrize("name", ["environments.yaml", "production.yaml"])
def test_missing_limits_are_no_pass(name: str, folder: Path) -> None:
    (folder / name).unlink()
    with pytest.raises(GateError, match="is missing"):
        limits.limits("a", limits.environment("a", folder), folder, {})


# --- thresholds of rules


def thresholds(folder: Path, *, stack: str = "a", environment: str = "production", **said: str) -> Any:
    for name, text in said.items():
        with (folder / f"{name}.yaml").open("a") as file:
            file.write(text)
    return limits.limits(stack, environment, folder, KNOWN)["thresholds"]


def test_every_threshold_of_every_rule_is_there(folder: Path) -> None:
    assert thresholds(folder) == {"pods/wait": {"seconds": 30, "names": ["a"]}, "pods/share": {"share": 0.5}}


def test_a_threshold_is_set_for_an_environment_and_for_one_stack_of_it(folder: Path) -> None:
    production = 'thresholds: {"pods/wait": {seconds: 60, names: []}}\n'
    text = (folder / "production.yaml").read_text()
    own = '{accelerators: {max: 64}, thresholds: {"pods/wait": {seconds: 90}}}'
    (folder / "production.yaml").write_text(text.replace("{accelerators: {max: 64}}", own))
    assert thresholds(folder, production=production)["pods/wait"] == {"seconds": 60, "names": []}
    assert thresholds(folder, stack="acme/shop/big")["pods/wait"] == {"seconds": 90, "names": []}


def test_thresholds_are_inherited_one_by_one(folder: Path) -> None:
    found = thresholds(
        folder,
        environment="development",
        production='thresholds: {"pods/wait": {seconds: 60, names: []}, "pods/share": {share: 1}}\n',
        development='thresholds: {"pods/wait": {names: [b]}}\n',
    )
    assert found == {"pods/wait": {"seconds": 60, "names": ["b"]}, "pods/share": {"share": 1}}


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ('{"pods/weight": {}}', "thresholds/pods/weight: there is no such rule"),
        ('{"pods/wait": {second: 1}}', "thresholds/pods/wait/second: the rule has no such threshold: it has seconds, "),
        ('{"pods/none": {second: 1}}', "it has none"),
        ('{"pods/wait": {seconds: "1"}}', "thresholds/pods/wait/seconds: '1' is given: give a whole number"),
        ('{"pods/wait": {seconds: 1.5}}', "1.5 is given: give a whole number"),
        ('{"pods/wait": {seconds: true}}', "True is given: give a whole number"),
        ('{"pods/share": {share: .inf}}', "inf is given: give a number"),
        ('{"pods/wait": {names: a}}', "'a' is given: give a list of texts"),
        ('{"pods/wait": {names: [1]}}', "thresholds/pods/wait/names"),
        ('{"pods/wait": {seconds: null}}', "thresholds/pods/wait/seconds"),
        ('{"pods/wait": 7}', "thresholds/pods/wait"),
        ("[]", "thresholds"),
    ],
)
@pytest.mark.parametrize("of_a_stack", [False, True])
def test_a_wrong_threshold_is_named_even_one_of_another_stack(
    given: str, says: str, of_a_stack: bool, folder: Path
) -> None:
    text = (folder / "production.yaml").read_text()
    own = f"{{accelerators: {{max: 64}}, thresholds: {given}}}" if of_a_stack else "{accelerators: {max: 64}}"
    own = text.replace("{accelerators: {max: 64}}", own) + ("" if of_a_stack else f"thresholds: {given}\n")
    (folder / "production.yaml").write_text(own)
    with pytest.raises(InputError, match=r"production\.yaml: ") as error:
        limits.limits("a", "production", folder, KNOWN)
    assert says in str(error.value)


# --- limits that are a part of gpuyard's


def test_limits_of_ones_own_may_extend_those_that_gpuyard_brings(folder: Path) -> None:
    (folder / "production.yaml").write_text("extends: gpuyard:production\naccelerators: {max: 3}\n")
    packaged = Path(str(files("gpuyard.policies"))) / "limits"
    known = load([packaged.parent]).thresholds
    theirs, ours = (limits.limits("a", "production", where, known) for where in (packaged, folder))
    assert ours == theirs | {"accelerators": {"max": 3, "models": {}}}
    assert limits.limits("prod-aws", "production", folder, known)["accelerators"]["max"] == 3, "not their stacks"
    (folder / "development.yaml").write_text("extends: production\ntags: []\n")
    assert limits.limits("a", "development", folder, known) == ours | {"tags": []}, "one step of one's own, then theirs"
    (folder / "development.yaml").write_text("extends: gpuyard:development\n")
    whole = limits.limits("a", "development", packaged, known)
    assert limits.limits("a", "development", folder, known) == whole, "theirs may extend"


@pytest.mark.parametrize("given", ["gpuyard:nowhere", "nowhere", "production", "../production", "7", "[development]"])
def test_what_cannot_be_extended_is_named(given: str, folder: Path) -> None:
    (folder / "production.yaml").write_text(f"extends: {given}\n")
    with pytest.raises(
        InputError, match=r"production\.yaml: extends: .* is no environment that it can extend: give one"
    ):
        limits.limits("a", "production", folder, {})


def test_the_packaged_limits_cannot_extend_themselves(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "files", lambda _: folder.parent)
    folder = folder.rename(folder.with_name("limits"))
    (folder / "production.yaml").write_text("extends: gpuyard:production\n")
    with pytest.raises(InputError, match="is no environment that it can extend"):
        limits.limits("a", "production", folder, {})
