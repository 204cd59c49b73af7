"""Prices of whoever owns the policies: where they are looked for, and what is said of a wrong file."""

from __future__ import annotations

from pathlib import Path

import pytest

from gpuyard.review.errors import InputError
from gpuyard.review.evaluation.evaluate import find_policies, rulebook
from gpuyard.review.prices import CATALOGUE, prices

ROWS = (
    "cloud,region,machine,market,usd_hour,source,date\n"
    "aws,eu-central-1,p5.48xlarge,on_demand,60.0,our contract,2026-11-01\n"
)


def test_the_programs_prices_are_those_beside_its_limits(tmp_path: Path) -> None:
    assert find_policies(tmp_path).prices is None
    (tmp_path / "policies").mkdir()
    (tmp_path / "policies" / "prices.csv").write_text(ROWS)
    book = rulebook("dev", find_policies(tmp_path))
    found = book.prices.of("aws", "eu-central-1", "p5.48xlarge", "on_demand")
    assert found is not None
    assert (found.usd_hour, found.source) == (60.0, "our contract")
    assert book.prices.of("aws", "us-east-1", "p5.48xlarge", "on_demand") is not None, "the catalogue's stay"


def test_a_wrong_file_of_prices_is_one_clear_error(tmp_path: Path) -> None:
    file = tmp_path / "prices.csv"
    file.write_text(ROWS.replace("60.0", "sixty"))
    with pytest.raises(InputError, match=r"prices.csv line 2: could not convert string to float: 'sixty'"):
        prices(file)
    with pytest.raises(InputError, match="No such file or directory: give a file that can be read"):
        prices(tmp_path / "none.csv")
    file.write_text(ROWS.replace("2026-11-01", "2026-W48-1"))
    with pytest.raises(InputError, match="'2026-W48-1' is no day"):
        prices(file)
    assert prices(None) is CATALOGUE
