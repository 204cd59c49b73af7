"""The loader, and what it says of names and rows that are not right."""

from __future__ import annotations

import csv
import subprocess
import sys
from collections.abc import Callable, Mapping
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from gpuyard import catalogue
from gpuyard.catalogue import tables

LOOK_UPS: list[tuple[Callable[[str], Any], Callable[[], Mapping[str, Any]]]] = [
    (catalogue.machine, catalogue.machines),
    (catalogue.accelerator, catalogue.accelerators),
    (catalogue.image, catalogue.images),
    (catalogue.chart, catalogue.charts),
]

TABLES: list[Callable[[], Mapping[Any, Any]]] = [
    *(table for _, table in LOOK_UPS),
    catalogue.models,
    catalogue.prices,
]


@pytest.mark.parametrize("table", TABLES)
def test_every_row_has_a_source_and_the_day_that_it_is_of(table: Callable[[], Mapping[Any, Any]]) -> None:
    assert table()
    for key, row in table().items():
        assert len(row.source) > 5, key
        assert date(2022, 1, 1) <= date.fromisoformat(row.date) <= date.today(), key


@pytest.mark.parametrize(
    "path", sorted(tables.DATA.glob("**/*.csv")), ids=lambda path: f"{path.parent.name}-{path.name}"
)
def test_every_table_is_plain_text_without_stray_blanks(path: Path) -> None:
    text = path.read_bytes().decode("ascii")
    assert "\r" not in text
    assert text.endswith("\n")
    assert not text.endswith("\n\n")
    for row in csv.reader(text.splitlines()):
        assert row == [column.strip() for column in row]


@pytest.mark.parametrize(("look_up", "table"), LOOK_UPS)
def test_a_name_of_a_table_is_found(look_up: Callable[[str], Any], table: Callable[[], Mapping[str, Any]]) -> None:
    for name, row in table().items():
        assert look_up(name) is row
        assert row.name == name


@pytest.mark.parametrize(("look_up", "table"), LOOK_UPS)
@given(given_name=st.text(max_size=200))
def test_any_other_name_is_refused_with_what_was_given_and_names_that_exist(
    look_up: Callable[[str], Any], table: Callable[[], Mapping[str, Any]], given_name: str
) -> None:
    assume(given_name not in table())
    with pytest.raises(catalogue.Unknown) as refused:
        look_up(given_name)
    assert repr(given_name[:64])[1:-1] in str(refused.value)
    assert 1 <= len(refused.value.nearest) <= 3
    assert set(refused.value.nearest) <= set(table())
    assert all(name in str(refused.value) for name in refused.value.nearest)


@given(name=st.sampled_from(sorted(catalogue.machines())), data=st.data())
def test_a_machine_with_one_letter_lost_or_two_swapped_is_recognised(name: str, data: st.DataObject) -> None:
    at = data.draw(st.integers(0, len(name) - 2))
    swapped = name[:at] + name[at + 1] + name[at] + name[at + 2 :]
    misspelt = data.draw(st.sampled_from([name[:at] + name[at + 1 :], swapped, swapped.upper()]))
    assume(misspelt not in catalogue.machines())
    with pytest.raises(catalogue.Unknown) as refused:
        catalogue.machine(misspelt)
    # Several machines may be as near as the one that was meant; none of those named may be farther.
    meant = _edits(misspelt.lower(), name)
    assert min(_edits(misspelt.lower(), other) for other in refused.value.nearest) <= meant


def test_a_misspelt_machine_is_answered_in_one_sentence_that_says_what_to_do() -> None:
    with pytest.raises(catalogue.Unknown) as refused:
        catalogue.machine("p5.48xlage")
    assert str(refused.value) == (
        "machine 'p5.48xlage' is not in the catalogue: give one that is (nearest: p5.48xlarge, p5e.48xlarge, "
        "p5.4xlarge), or add a row for it to the tables in catalogue/data"
    )


def test_a_name_of_a_megabyte_is_answered_shortly() -> None:
    with pytest.raises(catalogue.Unknown) as refused:
        catalogue.machine("p5.48xlarge" * 100_000)
    assert len(str(refused.value)) < 300


def test_unknown_is_a_value_error_so_that_a_spec_reports_it_at_its_path() -> None:
    assert issubclass(catalogue.Unknown, ValueError)


def test_importing_the_catalogue_reads_no_table() -> None:
    program = (
        "import gpuyard.catalogue as c; "
        "print([t.cache_info().currsize for t in (c.machines, c.accelerators, c.prices, c.images, c.charts, c.models)])"
    )
    out = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=60)
    assert out.stdout.strip() == "[0, 0, 0, 0, 0, 0]"


def _parse(columns: dict[str, str]) -> tuple[str, int]:
    return columns["name"], int(columns["count"])


def _write(folder: Path, name: str, text: str) -> None:
    (folder / name).write_text(text, encoding="utf-8")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(tables, "DATA", tmp_path)
    return tmp_path


def test_a_further_file_adds_its_rows(folder: Path) -> None:
    _write(folder, "a.csv", "name,count\none,1\n")
    _write(folder, "b.csv", 'name,count\n"two, or three",2\n')
    assert dict(tables.load("*.csv", _parse)) == {"one": 1, "two, or three": 2}


@pytest.mark.parametrize(
    ("rows", "why"),
    [
        ("one,1\nmany,x\n", "b.csv line 3: invalid literal for int() with base 10: 'x'"),
        ("one,1\none,2\n", "b.csv line 3: one has a row already"),
        ("zero,1\n", "b.csv line 2: zero has a row already"),
        ("one\n", "b.csv line 2: the row has another number of columns than the header"),
        ("one,1,2\n", "b.csv line 2: the row has another number of columns than the header"),
    ],
)
def test_a_bad_row_is_refused_with_its_file_and_line(folder: Path, rows: str, why: str) -> None:
    _write(folder, "a.csv", "name,count\nzero,0\n")
    _write(folder, "b.csv", f"name,count\n{rows}")
    with pytest.raises(ValueError, match="^" + why.replace("(", r"\(").replace(")", r"\)") + "$"):
        tables.load("*.csv", _parse)


def test_a_table_without_a_column_is_refused(folder: Path) -> None:
    _write(folder, "a.csv", "name\none\n")
    with pytest.raises(ValueError, match=r"^a.csv line 2: 'count'$"):
        tables.load("*.csv", _parse)


def test_a_table_cannot_be_changed_by_who_reads_it() -> None:
    with pytest.raises(TypeError):
        catalogue.machines()["p5.48xlarge"] = catalogue.machine("p4d.24xlarge")  # type: ignore[index]
    with pytest.raises(AttributeError):
        catalogue.machine("p5.48xlarge").vcpus = 1  # type: ignore[misc]


def _edits(a: str, b: str) -> int:
    """The edit distance of two words: letters put in, taken out or replaced."""
    row = list(range(len(b) + 1))
    for i, left in enumerate(a, start=1):
        before, row[0] = row[0], i
        for j, right in enumerate(b, start=1):
            before, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, before + (left != right))
    return row[-1]
