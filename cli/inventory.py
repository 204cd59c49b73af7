"""`gpuyard inventory`: writes what a live cluster has as the part of a stack file that describes it."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import click

from gpuyard import catalogue
from gpuyard.cli import kubectl
from gpuyard.cli.node_selectors import selector
from gpuyard.cli.nodes import INSTANCE_TYPE, Kind, Node, Taint, kind, read
from gpuyard.cli.output import emit
from gpuyard.cli.stacks import DAY_SECONDS, Seconds
from gpuyard.review.errors import InputError

GROUP_LABEL = "gpuyard.io/node-group"

NAME = re.compile(r"^[a-z]([-a-z0-9]{0,38}[a-z0-9])?$")
"""What the key of a node group may be. Source: components/spec.py, Name."""

SHOWN = 5
"""Nodes that a comment names."""

HEAD = """\
# What `gpuyard inventory` found among the {nodes} of {where}. To make it a stack: add owner and
# cost_center, what runs there (tenants, endpoints), and each group's usd_hour: without it, no cost is known.
"""


@dataclass(frozen=True, slots=True)
class Group:
    """Nodes that a stack file describes as one."""

    kind: Kind
    taints: tuple[Taint, ...]
    nodes: Sequence[Node]
    labels: Mapping[str, str] | None
    """Those by which pods find them; None where none tell them from others."""
    named: str | None
    """Name that the nodes carry, by a label."""


@dataclass(slots=True)
class Found:
    """What a cluster has."""

    nodes: int = 0
    kubernetes: tuple[int, int] | None = None
    """Minor version of its newest kubelet."""
    groups: dict[str, Group] = field(default_factory=dict)
    drivers: set[str] = field(default_factory=set)
    """Versions of NVIDIA's driver that nodes say."""
    left: dict[str, list[Node]] = field(default_factory=dict)
    """Nodes that cannot be described, by the reason."""


@click.command(short_help="Describe the nodes of a live cluster as a stack file does.")
@click.option("--context", help="Context of the kubeconfig; its current one when left out.")
@click.option("--kubeconfig", metavar="FILE", help="Kubeconfig file; as kubectl finds it when left out.")
@click.option(
    "--cloud",
    type=click.Choice(["existing", "onprem"]),
    default="existing",
    show_default=True,
    help="existing: a cluster that others run, where a stack declares endpoints only. onprem: one's own.",
)
@click.option("--name", "label", metavar="LABEL", help="Name groups by this label: a group a value, as a pool's label.")
@click.option("--out", type=click.Path(path_type=Path), help="Write to this file, which must not exist yet.")
@click.option(
    "--timeout", type=Seconds(min=1, max=DAY_SECONDS), default=60.0, show_default=True, help="Seconds to wait."
)
def inventory(
    context: str | None, kubeconfig: str | None, cloud: str, label: str | None, out: Path | None, timeout: float
) -> None:
    """Write the cluster and the node groups of a stack file, from the nodes of a live cluster.

    Nothing in the cluster changes: kubectl lists its nodes, and whoever runs it needs the right to do that alone. Nodes
    are put together by machine, by how their GPUs are divided and by their taints, and each group has the fewest labels
    that select its nodes and no others. What cannot be described stands in the file as a comment.

    \b
    Exit code: 0; 2 when the cluster does not give its nodes, no node has
    accelerators that could be described, or --out cannot be written.
    """
    if out is not None and out.exists():
        raise InputError(f"--out {out}: is there already, and may hold what cannot be found again: give another name")
    where = context or kubectl.current_context(kubeconfig)
    found = described([read(item) for item in kubectl.nodes(where, kubeconfig, timeout)], label, cloud)
    if not found.groups:
        raise InputError(f"context {where}: {_nothing(found)}")
    text = written(found, where, kubeconfig, cloud)
    if out is None:
        emit(text)
        return
    try:
        with out.open("x", encoding="utf-8") as file:
            file.write(text)
    except OSError as error:
        raise InputError(f"--out {out}: {error.strerror}: give a file that can be written") from error
    emit(
        f"{out}: {_count(len(found.groups), 'node group')}, {_count(sum(map(len, found.left.values())), 'node')} left\n"
    )


def described(nodes: Sequence[Node], label: str | None, cloud: str) -> Found:
    """The groups of a cluster with accelerators, by the keys that they have in a stack file."""
    kubelets = [node.kubelet for node in nodes if node.kubelet]
    drivers = {node.driver for node in nodes if node.driver}
    found = Found(nodes=len(nodes), kubernetes=max(kubelets, default=None), drivers=drivers)
    together: dict[tuple[str | None, Kind, tuple[Taint, ...]], list[Node]] = {}
    for node in sorted(nodes, key=lambda node: node.name):
        what = kind(node) if any(node.capacity.values()) else _silent(node)
        if isinstance(what, str):
            found.left.setdefault(what, []).append(node)
        elif what is not None:
            # The accelerator's own taint is tolerated by whoever takes one.
            taints = tuple(t for t in node.taints if (t[0], t[2]) != (what.resource, "NoSchedule"))
            named = node.labels.get(GROUP_LABEL) or (node.labels.get(label) if label else None)
            together.setdefault((named, what, taints), []).append(node)
    for (named, what, taints), members in together.items():
        # The GPU Operator of a cluster of one's own divides GPUs by a label, which gpuyard writes on nodes by name.
        labels = None if what.partition and cloud == "onprem" else selector(members, nodes, label)
        if labels is None and cloud == "existing":
            found.left.setdefault(f"{what.machine}: no labels select them and no others", []).extend(members)
        else:
            group = Group(what, taints, members, labels, named)
            found.groups[_key(group, found.groups)] = group
    return found


def _silent(node: Node) -> str | None:
    """What is wrong with a node that offers no accelerators, and ought to."""
    machine = catalogue.machines().get(node.labels.get(INSTANCE_TYPE, ""))
    if (machine and machine.accelerator) or catalogue.product(node.labels):
        return "has accelerators, and offers none: a driver or a device plugin is missing"
    return None


def _key(group: Group, taken: Mapping[str, Group]) -> str:
    machine = catalogue.machine(group.kind.machine)
    base = (group.named or "").lower()
    if not NAME.match(base):
        model = re.sub(r"[^a-z0-9]+", "-", (machine.accelerator or machine.name).lower()).strip("-")
        base = f"{model}-x{machine.accelerators}"
    keys = (base, *(f"{base[:36]}-{number}" for number in range(2, len(taken) + 3)))
    return next(key for key in keys if key not in taken)


def written(found: Found, context: str, kubeconfig: str | None, cloud: str) -> str:
    """The cluster as a stack file has it."""
    lines = [
        "config:",
        "  gpuyard:platform:",
        "    cluster:",
        f"      cloud: {cloud}",
        *([f"      kubeconfig: {_quoted(kubeconfig)}"] if kubeconfig else []),
        f"      context: {_quoted(context)}",
        f"      {_version(found.kubernetes)}",
        *_driver(found.drivers),
        "    node_groups:",
    ]
    for key, group in found.groups.items():
        lines += [f"      {key}:", *(f"        {line}" for line in _group(group))]
    head = HEAD.format(nodes=_count(found.nodes, "node"), where=f"context {_quoted(context)}")
    return head + "".join(f"{line}\n" for line in (*_left(found), *lines))


def _version(minor: tuple[int, int] | None) -> str:
    if minor is None:
        return "# kubernetes: no node says its kubelet's version: give the cluster's"
    return f'kubernetes: "{minor[0]}.{minor[1]}"   # of the newest kubelet; the API server may be newer'


def _driver(versions: set[str]) -> Iterator[str]:
    """The version that images must run on: the oldest."""
    ordered = sorted(versions, key=lambda version: [int(part) for part in version.split(".")])
    if ordered:
        others = f"   # the oldest; others have {', '.join(ordered[1:])}" if ordered[1:] else ""
        yield f"      driver_version: {_quoted(ordered[0])}{others}"


def _group(group: Group) -> Iterator[str]:
    yield f"machine: {group.kind.machine}"
    yield f"count: {len(group.nodes)}"
    if group.labels is None:
        yield f"names: [{', '.join(_quoted(node.name) for node in group.nodes)}]"
    else:
        yield f"selector: {{{', '.join(f'{_label(key)}: {_quoted(group.labels[key])}' for key in group.labels)}}}"
    if group.kind.partition:
        yield f"partition: {group.kind.partition}"
    if group.taints:
        said = [
            f"{{key: {_label(key)}, value: {_quoted(value)}, effect: {effect}}}" for key, value, effect in group.taints
        ]
        yield f"taints: [{', '.join(said)}]"
    if zones := Counter(zone for node in group.nodes if (zone := node.labels.get("topology.kubernetes.io/zone"))):
        yield f"# zones: {', '.join(f'{zone} ({count})' for zone, count in sorted(zones.items()))}"
    if closed := [node for node in group.nodes if node.closed]:
        yield f"# not ready, or cordoned: {_names(closed)}"
    if broken := [node for node in group.nodes if node.allocatable != node.capacity]:
        yield f"# with accelerators that are out of order: {_names(broken)}"


def _left(found: Found) -> Iterator[str]:
    if found.left:
        yield "# Not described:"
    for reason, nodes in sorted(found.left.items()):
        yield f"#   {_count(len(nodes), 'node')} ({_names(nodes)}): {reason}"


def _nothing(found: Found) -> str:
    if not found.left:
        return (
            f"none of its {_count(found.nodes, 'node')} offers accelerators: install the device plugin of their maker, "
            "or give another context"
        )
    return "\n".join(
        ["none of its nodes with accelerators can be described:"]
        + [f"{_count(len(nodes), 'node')} ({_names(nodes)}): {reason}" for reason, nodes in sorted(found.left.items())]
        + ["add what is missing to the nodes' labels, or to catalogue/data/products.csv"]
    )


def _names(nodes: Sequence[Node]) -> str:
    names = [node.name for node in nodes[:SHOWN]]
    return ", ".join(names) + (f" and {len(nodes) - SHOWN} more" if len(nodes) > SHOWN else "")


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"


def _quoted(text: str) -> str:
    """A text that YAML takes for nothing else: no number, no yes or no."""
    return json.dumps(text, ensure_ascii=False)


def _label(key: str) -> str:
    return key if "/" in key else _quoted(key)
