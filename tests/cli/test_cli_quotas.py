"""`gpuyard quotas fetch` with stand-ins for the clouds' command lines, and the review with what it wrote."""

from __future__ import annotations

import datetime
import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from command import Answer, gpuyard, program, refused

from gpuyard.cli.account_quotas import region_limit
from gpuyard.review.quotas import read

Json = dict[str, Any]

SCRIPT = """#!{python}
import json, sys
answers = json.load(open({answers!r}))
said = [word for word in sys.argv[1:] if word not in ("--output", "json", "--format=json")]
with open({calls!r}, "a") as calls:
    calls.write(" ".join(sys.argv[1:]) + "\\n")
for words, answer in answers:
    if said[: len(words)] == words:
        if isinstance(answer, list):
            sys.stderr.write(answer[1])
            sys.exit(answer[0])
        print(json.dumps(answer) if isinstance(answer, dict) else answer)
        sys.exit(0)
sys.exit("the stand-in does not know " + " ".join(said))
"""


def quota(code: str, value: float, name: str = "x") -> Json:
    """As Service Quotas gives it: botocore's service-quotas, ServiceQuota."""
    return {
        "ServiceCode": "ec2",
        "ServiceName": "Amazon Elastic Compute Cloud (Amazon EC2)",
        "QuotaArn": f"arn:aws:servicequotas:us-east-1:111122223333:ec2/{code}",
        "QuotaCode": code,
        "QuotaName": name,
        "Value": value,
        "Unit": "None",
        "Adjustable": True,
        "GlobalQuota": False,
    }


IDENTITY = {"UserId": "AIDA", "Account": "111122223333", "Arn": "arn:aws:iam::111122223333:user/reader"}
AWS: list[tuple[list[str], Any]] = [
    (["sts", "get-caller-identity"], IDENTITY),
    (
        ["service-quotas", "list-aws-default-service-quotas", "--service-code", "ec2", "--region", "us-east-1"],
        {
            "Quotas": [
                quota("L-417A185B", 0.0),
                quota("L-DB2E81BA", 0.0),
                quota("L-0263D0A3", 5.0, "EC2-VPC Elastic IPs"),
            ]
        },
    ),
    (
        ["service-quotas", "list-service-quotas", "--service-code", "ec2", "--region", "us-east-1"],
        {"Quotas": [quota("L-417A185B", 192.0)]},
    ),
]
REGION = {
    "kind": "compute#region",
    "name": "us-central1",
    "quotas": [
        {"limit": 8.0, "metric": "NVIDIA_L4_GPUS", "usage": 2.0},
        {"limit": 16.0, "metric": "PREEMPTIBLE_NVIDIA_L4_GPUS", "usage": 0.0},
        {"limit": 32.0, "metric": "TPU_LITE_PODSLICE_V5", "usage": 4.0},
        {"limit": 96.0, "metric": "CPUS", "usage": 28.0},
    ],
}
PROJECT = {"kind": "compute#project", "quotas": [{"limit": 32.0, "metric": "GPUS_ALL_REGIONS", "usage": 2.0}]}
FAMILIES = {
    "quotaId": "GPUS-PER-GPU-FAMILY-per-project-region",
    "metric": "compute.googleapis.com/gpus_per_gpu_family",
    "dimensions": ["gpu_family", "region"],
    "dimensionsInfos": [
        {
            "dimensions": {"gpu_family": "NVIDIA_H100", "region": "us-central1"},
            "details": {"value": "16"},
            "applicableLocations": ["us-central1"],
        },
        {"dimensions": {"gpu_family": "NVIDIA_H200"}, "details": {}, "applicableLocations": ["us-central1"]},
    ],
}
CHIPS = [
    {
        "quotaId": "TPUS-PER-TPU-FAMILY-per-project-region",
        "dimensionsInfos": [
            {"dimensions": {"tpu_family": "CT6E", "region": "us-central1"}, "details": {"value": "64"}},
            {"dimensions": {"tpu_family": "CT3"}, "details": {"value": "8"}},
        ],
    },
    {
        "quotaId": "PREEMPTIBLE-TPU-V6E-per-project-region",
        "dimensionsInfos": [{"dimensions": {}, "details": {"value": "1536"}, "applicableLocations": ["us-central1"]}],
    },
    {"quotaId": "CPUS-per-project-region", "dimensionsInfos": [{"dimensions": {}, "details": {"value": "1"}}]},
    {"quotaId": None},
]
GCLOUD: list[tuple[list[str], Any]] = [
    (["compute", "regions", "describe", "us-central1", "--project", "example-dev"], REGION),
    (["compute", "project-info", "describe", "--project", "example-dev"], PROJECT),
    (["beta", "quotas", "info", "list", "--service=compute.googleapis.com"], json.dumps([FAMILIES, *CHIPS])),
]

Cloud = Callable[..., Path]


@pytest.fixture
def cloud(tmp_path: Path) -> Cloud:
    """Puts a stand-in for a cloud's command line into a folder, which is returned."""

    def put(name: str, answers: list[tuple[list[str], Any]]) -> Path:
        folder = tmp_path / "bin"
        folder.mkdir(exist_ok=True)
        (folder / f"{name}.json").write_text(json.dumps(answers))
        script = folder / name
        calls = str(folder / f"{name}.calls")
        script.write_text(SCRIPT.format(python=sys.executable, answers=str(folder / f"{name}.json"), calls=calls))
        script.chmod(0o755)
        return folder

    return put


def fetch(folder: Path | None, *arguments: object, cwd: Path) -> Answer:
    return gpuyard("quotas", "fetch", *arguments, cwd=cwd, PATH=f"{folder}{os.pathsep}/usr/bin{os.pathsep}/bin")


def instead(answers: list[tuple[list[str], Any]], which: int, answer: Any) -> list[tuple[list[str], Any]]:
    return [(words, answer if i == which else old) for i, (words, old) in enumerate(answers)]


def test_the_quotas_of_an_account_of_aws_become_a_file_that_the_review_finds(cloud: Cloud, tmp_path: Path) -> None:
    where = program(tmp_path / "shop")
    answer = fetch(cloud("aws", AWS), "--cloud", "aws", "--region", "us-east-1", cwd=where)
    assert answer.code == 0, answer.err
    path = where / "quotas" / "111122223333-us-east-1.json"
    assert answer.out.startswith("2 quotas of 111122223333 in us-east-1 as of ")
    found = read(path)
    assert {one.code: (one.value, one.unit, one.usage) for one in found.quotas} == {
        "L-417A185B": (192.0, "vcpus", None),
        "L-DB2E81BA": (0.0, "vcpus", None),
    }, "an account's own quota comes before the default, and what counts no machine is left out"
    assert abs((datetime.datetime.now(datetime.UTC).date() - datetime.date.fromisoformat(found.fetched)).days) <= 1
    calls = (tmp_path / "bin" / "aws.calls").read_text().splitlines()
    assert [call.split()[1] for call in calls] == [
        "get-caller-identity",
        "list-aws-default-service-quotas",
        "list-service-quotas",
    ], "only what reads"


def test_the_quotas_of_a_project_of_google_cloud_become_a_file(cloud: Cloud, tmp_path: Path) -> None:
    out = tmp_path / "new" / "q.json"
    where = ("--cloud", "gcp", "--region", "us-central1", "--account", "example-dev", "--out", out)
    answer = fetch(cloud("gcloud", GCLOUD), *where, cwd=tmp_path)
    assert answer.code == 0, answer.err
    assert {one.code: (one.value, one.usage) for one in read(out).quotas} == {
        "NVIDIA_L4_GPUS": (8, 2),
        "PREEMPTIBLE_NVIDIA_L4_GPUS": (16, 0),
        "GPUS_ALL_REGIONS": (32, 2),
        "GPUS_PER_GPU_FAMILY/NVIDIA_H100": (16, None),
        "GPUS_PER_GPU_FAMILY/NVIDIA_H200": (0, None),
        "TPU_LITE_PODSLICE_V5": (32, 4),
        "TPUS_PER_TPU_FAMILY/CT6E": (64, None),
        "PREEMPTIBLE_TPU_V6E": (1536, None),
    }
    asked = (tmp_path / "bin" / "gcloud.calls").read_text()
    assert "PREEMPTIBLE-TPU-V6E-per-project-region" in asked
    assert "NVIDIA-L4-GPUS-per-project-region" not in asked, "the region has said it"


EXPIRED = (
    "\nAn error occurred (ExpiredToken) when calling the GetCallerIdentity operation: The security token is expired\n"
)
DENIED = "\nAn error occurred (AccessDeniedException) when calling ListServiceQuotas: not authorized to perform\n"
GCLOUD_DENIED = (
    "ERROR: (gcloud.compute.regions.describe) Could not fetch resource:\n - Required 'compute.regions.get' permission\n"
)
GCLOUD_LOGIN = "ERROR: (gcloud.compute.regions.describe) You do not currently have an active account selected.\n"


@pytest.mark.parametrize(
    ("name", "answers", "sentences"),
    [
        ("aws", instead(AWS, 0, [254, EXPIRED]), ("`aws sts get-caller-identity` fails", "`aws sso login`")),
        ("aws", instead(AWS, 2, [254, DENIED]), ("AccessDenied", "ask for sts:GetCallerIdentity", "ListServiceQuotas")),
        (
            "aws",
            instead(AWS, 1, [255, "Could not connect to the endpoint\n"]),
            ("Could not connect", "a region that it"),
        ),
        ("aws", instead(AWS, 0, "it works!"), ("answered something else than JSON",)),
        ("aws", instead(AWS, 0, {"UserId": "x"}), ("gave an answer without Account",)),
        ("aws", instead(instead(AWS, 1, {"Quotas": []}), 2, {"Quotas": []}), ("says none of the quotas",)),
        ("gcloud", instead(GCLOUD, 0, [1, GCLOUD_DENIED]), ("Required 'compute.regions.get'", "roles/compute.viewer")),
        ("gcloud", instead(GCLOUD, 0, [1, GCLOUD_LOGIN]), ("active account", "`gcloud auth login`")),
    ],
)
def test_a_cloud_that_cannot_be_read_is_one_error_that_says_what_to_do(
    name: str, answers: list[tuple[list[str], Any]], sentences: tuple[str, ...], cloud: Cloud, tmp_path: Path
) -> None:
    where = ("aws", "us-east-1") if name == "aws" else ("gcp", "us-central1")
    arguments = ("--cloud", where[0], "--region", where[1], "--out", tmp_path / "q.json")
    more = () if name == "aws" else ("--account", "example-dev")
    said = refused(fetch(cloud(name, answers), *arguments, *more, cwd=tmp_path), 2)
    assert [sentence for sentence in sentences if sentence not in " ".join(said.split())] == []
    assert not (tmp_path / "q.json").exists()


def test_a_command_line_that_is_not_there_another_account_and_a_missing_project_are_errors(
    cloud: Cloud, tmp_path: Path
) -> None:
    empty = tmp_path / "empty"
    empty.mkdir()
    where = ("--cloud", "aws", "--region", "us-east-1", "--out", tmp_path / "q.json")
    assert "aws is not on PATH" in refused(gpuyard("quotas", "fetch", *where, cwd=tmp_path, PATH=str(empty)), 2)
    said = refused(fetch(cloud("aws", AWS), *where, "--account", "444455556666", cwd=tmp_path), 2)
    assert "aws is logged in to 111122223333" in said
    said = refused(fetch(None, "--cloud", "gcp", "--region", "us-central1", cwd=tmp_path), 2)
    assert "--account: is missing: give the id of the project" in said


@pytest.mark.parametrize(
    ("infos", "limit"),
    [
        ([{"dimensions": {}, "details": {"value": "4"}}], 4),
        (
            [
                {"dimensions": {}, "details": {"value": "4"}},
                {"dimensions": {"gpu_family": "NVIDIA_H100"}, "details": {}},
            ],
            0,
        ),
        (
            [
                {"dimensions": {"gpu_family": "NVIDIA_H100"}, "details": {"value": "1"}},
                {"dimensions": {"region": "us-central1"}, "details": {"value": "2"}},
            ],
            2,
        ),
        (
            [
                {"dimensions": {"region": "us-central1"}, "details": {"value": "2"}},
                {"dimensions": {"region": "us-central1", "gpu_family": "NVIDIA_H100"}, "details": {"value": "-1"}},
            ],
            -1,
        ),
        ([{"dimensions": {"gpu_family": "NVIDIA_H200"}, "details": {"value": "9"}}], None),
        ([{"dimensions": {"zone": "us-central1-a"}, "details": {"value": "9"}}], None),
        ([{"dimensions": {}, "details": {"value": "9"}, "applicableLocations": ["us-west1"]}], None),
        (None, None),
    ],
)
def test_the_most_particular_row_of_a_family_and_region_counts(infos: Any, limit: int | None) -> None:
    assert region_limit(infos, "us-central1", "gpu_family", "NVIDIA_H100") == limit


@pytest.mark.parametrize("rows", [None, [5], {}, "x"])
def test_an_answer_of_another_form_is_one_error(rows: Any, cloud: Cloud, tmp_path: Path) -> None:
    folder = cloud("aws", instead(AWS, 1, {"Quotas": rows}))
    error = refused(fetch(folder, "--cloud", "aws", "--region", "us-east-1", "--out", tmp_path / "q", cwd=tmp_path), 2)
    assert "Quotas that are no list of quotas: is it the cloud's own program?" in error


def test_a_limit_that_is_no_number_is_not_written(cloud: Cloud, tmp_path: Path) -> None:
    rows = [quota("L-417A185B", float("nan")), quota("L-DB2E81BA", 8.0), {"QuotaCode": {}, "Value": 1}]
    folder = cloud("aws", instead(instead(AWS, 1, {"Quotas": rows}), 2, {"Quotas": []}))
    assert fetch(folder, "--cloud", "aws", "--region", "us-east-1", "--out", tmp_path / "q", cwd=tmp_path).code == 0
    assert [one.code for one in read(tmp_path / "q").quotas] == ["L-DB2E81BA"]


@pytest.mark.parametrize("infos", [None, 5, [5], [{"dimensions": "x"}], [{"details": {"value": "many"}}]])
def test_a_family_of_which_nothing_readable_is_said_has_no_known_limit(infos: Any) -> None:
    assert region_limit(infos, "us-central1", "gpu_family", "NVIDIA_H100") is None


GROUP = """
import pulumi_aws as aws
account = aws.Provider("a", region="us-east-1", allowed_account_ids=["111122223333"])
pulumi.CustomResource(
    "aws:eks/nodeGroup:NodeGroup",
    "gpu",
    {"instanceTypes": ["g6.12xlarge"], "scalingConfig": {"minSize": 0, "desiredSize": 0, "maxSize": 2}},
    opts=pulumi.ResourceOptions(provider=account),
)
"""


def snapshot(folder: Path, **changes: Any) -> Path:
    values = [{"code": "L-DB2E81BA", "name": "Running On-Demand G and VT instances", "value": 64, "unit": "vcpus"}]
    about = {
        "cloud": "aws",
        "account": "111122223333",
        "region": "us-east-1",
        "fetched": "2026-09-30",
        "quotas": values,
    }
    folder.mkdir(exist_ok=True)
    path = folder / f"{about['account']}-{about['region']}.json"
    path.write_text(json.dumps({"format": "gpuyard.quotas/1", **about, **changes}))
    return path


def reviewed(where: Path, *arguments: object) -> Json:
    answer = gpuyard("review", "--format", "json", "--date", "2026-11-30", *arguments, cwd=where)
    assert answer.code == 1, answer.err
    [found] = json.loads(answer.out)
    return found if isinstance(found, dict) else {}


def test_the_review_compares_maxima_with_the_snapshot_and_says_its_age(tmp_path: Path) -> None:
    where = program(tmp_path / "shop", GROUP)
    before = reviewed(where)
    [line] = [line for line in before["quotas"] if line["level"] == "account"]
    assert (line["need"], line["limit"], line["note"]) == ("96 vCPUs", "?", "not checked: no snapshot")
    assert not [f for f in before["findings"] if f["rule"] == "quota/cloud_account"]
    path = snapshot(where / "quotas")
    for arguments in ((), ("--quotas", path)):
        after = reviewed(where, *arguments)
        said = [f["message"] for f in after["findings"] if f["rule"] == "quota/cloud_account"]
        assert "gpu may need 96 vcpus of Running On-Demand G and VT instances" in said[0]
        [line] = [line for line in after["quotas"] if line["level"] == "account"]
        assert (line["limit"], line["note"]) == ("64", "as of 2026-09-30, 61 days ago")
    text = gpuyard("review", "--date", "2026-11-30", cwd=where).out
    assert "Quotas" in text
    assert "61 days ago" in text


def test_a_snapshot_that_is_too_old_is_advice(tmp_path: Path) -> None:
    where = program(tmp_path / "shop", GROUP)
    values = [{"code": "L-DB2E81BA", "name": "x", "value": 640, "unit": "vcpus"}]
    snapshot(where / "quotas", quotas=values)
    found = [f for f in reviewed(where)["findings"] if f["rule"] == "quota/cloud_account"]
    assert [(f["level"], "61 days ago, and development allows 30" in f["message"]) for f in found] == [
        ("advisory", True)
    ]


def test_a_file_of_another_account_or_region_or_cut_short_is_one_error(tmp_path: Path) -> None:
    where = program(tmp_path / "shop", GROUP)
    other = snapshot(tmp_path / "other", account="444455556666")
    said = refused(gpuyard("review", "--quotas", other, "--format", "json", cwd=where), 2)
    assert "is of 444455556666 in us-east-1, and the stack's node groups are of 111122223333 in us-east-1" in said
    elsewhere = snapshot(tmp_path / "other", region="us-west-2")
    said = refused(gpuyard("review", "--quotas", elsewhere, "--format", "json", cwd=where), 2)
    assert "is of 111122223333 in us-west-2" in said
    other.write_text(other.read_text()[:80])
    said = refused(gpuyard("review", "--quotas", other, "--format", "json", cwd=where), 2)
    assert "is no whole JSON, perhaps cut short" in said
