"""The texts that something new starts from: templates/ with names, paths and values filled in."""

from __future__ import annotations

import json
from collections.abc import Mapping
from importlib.resources import files
from itertools import takewhile
from string import Template
from typing import Any

from gpuyard import catalogue
from gpuyard.catalogue.tables import OPEN
from gpuyard.review.evaluation.objects import HELM, PREFIX, steps
from gpuyard.review.evaluation.prepare import POD


def rule(name: str, reads: tuple[str, str], said: Mapping[str, str]) -> tuple[str, str]:
    """The texts of a rule, `<group>/<rule>`, and of its test. `said` has every other value of METADATA, by its key."""
    group, own = name.split("/")
    type_, path = reads
    # A list has no member of a fixed place: the rule gets the list, and goes on by itself.
    plain = [*takewhile(lambda step: step != "*", path.split("/")[1:])]
    keys = [str(key) for key in steps("".join(f"/{step}" for step in plain))]
    body: Any = "VALUE"
    for key in reversed(keys):
        body = {key: body}
    things, member, example, prefix = _place(type_)
    place = "".join(f"/{step}" for step in plain)
    fields = {
        **said,
        "group": group,
        "rule": own,
        "type": json.dumps(type_),
        "path": json.dumps(path),
        "things": things,
        "member": member,
        "steps": json.dumps(keys),
        "last": json.dumps((keys or [own])[-1]),
        "place": json.dumps(place) if prefix is None else f'sprintf("%v%v", [one.path, {json.dumps(place)}])',
        "body": json.dumps(body).replace('"VALUE"', "value"),
        "given": json.dumps(example).replace('"BODY"', "body"),
        "where": json.dumps(f"{prefix or ''}{place}"),
    }
    return filled("rule.rego", fields), filled("rule_test.rego", fields)


def _place(type_: str) -> tuple[str, str, dict[str, Any], str | None]:
    """Where a rule finds what it reads: the list, the member that has the values, such a list in a test, and the path
    of its one there; None where it has no path."""
    if type_ == POD:
        return "input.pods", "spec", {"pods": [{"urn": "u", "path": "/spec", "spec": "BODY"}]}, "/spec"
    if type_.startswith(PREFIX) and not type_.startswith(HELM) and type_.count(":") == 2:
        _, api, kind = type_.split(":")
        group = api.rpartition("/")[0]
        key = kind if group in ("", "core") else f"{kind}.{group}"
        return f'input.objects["{key}"]', "body", {"objects": {key: [{"urn": "u", "path": "", "body": "BODY"}]}}, ""
    by_type = {"by_type": {type_: [{"urn": "u", "inputs": "BODY"}]}}
    return f"input.by_type[{json.dumps(type_)}]", "inputs", by_type, None


def machine(name: str, cloud: str, given: Mapping[str, str]) -> dict[str, str]:
    """What the columns of a machine say: what is given, what follows from it, and OPEN where somebody has to say it.

    Raises Unknown for an accelerator that the catalogue lacks.
    """
    said = {"name": name, "cloud": cloud, **given}
    if said.get("accelerator") == "":
        said = {"accelerators": "0", "accelerator_memory_mib": "0", "resource": "", "cloud_accelerator": "", **said}
    elif "accelerator" in said:
        said = {"resource": _resource(said["accelerator"]), **said}
    if cloud == "onprem":
        said = {"purchase": "", "cloud_accelerator": "", **said}
    if cloud != "aws":
        said = {"accelerator_memory_mib": "0", **said}
    if cloud != "gcp":
        said = {"boot_disks": "", **said}
    return said


def _resource(accelerator: str) -> str:
    """What pods ask for to get an accelerator: what they do for any of its vendor."""
    vendor = catalogue.accelerator(accelerator).vendor
    known = (one for one in catalogue.machines().values() if one.accelerator and one.resource)
    same = (one.resource for one in known if catalogue.accelerator(one.accelerator or "").vendor == vendor)
    return next(same, None) or OPEN


def filled(name: str, fields: Mapping[str, str]) -> str:
    """A text of templates/. Raises KeyError for a field that it lacks."""
    text = files("gpuyard.cli").joinpath("templates", name).read_text(encoding="utf-8")
    return Template(text).substitute(fields)
