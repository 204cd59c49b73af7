"""What pages count is as many as there are, and tables that they list are all."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

from gpuyard import catalogue
from gpuyard.review.evaluation.evaluate import find_policies
from gpuyard.review.evaluation.rules import load

ROOT = Path(__file__).parents[2]


def test_the_readme_counts_machines_and_rules() -> None:
    machines = catalogue.machines().values()
    clouds = Counter(machine.cloud for machine in machines)
    text = " ".join((ROOT / "README.md").read_text().split())
    assert f"The catalogue has {len(machines)} machines" in text
    assert f"{clouds['aws']} of AWS, {clouds['gcp']} of Google Cloud and {clouds['onprem']} of one's own" in text
    assert f"{sum(bool(machine.accelerators) for machine in machines)} have accelerators" in text
    assert f"which of {len(load(find_policies(ROOT).directories).rules)} rules it breaks" in text


def test_every_table_of_the_catalogue_is_in_the_page_about_extending_it() -> None:
    text = (ROOT / "docs" / "extending.md").read_text()
    tables = {path.name for path in (ROOT / "catalogue" / "data").glob("*.csv")}
    assert {name for name in tables if name not in text} == set()
    assert set(re.findall(r"[a-z_]+\.csv", text)) <= tables


def test_links_between_pages_lead_somewhere() -> None:
    pages = [ROOT / "README.md", *(ROOT / "docs").glob("*.md"), ROOT / "examples" / "refused" / "README.md"]
    broken = [
        f"{page.name}: {target}"
        for page in pages
        for target in re.findall(r"\]\(([^)#\s]+)[^)]*\)", page.read_text())
        if "://" not in target and not (page.parent / target).exists()
    ]
    assert broken == []
