"""The report as one HTML page that needs nothing else: no network, no other file, and without scripts no less to read.

Whatever comes from a program is escaped by the template. The page's policy allows its own style and its own script by
their digests, and nothing else: no request can leave it.
"""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Mapping
from importlib.resources import files
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

from gpuyard.review.changes import counted, losses
from gpuyard.review.evaluation.findings import SEVERITIES, order
from gpuyard.review.judge import Review
from gpuyard.review.report.charts import group_bars, tenant_bars
from gpuyard.review.report.difference import is_new, lines, news, sentences, weight
from gpuyard.review.report.levels import levels
from gpuyard.review.report.summary import charged, hourly, kinds, money, places, priced, rate, short_type, span
from gpuyard.review.report.tree import made, tree

_CODE = re.compile("`([^`]+)`")


def to_html(reviews: list[Review]) -> str:
    """One page for all reviews; equal reviews give equal bytes. Secret values are not in it: no input is."""
    environment = Environment(
        loader=PackageLoader("gpuyard.review.report", "."),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        autoescape=True,
    )
    environment.filters.update(money=money, span=span, share=_percent, prose=_prose)
    style, script = _own("page.css"), _own("page.js")
    page = environment.get_template("page.html.j2").render(
        reviews=[_shown(number, review) for number, review in enumerate(reviews)],
        found=_findings(reviews),
        rules=_rules(reviews),
        severities=SEVERITIES,
        refused=[review.document["stack"] for review in reviews if review.refused],
        denied=sum(finding.denies for review in reviews for finding in review.findings),
        style=style,
        script=script,
        style_digest=_digest(style),
        script_digest=_digest(script),
        charged=charged,
        counted=counted,
        hourly=hourly,
        kinds=kinds,
        lines=lines,
        losses=losses,
        news=news,
        places=places,
        priced=priced,
        rate=rate,
        sentences=sentences,
        short_type=short_type,
        weight=weight,
    )
    return f"{page.strip()}\n"


def _shown(number: int, review: Review) -> dict[str, Any]:
    """What the template shows of one stack."""
    document = review.document
    return {
        "id": f"s{number}",
        "anchors": _anchors(number, review),
        "review": review,
        "document": document,
        "cost": document["cost"],
        "capacity": document["capacity"],
        "group_bars": group_bars(document["cost"]),
        "tenant_bars": tenant_bars(document["cost"]),
        "levels": levels(review),
        "tree": tree(document["resources"], review.findings),
        "denied": sum(finding.denies for finding in review.findings),
        "waived": sum(finding.status == "waived" for finding in review.findings),
        "made": sum(map(made, document["resources"])),
        "changed": counted(review.changes or []),
        "losses": losses(review.changes or []),
        "changes": [change for change in review.changes or [] if change.operation != "same"],
        "place": places(document["resources"]),
    }


def _findings(reviews: list[Review]) -> list[dict[str, Any]]:
    """All findings, the worst first whatever stack they are of."""
    listed = []
    for number, review in enumerate(reviews):
        place, anchors = places(review.document["resources"]), _anchors(number, review)
        for finding in review.findings:
            one = {"finding": finding, "stack": review.document["stack"], "place": place(finding)}
            one["fresh"] = is_new(finding, review)
            listed.append(one | {"section": f"s{number}", "anchor": anchors.get(finding.urn, f"s{number}")})
    return sorted(listed, key=lambda one: order(one["finding"]))


def _anchors(number: int, review: Review) -> Mapping[str, str]:
    """By URN, where in the page a resource is."""
    return {one["urn"]: f"s{number}r{index}" for index, one in enumerate(review.document["resources"])}


def _rules(reviews: list[Review]) -> list[dict[str, Any]]:
    """Every rule that judged, with how much it found."""
    known = {rule.id: rule for review in reviews for rule in review.rules.values()}
    counts: dict[str, int] = {}
    for review in reviews:
        for finding in review.findings:
            counts[finding.rule] = counts.get(finding.rule, 0) + 1
    return [{"rule": known[one], "found": counts.get(one, 0)} for one in sorted(known)]


def _percent(part: float | None) -> str:
    return "" if part is None else f"{part:.0%}"


def _prose(text: str) -> Markup:
    """Words between backticks as code, all else as it is."""
    return Markup(_CODE.sub(r"<code>\1</code>", str(escape(text))))  # noqa: S704 - it is escaped


def _own(name: str) -> str:
    return files("gpuyard.review.report").joinpath(name).read_text(encoding="utf-8").strip()


def _digest(text: str) -> str:
    """As a content security policy names it."""
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"
