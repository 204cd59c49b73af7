from __future__ import annotations

import pytest

from gpuyard.review.program.goyaml import MAX_NODES, YamlError, json_text, parse

# What the Pulumi CLI's own code makes of `config: {p:k: <scalar>}`: the text that the SDK of a program gets, and the same
# inside a structure where that differs. Printed by workspace.LoadProjectStackBytes and config.Map.Decrypt of
# github.com/pulumi/pulumi/sdk/v3 v3.274.1, which reads YAML by gopkg.in/yaml.v3. 130,000 random scalars were compared
# with it as well.
SCALARS = {
    # YAML 1.1's truth values are text.
    "yes": "yes",
    "No": "No",
    "on": "on",
    "OFF": "OFF",
    "y": "y",
    "true": "true",
    "True": "true",
    "FALSE": "false",
    "~": "",
    "Null": "",
    "nULL": "nULL",
    # Whole numbers: octal in both spellings, hexadecimal, binary, underscores.
    "0777": "511",
    "0o777": "511",
    "0O17": "15",
    "0o778": "0o778",
    "089": "89",
    "007": "7",
    "00": "0",
    "0x1F": "31",
    "+0x1": "1",
    "0b101": "5",
    "0b102": "0b102",
    "-0b1": "-1",
    "1_000": "1000",
    "1__0": "10",
    "_1": "_1",
    "1_": "1",
    "-0": "0",
    "9223372036854775807": "9223372036854775807",
    "-9223372036854775809": "-9223372036854776000",
    "18446744073709551616": "18446744073709552000",
    "0xFFFFFFFFFFFFFFFFF": "0xFFFFFFFFFFFFFFFFF",
    # Revisions, versions and times that nobody quoted.
    "12e3": "12000",
    "1234567e89": "1.234567e+95",
    "0123456789e5": "12345678900000",
    "1234567890123456789012345678901234567e89": "1.2345678901234568e+125",
    "12e999": "12e999",
    "1e400": "1e400",
    "1e": "1e",
    "1e5e5": "1e5e5",
    "a1e3": "a1e3",
    "0x1p4": "0x1p4",
    "1.35": "1.35",
    "1.30": "1.3",
    "1.0": "1",
    "1.": "1",
    ".5": "0.5",
    "-.5": "-0.5",
    ".5_0": "0.5",
    ".1_": ".1_",
    "1_0.5": "10.5",
    ".": ".",
    "0.000001": "0.000001",
    "0.0000001": "1e-7",
    "4.9e-324": "5e-324",
    "1e20": "100000000000000000000",
    "1e21": "1e+21",
    "-0.0": "0",
    "12:30:00": "12:30:00",
    "190:20:30": "190:20:30",
    "inf": "inf",
    "NaN": "NaN",
    "2026-07-20": "2026-07-20 00:00:00 +0000 UTC",
    "2026-7-2": "2026-07-02 00:00:00 +0000 UTC",
    "0000-01-01": "0000-01-01 00:00:00 +0000 UTC",
    "2026-02-30": "2026-02-30",
    "2026-07-20T10:11:12Z": "2026-07-20 10:11:12 +0000 UTC",
    "2026-07-20T10:11:12": "2026-07-20T10:11:12",
    "2026-07-20 10:11:12.120": "2026-07-20 10:11:12.12 +0000 UTC",
    "2026-07-20T10:11:12.123456789-05:30": "2026-07-20 10:11:12.123456789 -0530 -0530",
    "2026-07-20t10:11:12+00:00": "2026-07-20 10:11:12 +0000 UTC",
    "2026-07-20T24:00:00Z": "2026-07-20T24:00:00Z",
    # Quoted, everything is text.
    "'0777'": "0777",
    '"12e3"': "12e3",
    "!!str 123": "123",
    "!!float 3": "3",
    "": "",
    "<<": "<<",
}

# From the same source: structures become JSON text as Go writes it.
STRUCTURES = {
    "[1, a, 1.5, ~, {b: c}]": '[1,"a",1.5,null,{"b":"c"}]',
    "{z: 1, a: {}, b: []}": '{"a":{},"b":[],"z":1}',
    "{a: '<b>&'}": '{"a":"\\u003cb\\u003e\\u0026"}',
    "{1: a, true: b, yes: c, 0x10: d}": '{"1":"a","16":"d","true":"b","yes":"c"}',
    "[9223372036854775808, 9223372036854775807, 100.0]": "[9223372036854776000,9223372036854775807,100]",
    "{é: 1, z: 2, Z: 5}": '{"Z":5,"z":2,"é":1}',
    "{base: &b {x: 1, y: 2}, d: {<<: *b, y: 3}}": '{"base":{"x":1,"y":2},"d":{"x":1,"y":3}}',
    "{b: &b {x: 1}, c: &c {x: 9, z: 2}, d: {<<: [*b, *c]}}": '{"b":{"x":1},"c":{"x":9,"z":2},"d":{"x":1,"z":2}}',
}


def given(scalar: str) -> str:
    value = parse(f"config:\n  p:k: {scalar}\n")["config"]["p:k"]
    return "" if value is None else json_text(value, nested=False)


@pytest.mark.parametrize("scalar", SCALARS)
def test_a_scalar_reaches_the_program_as_the_cli_gives_it(scalar: str) -> None:
    assert given(scalar) == SCALARS[scalar]


@pytest.mark.parametrize("structure", STRUCTURES)
def test_a_structure_reaches_the_program_as_the_json_text_of_the_cli(structure: str) -> None:
    assert given(structure) == STRUCTURES[structure]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a: 1\nb: 2\na: 3\n", "line 3: the key 'a' is given twice"),
        ("a: {1: x, '1': y}\n", "line 1: a key here is not text: quote it"),
        ("a: {b: {1: x, '1': y}}\n", "line 1: the key '1' is given twice"),
        ("true: 1\n", "line 1: a key here is not text"),
        ("? [a]\n: 1\n", "line 1: a key here is not text"),
        ("a: *b\n", "line 1: \\*b is used here, and no &b is complete before"),
        ("a: &b [*b]\n", "line 1: \\*b is used here, and no &b is complete before"),
        ("a: {<<: 3}\n", "line 1: << takes a mapping"),
        ("a: 1\n---\nb: 2\n", "line 2: a second document starts here"),
        ("a:\n\tb: 1\n", "line 2: found character that cannot start any token"),
        ("a: b: c\n", "line 1: mapping values are not allowed"),
        ("a: [1\n", "line 2: did not find expected"),
        ("a: 'x\n", "found unexpected end of stream"),
        ("a: \x01\n", "control characters are not allowed"),
        ("a: !!int x\n", "line 1: 'x' with the tag int is not supported"),
        ("a: !!binary aGk=\n", "line 1: 'aGk=' with the tag binary is not supported"),
        ("a: !thing x\n", "line 1: 'x' with the tag !thing is not supported"),
        ("a: " + "[" * 200 + "]" * 200, "line 1: more than 100 levels are nested here"),
        ("[" * 100_000, "nest"),
        ("- " * 100_000, "nest"),
    ],
)
def test_text_that_is_not_the_yaml_it_should_be_is_refused_with_its_line(text: str, message: str) -> None:
    with pytest.raises(YamlError, match=message):
        parse(text)


def test_a_bomb_of_aliases_is_refused_before_it_is_built() -> None:
    levels = [f"a{n}: &a{n} [{', '.join(f'*a{n - 1}' for _ in range(10))}]" for n in range(1, 9)]
    bomb = "\n".join(["a0: &a0 [x, x, x, x, x, x, x, x, x, x]", *levels])
    with pytest.raises(YamlError, match=f"more than {MAX_NODES:,} values with aliases expanded"):
        parse(bomb)


def test_an_alias_repeats_its_anchor() -> None:
    assert parse("a: &x {b: [1]}\nc: *x\nd: &y text\ne: *y\n") == {
        "a": {"b": [1]},
        "c": {"b": [1]},
        "d": "text",
        "e": "text",
    }


@pytest.mark.parametrize("text", ["", "# only a comment\n", "---\n", "~\n"])
def test_a_text_without_values_is_none(text: str) -> None:
    assert parse(text) is None


@pytest.mark.parametrize("number", [float("inf"), float("nan")])
def test_a_number_that_json_does_not_have_is_refused(number: float) -> None:
    with pytest.raises(ValueError, match="is not a number that a program can be given"):
        json_text([number])


def test_a_number_of_thousands_of_digits_stops_nothing() -> None:
    assert parse(f"a: {'1' * 5000}\nb: -{'7' * 5000}\nc: 0x{'f' * 5000}")
