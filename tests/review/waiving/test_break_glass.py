"""An override in an incident: what it lets through, for which hours, and that each report says so."""

from __future__ import annotations

import datetime

import pytest
from waived import (
    GLASS,
    NOON,
    WAIVER,
    Json,
    about,
    allowing,
    at,
    found,
    given,
    statuses,
    thing,
)

from gpuyard.review import waivers
from gpuyard.review.errors import InputError
from gpuyard.review.evaluation.evaluate import Policies
from gpuyard.review.evaluation.rules import load


def test_in_an_incident_what_denies_does_not_and_every_report_says_so(policies: Policies) -> None:
    findings = found(given(policies, glass=(GLASS,)), thing())
    assert statuses(findings) == statuses(findings, "ours/other") == ["waived"]
    assert statuses(findings, "ours/sacred") == ["violation"], "its METADATA says that it is never waived"
    assert statuses(findings, "ours/kept") == ["violation"], "the limits keep it"
    assert statuses(findings, "ours/advice") == ["violation"], "it denies nothing"
    [loud] = about(findings, "waivers/break_glass")
    assert loud.message.startswith("BREAK GLASS until 2026-11-30T20:00:00Z")
    assert (loud.severity, loud.denies) == ("critical", False)
    waiver = about(findings)[0].waiver
    assert waiver is not None
    assert (waiver.kind, waiver.until, waiver.ticket) == ("break-glass", GLASS["until"], "INC-7")


def test_an_override_of_some_rules_is_of_no_others(policies: Policies) -> None:
    findings = found(given(policies, glass=(GLASS | {"rules": ["ours/other"]},)), thing())
    assert statuses(findings) == ["violation"]
    assert statuses(findings, "ours/other") == ["waived"]


def test_what_cannot_be_decided_does_not_deny_in_an_incident(policies: Policies) -> None:
    [finding] = about(found(given(policies, glass=(GLASS,)), thing(None, unknown=["/x"])))
    assert finding.waiver is not None
    assert (finding.status, finding.waiver.status) == ("waived", "undetermined")


@pytest.mark.parametrize(
    ("hour", "status", "says"),
    [
        ("07:59:59", "violation", None),
        ("08:00:00", "waived", "BREAK GLASS"),
        ("20:00:00", "waived", "BREAK GLASS"),
        ("20:00:01", "violation", "has ended on 2026-11-30T20:00:00Z: it must be removed"),
    ],
)
def test_an_override_holds_for_its_hours(
    hour: str, status: str, says: str | None, policies: Policies, monkeypatch: pytest.MonkeyPatch
) -> None:
    at(datetime.datetime.fromisoformat(f"2026-11-30T{hour}+00:00"), monkeypatch)
    findings = found(given(policies, glass=(GLASS,)), thing())
    assert statuses(findings) == [status]
    told = about(findings, "waivers/break_glass")
    assert len(told) == (says is not None)
    assert says is None or says in told[0].message


@pytest.mark.parametrize(
    ("day", "status"), [("2026-11-29", "violation"), ("2026-12-01", "violation"), ("2027-12-01", "violation")]
)
def test_a_review_of_another_day_is_judged_as_of_its_end(day: str, status: str, policies: Policies) -> None:
    """No hour of it is known, and two such reviews are equal."""
    assert statuses(found(given(policies, glass=(GLASS,)), thing(), date=day)) == [status]


def test_a_review_of_the_same_day_that_is_made_later_sees_the_override_ended(
    policies: Policies, monkeypatch: pytest.MonkeyPatch
) -> None:
    at(NOON + datetime.timedelta(days=3), monkeypatch)
    findings = found(given(policies, glass=(GLASS,)), thing())
    assert statuses(findings) == ["violation"]
    assert "it must be removed" in about(findings, "waivers/break_glass")[0].message


WRONG_GLASS = {
    "too long": ({"until": "2026-11-30T20:00:01Z"}, "hours after from: give 12 at most"),
    "a rule that the limits keep": ({"rules": ["ours/kept"]}, "no incident overrides ours/kept"),
    "a rule that cannot be waived": ({"rules": ["ours/sacred"]}, "ours/sacred cannot be waived"),
    "an unknown rule": ({"rules": ["ours/rule", "a/b"]}, "there is no rule a/b"),
    "no rules": ({"rules": []}, "break_glass/0/rules"),
    "a pattern": ({"rules": ["ours/*"]}, "break_glass/0/rules"),
    "every stack": ({"stack": "*"}, "break_glass/0/stack"),
    "who asks approves": ({"approver": "anna"}, "nobody approves what they ask for"),
    "nobody asks": ({"by": None}, "break_glass/0/by"),
    "no ticket": ({"ticket": None}, "break_glass/0/ticket"),
    "no end": ({"until": None}, "break_glass/0/until"),
    "an end before the beginning": ({"until": "2026-11-30T08:00:00Z"}, "is not after from"),
    "a day": ({"until": "2026-12-01"}, "this is no moment in UTC"),
    "another zone": ({"until": "2026-11-30T12:00:00+02:00"}, "this is no moment in UTC"),
    "no such hour": ({"until": "2026-11-30T25:00:00Z"}, "this is no moment in UTC"),
    "a key that there is not": ({"since": "2026-11-30T08:00:00Z"}, "break_glass/0/since"),
}


@pytest.mark.parametrize(("change", "says"), WRONG_GLASS.values(), ids=WRONG_GLASS)
def test_an_override_that_is_wrong_is_the_users_mistake(change: Json, says: str, policies: Policies) -> None:
    with pytest.raises(InputError, match=r"waivers\.yaml: ") as error:
        found(given(policies, glass=(GLASS | change,)), thing())
    assert says in str(error.value)


def test_limits_that_say_nothing_of_incidents_allow_no_override(policies: Policies) -> None:
    allowing(policies, "  break_glass: {max_hours: 12, never: [ours/kept]}", "")
    with pytest.raises(InputError, match="allow no break-glass"):
        found(given(policies, glass=(GLASS,)), thing())


def test_dates_may_stand_without_quotes(policies: Policies) -> None:
    path = policies.limits.parent / "waivers.yaml"
    lines = [f"{key}: {value}" for key, value in GLASS.items()]
    entry = [f'{key}: "{value}"' if key == "resource" else f"{key}: {value}" for key, value in WAIVER.items()]
    path.write_text(f"waivers:\n- {{{', '.join(entry)}}}\nbreak_glass:\n- {{{', '.join(lines)}}}\n")
    read = waivers.read(path, load(policies.directories).rules)
    assert read.waivers[0].expires == datetime.date(2026, 12, 31)
    assert waivers.text(read.break_glass[0].until) == GLASS["until"]
