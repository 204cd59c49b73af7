"""The HTML report in a real browser: silent, alone, usable by keyboard, readable in both themes and at every width."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from broken_stack import broken

from gpuyard.review.comparison import Commits, compared
from gpuyard.review.report.html import to_html

pytestmark = [pytest.mark.browser, pytest.mark.timeout(300)]

WIDTHS = (1400, 400)
THEMES = ("light", "dark")


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A page of two stacks: one that breaks almost every rule, beside its base, and one without a finding."""
    denied = [finding for finding in broken().findings if finding.denies][:60]
    rest = [finding for finding in broken().findings if not finding.denies]
    quiet = replace(broken(), findings=[], changes=None, failures=[], undecided=[])
    quiet = replace(quiet, document=quiet.document | {"stack": "prod"})
    full = replace(broken(), findings=[*denied, *rest])
    was = full.document | {"resources": full.document["resources"][3:]}
    base = replace(full, document=was, findings=full.findings[5:])
    change = compared(full, base, Commits("main", "a" * 40, "b" * 40, "c" * 40, ("policies/waivers.yaml",)))
    path = tmp_path_factory.mktemp("page") / "review.html"
    path.write_text(to_html([change, quiet]))
    return path


class Opened:
    """A page, and all that it said and asked for."""

    def __init__(self, chromium: Any, file: Path, width: int, theme: str, **options: Any) -> None:
        from playwright.sync_api import expect

        self.context = chromium.new_context(
            viewport={"width": width, "height": 900}, color_scheme=theme, reduced_motion="reduce", **options
        )
        self.page = self.context.new_page()
        self.page.set_default_timeout(60_000)
        self.expect = expect
        self.said: list[str] = []
        self.asked: list[str] = []
        self.page.on("console", lambda message: self.said.append(f"{message.type}: {message.text}"))
        self.page.on("pageerror", lambda error: self.said.append(str(error)))
        self.page.on("request", lambda request: self.asked.append(request.url))
        self.page.goto(file.as_uri())

    @property
    def shown(self) -> int:
        """Findings that no filter hides."""
        return int(self.page.locator("#found > li:not([hidden])").count())

    @property
    def focused(self) -> str:
        """What has the focus: its id, or its text."""
        return str(self.page.evaluate("(e => e.id || e.name || e.textContent.trim())(document.activeElement)"))


@pytest.fixture
def opened(chromium: Any, file: Path) -> Iterator[Opened]:
    page = Opened(chromium, file, 1400, "light")
    yield page
    page.context.close()


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("theme", THEMES)
def test_it_says_nothing_asks_for_nothing_fits_and_passes_every_rule_of_accessibility(
    chromium: Any, file: Path, tmp_path: Path, width: int, theme: str
) -> None:
    from axe_playwright_python.sync_playwright import Axe

    page = Opened(chromium, file, width, theme)
    try:
        assert page.page.evaluate("document.documentElement.scrollWidth") == width, "nothing sticks out"
        page.page.evaluate("document.querySelectorAll('details').forEach((branch) => (branch.open = true))")
        found = Axe().run(page.page)
        assert [f"{one['id']}: {one['nodes'][0]['html'][:200]}" for one in found.response["violations"]] == []
        assert len(found.response["passes"]) > 20
        page.page.screenshot(path=tmp_path / "page.png")
        assert (tmp_path / "page.png").stat().st_size > 20_000
        assert page.said == []
        assert page.asked == [file.as_uri()]
    finally:
        page.context.close()


def test_the_switch_goes_over_the_systems_theme_and_works_without_a_script(chromium: Any, file: Path) -> None:
    def paper(page: Any) -> str:
        return str(page.evaluate("getComputedStyle(document.body).backgroundColor"))

    plain = Opened(chromium, file, 1400, "dark", java_script_enabled=False)
    try:
        # Scripts of the page are off; the browser's own tools still answer.
        seen = [paper(plain.page)]
        for theme in ("light", "dark", "auto"):
            plain.page.locator(f"label[for=theme-{theme}]").click()
            seen.append(paper(plain.page))
        assert seen[0] == seen[2] == seen[3] != seen[1]
        assert plain.page.locator("#filters").is_hidden(), "what a script does is not offered without one"
        assert plain.shown > 50
    finally:
        plain.context.close()


@pytest.mark.parametrize("name", ["severity", "level", "status", "rule", "stack"])
def test_a_filter_leaves_what_has_its_value_and_reset_brings_all_back(opened: Opened, name: str) -> None:
    page, everything = opened.page, opened.shown
    choice = page.locator(f"#filters select[name={name}]")
    values = choice.locator("option").evaluate_all("(options) => options.map((option) => option.value)")
    counts = []
    for value in values[1:]:
        choice.select_option(value)
        counts.append(opened.shown)
        assert page.locator("#filter-count").inner_text() == (
            f"{opened.shown} of {everything} findings" if opened.shown < everything else f"{everything} findings"
        )
    assert sum(counts) == everything, "each finding has one value"
    assert all(counts)
    page.locator("#filter-reset").click()
    assert opened.shown == everything


def test_words_are_looked_for_in_all_of_a_finding_and_none_is_said(opened: Opened) -> None:
    words = opened.page.locator("#filter-text")
    words.fill("OPS-7  JANE")
    assert opened.shown == 1
    words.fill("no finding says this")
    assert opened.shown == 0
    opened.expect(opened.page.get_by_text("No finding is like that.")).to_be_visible()


def test_a_keyboard_is_enough(opened: Opened) -> None:
    keyboard = opened.page.keyboard
    keyboard.press("Tab")
    assert opened.focused == "To the report"
    opened.expect(opened.page.locator(".skip")).to_be_in_viewport()
    passed = []
    while opened.focused != "filter-text":
        keyboard.press("Tab")
        passed.append(opened.focused)
        assert len(passed) < 40, passed
    assert passed[:3] == ["Findings", "dev", "prod"]
    assert "theme-auto" in passed
    keyboard.type("privileged")
    few = opened.shown
    assert 0 < few < 60
    keyboard.press("Tab")
    keyboard.press("ArrowDown")
    assert opened.page.locator("#filters select[name=severity]").input_value() == "critical"
    outline = "getComputedStyle(document.activeElement).outlineStyle"
    assert opened.page.evaluate(outline) == "solid", "one sees where one is"
    for _ in range(5):
        keyboard.press("Tab")
    assert opened.focused == "filter-reset"
    keyboard.press("Enter")
    assert (opened.shown > few, opened.focused) == (True, "filter-text")


def test_branches_open_and_close_by_keyboard_and_all_at_once(opened: Opened) -> None:
    tree = opened.page.locator("#s0-tree")
    first = tree.locator("summary").first
    first.focus()
    opened.page.keyboard.press("Enter")
    assert tree.locator("> ul > li > details[open]").count() == 0
    opened.page.keyboard.press("Space")
    assert tree.locator("> ul > li > details[open]").count() == 1
    buttons = opened.page.locator("button[aria-controls=s0-tree]")
    buttons.first.click()
    assert tree.locator("details:not([open])").count() == 0
    buttons.last.click()
    assert tree.locator("details[open]").count() == 0


def test_a_finding_leads_to_its_resource_in_the_tree_though_its_branch_is_closed(opened: Opened) -> None:
    opened.page.locator("button[aria-controls=s0-tree]").last.click()
    link = opened.page.locator("#found .where a").first
    target = opened.page.locator(str(link.get_attribute("href")))
    assert target.is_hidden()
    link.click()
    opened.expect(target).to_be_in_viewport()
    name = str(link.inner_text()).split()[1]
    assert re.match(rf"{re.escape(name)}\b", target.inner_text())
