"""`gpuyard prices import`: a published list becomes a small file that the next review counts with."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path

import pytest
from command import gpuyard, refused

HEADER = (
    "instance_name,location,price,cpu,memory,gpu_count,gpu_name,gpu_memory,spot,disk_size,gpu_vendor,flags,cpu_arch,"
    "provider_data\n"
)
GPUHUNT = (
    f"{HEADER}p5.48xlarge,eu-central-1,60.5,192,2048.0,8,H100,80.0,False,,nvidia,,x86,{{}}\n"
    "p5.48xlarge,us-east-1,21.5,192,2048.0,8,H100,80.0,True,,nvidia,,x86,{}\n"
    "p5.48xlarge,us-west-2,55.04,192,2048.0,8,H100,80.0,False,,nvidia,some-flag,x86,{}\n"
)
PROGRAM = """\
import pulumi_aws as aws

aws.eks.NodeGroup(
    "h100",
    region="eu-central-1",
    cluster_name="ml",
    node_role_arn="arn:aws:iam::111122223333:role/nodes",
    subnet_ids=["subnet-0a1b2c3d4e5f60718"],
    instance_types=["p5.48xlarge"],
    scaling_config={"min_size": 0, "desired_size": 0, "max_size": 1},
)
"""


def catalog(folder: Path, text: str = GPUHUNT, name: str = "aws.csv") -> Path:
    """A catalog as gpuhunt publishes it."""
    file = folder / "catalog.zip"
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr(name, text)
    return file


def test_imported_prices_are_what_the_next_review_counts_with(tmp_path: Path) -> None:
    (tmp_path / "Pulumi.yaml").write_text("name: shop\nruntime: python\n")
    (tmp_path / "Pulumi.dev.yaml").write_text("config: {}\n")
    (tmp_path / "__main__.py").write_text(PROGRAM)
    before = json.loads(gpuyard("cost", "dev", "--format", "json", "--date", "2026-11-30", cwd=tmp_path).out)["dev"]
    assert before["lines"][0]["unknown"] == "no on_demand price of p5.48xlarge in eu-central-1 is known"

    answer = gpuyard("prices", "import", catalog(tmp_path), "--date", "2026-11-20", cwd=tmp_path)
    assert (answer.code, answer.out) == (0, "policies/prices.csv: 3 prices of gpuhunt, 3 in all\n")
    after = json.loads(gpuyard("cost", "dev", "--format", "json", "--date", "2026-11-30", cwd=tmp_path).out)["dev"]
    assert after["total"]["max"] == 44165.0, "60.5 USD x 730 h"
    assert (after["lines"][0]["date"], after["lines"][0]["age_days"]) == ("2026-11-20", 10)
    assert after["prices"]["rows"] == 3


def test_rows_that_are_there_stay_but_those_of_the_same_price(tmp_path: Path) -> None:
    to = tmp_path / "prices.csv"
    to.write_text(
        "cloud,region,machine,market,usd_hour,source,date,machines\n"
        "aws,us-east-1,p5.48xlarge,committed,38.5,our plan,2026-01-01,4\n"
        "aws,us-west-2,p5.48xlarge,on_demand,99,an old list,2025-01-01,\n"
    )
    only = ("--region", "us-west-2", "--date", "2026-11-20", "--to", to)
    answer = gpuyard("prices", "import", catalog(tmp_path), *only, cwd=tmp_path)
    assert answer.out == f"{to}: 1 prices of gpuhunt, 2 in all\n"
    assert to.read_text() == (
        "cloud,region,machine,market,usd_hour,source,date,machines\n"
        "aws,us-east-1,p5.48xlarge,committed,38.5,our plan,2026-01-01,4\n"
        "aws,us-west-2,p5.48xlarge,on_demand,55.04,gpuhunt catalog,2026-11-20,\n"
    )


@pytest.mark.parametrize(
    ("text", "options", "said"),
    [
        (GPUHUNT, (), "a catalog of gpuhunt says no day: give --date"),
        (GPUHUNT, ("--date", "yesterday"), "'yesterday' is not a day"),
        (GPUHUNT[:-30], ("--date", "2026-11-20"), "the list is cut short"),
        (HEADER, ("--date", "2026-11-20"), "it has no price of a machine of the catalogue"),
        (GPUHUNT, ("--date", "2026-11-20", "--region", "mars"), "for mars: it has eu-central-1, us-east-1, us-west-2"),
        ("<html>", ("--date", "2026-11-20"), "it begins with '<html>'"),
    ],
)
def test_a_wrong_list_is_one_error_and_leaves_the_file_alone(
    tmp_path: Path, text: str, options: tuple[str, ...], said: str
) -> None:
    err = refused(gpuyard("prices", "import", catalog(tmp_path, text), *options, cwd=tmp_path), 2)
    assert said in " ".join(err.split())
    assert not (tmp_path / "policies").exists()


def test_a_file_that_is_no_list_is_one_error(tmp_path: Path) -> None:
    def said(file: Path, *options: str) -> str:
        return refused(gpuyard("prices", "import", file, "--date", "2026-11-20", *options, cwd=tmp_path), 2)

    assert "No such file or directory" in said(tmp_path / "none.csv")
    whole = catalog(tmp_path).read_bytes()
    (tmp_path / "cut.zip").write_bytes(whole[: len(whole) // 2])
    assert "it is no whole zip file" in said(tmp_path / "cut.zip")
    (tmp_path / "binary.csv").write_bytes(b"\xff\xfe\x00\x01")
    assert "it is no text in UTF-8" in said(tmp_path / "binary.csv")
    with zipfile.ZipFile(tmp_path / "two.zip", "w") as archive:
        archive.writestr("aws.csv", GPUHUNT)
        archive.writestr("gcp.csv", GPUHUNT)
    assert "it has 2 CSV files" in said(tmp_path / "two.zip")
    (tmp_path / "wrong.csv").write_text("cloud,region\n")
    assert "--to wrong.csv: wrong.csv line 1: the columns machine" in said(catalog(tmp_path), "--to", "wrong.csv")
    assert "--to .: " in said(catalog(tmp_path), "--to", ".")


def test_a_zip_file_that_cannot_be_unpacked_is_one_error(tmp_path: Path) -> None:
    file = tmp_path / "catalog.zip"
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a.csv", HEADER + GPUHUNT.splitlines()[1] * 500)
    whole = file.read_bytes()
    listed = whole.index(b"PK\x01\x02")

    def said(changes: dict[int, int]) -> str:
        content = bytearray(whole)
        for place, value in changes.items():
            content[place] = value
        file.write_bytes(content)
        return refused(gpuyard("prices", "import", file, "--date", "2026-11-20", cwd=tmp_path), 2)

    garbled = dict.fromkeys(range(40, 60), 0xFF)
    assert "it is no whole zip file" in said(garbled)
    encrypted = {6: whole[6] | 1, listed + 8: whole[listed + 8] | 1}
    assert "unpack it, and give the CSV in it" in said(encrypted)
    by_a_way_of_its_own = {8: 99, listed + 10: 99}
    assert "unpack it, and give the CSV in it" in said(by_a_way_of_its_own)


def test_a_file_of_one_endless_line_is_one_error(tmp_path: Path) -> None:
    file = tmp_path / "list.csv"
    file.write_text("x" * 200_000)
    assert "it is no CSV file, or cut short" in refused(gpuyard("prices", "import", file, cwd=tmp_path), 2)
