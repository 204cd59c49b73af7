from __future__ import annotations

import json
from typing import Any

import pytest
from google.protobuf import struct_pb2
from hypothesis import given
from hypothesis import strategies as st
from pulumi.runtime import rpc

from gpuyard.review.recording import values
from gpuyard.review.recording.values import SIGNATURE, UNKNOWN, Reader, at, masked, strings


def read(fields: dict[str, Any]) -> tuple[dict[str, Any], list[str], list[str]]:
    struct = struct_pb2.Struct()
    struct.update(fields)
    return Reader().read(struct)


def special(kind: str, **fields: Any) -> dict[str, Any]:
    return {SIGNATURE: kind, **fields}


def test_the_signs_are_those_of_the_sdk() -> None:
    assert UNKNOWN == rpc.UNKNOWN
    assert rpc._special_sig_key == SIGNATURE
    assert (
        rpc._special_secret_sig,
        rpc._special_asset_sig,
        rpc._special_archive_sig,
        rpc._special_resource_sig,
        rpc._special_output_value_sig,
    ) == (values.SECRET, values.ASSET, values.ARCHIVE, values.RESOURCE, values.OUTPUT)


def test_a_secret_keeps_its_value_and_the_unknown_parts_of_it() -> None:
    secret = special(values.SECRET, value={"a": [UNKNOWN, "x"], "b": special(values.SECRET, value="y")})
    assert read({"s": secret}) == ({"s": {"a": [None, "x"], "b": "y"}}, ["/s/a/0"], ["/s", "/s/b"])


def test_an_output_value_is_read_as_what_it_holds() -> None:
    assert read(
        {
            "known": special(values.OUTPUT, value={"a": 1}, dependencies=["urn"]),
            "secret": special(values.OUTPUT, value="x", secret=True),
            "plain": special(values.OUTPUT, value="x", secret=False),
            "unknown": special(values.OUTPUT),
            "both": special(values.OUTPUT, secret=True),
        }
    ) == (
        {"known": {"a": 1}, "secret": "x", "plain": "x", "unknown": None, "both": None},
        ["/both", "/unknown"],
        ["/both", "/secret"],
    )


def test_a_text_around_an_unknown_is_unknown() -> None:
    assert read({"url": f"https://{UNKNOWN}/x"}) == ({"url": None}, ["/url"], [])


def test_reading_does_not_change_what_is_read() -> None:
    struct = struct_pb2.Struct()
    struct.update({"o": special(values.OUTPUT), "s": special(values.SECRET, value=UNKNOWN)})
    before = struct.SerializeToString(deterministic=True)
    Reader().read(struct)
    assert struct.SerializeToString(deterministic=True) == before


@pytest.mark.parametrize("number", [float("nan"), float("inf"), float("-inf")])
def test_a_number_that_json_does_not_have_is_refused_with_its_place(number: float) -> None:
    with pytest.raises(ValueError, match=r"/a/0 is .*, which JSON does not have: give a finite number"):
        read({"a": [number]})


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53), 2**53)
    | st.text()
    | st.floats(allow_nan=False, allow_infinity=False),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)


@given(st.dictionaries(st.text(), JSON, max_size=4))
def test_plain_values_are_read_as_they_are(fields: dict[str, Any]) -> None:
    inputs, unknown, secret = read(fields)
    assert inputs == fields
    assert (unknown, secret) == ([], [])


@given(st.lists(st.text() | st.integers(0, 3), min_size=1, max_size=5))
def test_a_pointer_finds_what_it_points_to(path: list[str | int]) -> None:
    value: Any = UNKNOWN
    for part in reversed(path[1:]):
        value = {part: value} if isinstance(part, str) else ["x"] * part + [value]
    inputs, unknown, _ = read({str(path[0]): value})
    (pointer,) = unknown
    assert at(inputs, pointer) is None


def test_strings_are_found_wherever_they_are() -> None:
    assert strings({"a": "x", "b": [{"c": "y"}, 1, None, True, ["z"]]}) == ["x", "y", "z"]


def test_the_longest_secret_is_masked_first() -> None:
    assert masked("abcdef and abc", {"abc", "abcdef"}) == "[secret] and [secret]"


def test_a_secret_is_masked_as_python_and_json_quote_it_and_line_by_line() -> None:
    secret = '-----BEGIN KEY-----\nit\'s "secret"\n-----END KEY-----\n'
    for text in (
        secret,
        repr(secret),
        repr([secret, "it's"]),
        json.dumps({"key": secret}),
        secret.replace("\n", "\n  "),
    ):
        assert 'secret"' not in (shown := masked(f"bad {text}", {secret})), shown
        assert "BEGIN" not in shown
    assert masked(repr("it's secret"), {"it's secret"}) == '"[secret]"'
    assert masked("a\nb }", {"{\n}\n"}) == "a\nb }", "a short line is no secret by itself"
