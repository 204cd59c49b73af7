"""What is wrong with a waiver is the mistake of whoever wrote it, and never lets a finding through."""

from __future__ import annotations

from dataclasses import replace

import pytest
from waived import (
    ALLOWED,
    THING,
    WAIVER,
    Json,
    allowing,
    found,
    given,
    statuses,
    thing,
)

from gpuyard.review.errors import GateError, InputError
from gpuyard.review.evaluation.evaluate import Policies

WRONG = {
    "an unknown rule": ({"rule": "ours/rul"}, "waivers/0: there is no rule ours/rul"),
    "every rule": ({"rule": "*"}, "waivers/0/rule"),
    "a group of rules": ({"rule": "ours/*"}, "waivers/0/rule"),
    "a rule that cannot be waived": ({"rule": "ours/sacred"}, "ours/sacred cannot be waived"),
    "a rule about waivers": ({"rule": "waivers/unused"}, "waivers/unused cannot be waived"),
    "a question mark": ({"resource": THING.replace("thing", "thin?")}, "has one of ? [ ]"),
    "a set of characters": ({"resource": "fraud/Deployment/[a-z]", "stack": "dev"}, "has one of ? [ ]"),
    "a star for the stack": ({"resource": THING.replace(":dev:", ":*:")}, "names no resource"),
    "a star for the type": ({"resource": THING.replace("a:b/c:D", "a:b/c:*")}, "names no resource"),
    "a star for the kind": ({"resource": "fraud/*/model", "stack": "dev"}, "names no resource"),
    "a star for the name": ({"resource": THING.replace("thing", "**")}, "is about every name"),
    "a name alone": ({"resource": "thing", "stack": "dev"}, "names no resource"),
    "nothing": ({"resource": ""}, "waivers/0/resource"),
    "a name without its stack": ({"resource": "fraud/Deployment/model"}, "stack: is missing"),
    "a stack beside a URN": ({"stack": "prod"}, "is left out beside a URN"),
    "every stack": ({"resource": "fraud/Deployment/model", "stack": "*"}, "waivers/0/stack"),
    "a path that is none": ({"path": "x"}, "waivers/0/path"),
    "no reason": ({"reason": None}, "waivers/0/reason: Field required"),
    "a reason of spaces": ({"reason": " "}, "waivers/0/reason: this has spaces around it"),
    "a reason that does not print": ({"reason": "a\u200bb"}, "characters that do not print"),
    "no ticket": ({"ticket": ""}, "waivers/0/ticket"),
    "no approver": ({"approver": None}, "waivers/0/approver: Field required"),
    "who asks approves": ({"by": "Ben"}, "nobody approves what they ask for"),
    "no end": ({"expires": None}, "waivers/0/expires: Field required"),
    "no such day": ({"expires": "2026-02-30"}, "waivers/0/expires: this is no day: give one as 2026-11-30"),
    "words": ({"expires": "never"}, "this is no day"),
    "an hour": ({"expires": "2026-12-01T10:00:00Z"}, "this is no day"),
    "a number": ({"expires": 20261231}, "this is no day"),
    "an end before the beginning": ({"granted": "2027-01-01"}, "is before granted"),
    "a long time": ({"expires": "2027-01-30"}, "is 61 days after 2026-11-30, for granted is left out: give 60"),
    "a long time since it was granted": ({"granted": "2026-11-01"} | {"expires": "2027-01-01"}, "61 days after granted"),
    "a key that there is not": ({"expiry": "2026-12-31"}, "waivers/0/expiry"),
}  # fmt: skip


@pytest.mark.parametrize(("change", "says"), WRONG.values(), ids=WRONG)
def test_a_waiver_that_is_wrong_is_the_users_mistake(change: Json, says: str, policies: Policies) -> None:
    with pytest.raises(InputError, match=r"waivers\.yaml: ") as error:
        found(given(policies, WAIVER | change), thing())
    assert says in str(error.value)


@pytest.mark.parametrize("text", ["waivers: {", "[]", "waiver: []", "waivers: {}", "waivers: [7]", "0"])
def test_a_file_that_is_wrong_is_the_users_mistake(text: str, policies: Policies) -> None:
    (path := policies.limits.parent / "waivers.yaml").write_text(text)
    with pytest.raises(InputError, match=r"waivers\.yaml"):
        found(replace(policies, waivers=path), thing())


def test_a_file_that_is_gone_is_no_empty_one(policies: Policies) -> None:
    with pytest.raises(InputError, match="cannot be read"):
        found(replace(policies, waivers=policies.limits / "gone.yaml"), thing())


@pytest.mark.parametrize("text", ["", "waivers:\n", "waivers: []\n", "# nothing\n"])
def test_a_file_without_waivers_waives_nothing(text: str, policies: Policies) -> None:
    (path := policies.limits.parent / "waivers.yaml").write_text(text.replace("waivers:\n", ""))
    assert statuses(found(replace(policies, waivers=path), thing())) == ["violation"]


def test_the_same_waiver_twice_is_the_users_mistake(policies: Policies) -> None:
    with pytest.raises(InputError, match="waivers/1: is there twice"):
        found(given(policies, WAIVER, WAIVER | {"ticket": "ML-2", "expires": "2027-01-05"}), thing())


def test_a_wrong_waiver_of_another_stack_is_told_but_its_limits_are_not_asked(policies: Policies) -> None:
    other = WAIVER | {"resource": THING.replace(":dev:", ":prod:")}
    with pytest.raises(InputError, match="there is no rule"):
        found(given(policies, WAIVER, other | {"rule": "a/b"}), thing())
    assert statuses(found(given(policies, WAIVER, other | {"expires": "2030-01-01"}), thing())) == ["waived"]


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        (ALLOWED, "", "the limits of its stack allow no waivers"),
        ("max_days: 60", "max_days: 0", "the limits of its stack allow no waivers"),
        ("patterns: false", "approvers: [carl]", "'ben' may not approve: the limits name carl"),
        ("max_days: 60", "max_days: -1", "waivers/max_days"),
        ("never: [ours/kept]", "never: [ours/keep]", "waivers/break_glass/never: there is no rule ours/keep"),
    ],
)
def test_the_limits_say_what_may_be_waived(old: str, new: str, says: str, policies: Policies) -> None:
    with pytest.raises(InputError) as error:
        found(given(allowing(policies, old, new), WAIVER), thing())
    assert says in str(error.value)


def test_a_document_of_no_day_is_no_verdict(policies: Policies) -> None:
    with pytest.raises(GateError, match="which is no day"):
        found(given(policies, WAIVER), thing(), date="tomorrow")
