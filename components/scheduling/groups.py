"""Tells node groups apart whose accelerators share a resource name: a priority class each, tied to the group's nodes.

A ResourceQuota sees a pod's resource names and its priority class, never the node that it goes to. So every pod that
takes an accelerator names the class of a group, the quota of that group counts it, and a policy of the API server lets
a pod name a class only if it can go to that group's nodes alone, and takes accelerators there. Any other pod tolerates
no taint of accelerators: without one of its own it would start a group's nodes, and see their devices, uncounted.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pulumi

from gpuyard.components.kubernetes import declare_all
from gpuyard.components.namespace import TENANT_LABEL
from gpuyard.components.node_groups.base import Taint
from gpuyard.components.scheduling import topology
from gpuyard.components.spec import Manifest

POLICY = "gpuyard-node-groups"

TENANTS_ONLY = {"matchExpressions": [{"key": TENANT_LABEL, "operator": "Exists"}]}
"""Selects the namespaces of tenants, and no other."""


ALSO_OFFERED = {"aws.amazon.com/neuron": ("aws.amazon.com/neuroncore",)}
"""Other names under which a device plugin offers parts of the same devices, by the name that quotas count. Source:
AWS Neuron, Kubernetes environment setup; karpenter-provider-aws v1.14.1, pkg/providers/instancetype/types.go."""


@dataclass(frozen=True)
class AcceleratorGroup:
    """A node group with accelerators, as quotas and queues see it."""

    name: str
    """Name of the group; what is declared for it is named after it."""
    resource: str
    """What pods ask for there, such as nvidia.com/gpu."""
    accelerators: int
    """Accelerators that it ever has: those of its most nodes."""
    selector: Mapping[str, str]
    """Labels by which a pod finds its nodes, and no others."""
    taints: Sequence[Taint] = ()
    """Taints of its nodes, beside the one that keeps other pods off accelerators."""
    taint: str = ""
    """Key of that one, where it is not the resource: slices of a GPU are behind the whole GPU's."""
    tolerated: Sequence[str] = ()
    """Keys of taints that its jobs tolerate without saying so, beside that one."""
    provisioning: Mapping[str, str] | None = None
    """Parameters of the request by which the cloud gives all nodes of a job at once; None where its scaler adds them
    one by one."""
    levels: Sequence[str] = ()
    """Labels of its nodes that say how near they are to each other, the farthest level first; none where jobs do not
    choose by it."""
    settings: Mapping[str, str] = field(default_factory=dict)
    """Environment variables of a pod that talks over the fast network of its nodes."""
    device_class: str | None = None
    """Class of the devices that such a pod claims; None where it claims none."""

    @property
    def key(self) -> str:
        """Key of the taint that keeps other pods off its nodes."""
        return self.taint or self.resource


class GroupClasses(pulumi.ComponentResource):
    """The priority classes of all accelerator groups of a cluster, and the policy that keeps pods to them."""

    def __init__(
        self, name: str, groups: Sequence[AcceleratorGroup], *, opts: pulumi.ResourceOptions | None = None
    ) -> None:
        super().__init__("gpuyard:index:GroupClasses", name, {"groups": [group.name for group in groups]}, opts)
        objects = [*priority_classes(groups), policy(groups), binding()]
        declare_all(name, objects, pulumi.ResourceOptions(parent=self))
        self.register_outputs({})


def class_name(group: str) -> str:
    """The PriorityClass of pods that take accelerators of a node group."""
    return f"gpuyard-{group}"


def priority_classes(groups: Iterable[AcceleratorGroup]) -> list[Manifest]:
    """A PriorityClass a group. All have the priority that pods have without one: they tell apart, and rank nobody."""
    return [
        {
            "apiVersion": "scheduling.k8s.io/v1",
            "kind": "PriorityClass",
            "metadata": {"name": class_name(group.name)},
            "value": 0,
            "globalDefault": False,
            "description": f"Takes accelerators of node group {group.name}.",
        }
        for group in groups
    ]


def policy(groups: Sequence[AcceleratorGroup]) -> Manifest:
    """Keeps pods with a group's class on the group's nodes, and refuses pods without one accelerators and their nodes.

    Jobs are asked too: one whose pods were refused later would hold its place in the queue for nothing.
    """
    judged = [("", "pods", ["CREATE", "UPDATE"]), ("batch", "jobs", ["CREATE"])]
    rules = [
        {"apiGroups": [group], "apiVersions": ["v1"], "operations": operations, "resources": [resource]}
        for group, resource, operations in judged
    ]
    return {
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "ValidatingAdmissionPolicy",
        "metadata": {"name": POLICY},
        "spec": {
            "failurePolicy": "Fail",
            "matchConstraints": {"resourceRules": rules},
            "matchConditions": [MAY_GO_ELSEWHERE],
            "variables": VARIABLES,
            "validations": [
                SCHEDULED,
                _named(groups),
                _tolerated(groups),
                *[_on_its_nodes(group) for group in groups],
                *[_takes_some(group) for group in groups],
                *[_takes_no_other(group, others) for group in groups if (others := _beside(group, groups))],
                *[_says_how_near(group) for group in groups if group.levels],
            ],
        },
    }


def binding() -> Manifest:
    """Applies the policy to the namespaces of tenants."""
    return {
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "ValidatingAdmissionPolicyBinding",
        "metadata": {"name": POLICY},
        "spec": {
            "policyName": POLICY,
            "validationActions": ["Deny"],
            "matchResources": {"namespaceSelector": TENANTS_ONLY},
        },
    }


MAY_GO_ELSEWHERE = {
    "name": "may-go-elsewhere",
    "expression": "request.operation == 'CREATE' || "
    "dyn(object.spec).?tolerations.orValue([]) != dyn(oldObject.spec).?tolerations.orValue([])",
}
"""Of a pod that is there only tolerations can be added that lead to other nodes. Any other change, such as that of a
controller which lets go of a pod, is nothing to judge, whatever was allowed when the pod was made."""

SCHEDULED = {
    "expression": "request.operation != 'CREATE' || !has(variables.pod.nodeName)",
    "message": "nodeName goes past the scheduler, and past the taints of nodes: give a nodeSelector",
}
"""Keeps pods from naming a node by themselves. The scheduler does so later."""

VARIABLES = [
    # dyn: a Job has no spec.containers, and a Pod no spec.template, which the type check would warn of.
    {"name": "pod", "expression": "object.kind == 'Pod' ? dyn(object.spec) : dyn(object.spec).template.spec"},
    {"name": "class", "expression": "has(variables.pod.priorityClassName) ? variables.pod.priorityClassName : ''"},
    {"name": "nodes", "expression": "has(variables.pod.nodeSelector) ? variables.pod.nodeSelector : {}"},
    {"name": "tolerations", "expression": "has(variables.pod.tolerations) ? variables.pod.tolerations : []"},
    {
        "name": "containers",
        "expression": "variables.pod.containers + "
        "(has(variables.pod.initContainers) ? variables.pod.initContainers : [])",
    },
]
"""What the policy's expressions read, of a pod or of a job's pods."""


def _named(groups: Sequence[AcceleratorGroup]) -> dict[str, Any]:
    classes = _list(class_name(group.name) for group in groups)
    counted = {group.resource for group in groups}
    resources = _list(sorted(counted.union(*(ALSO_OFFERED.get(resource, ()) for resource in counted))))
    choices = " or ".join(_what_to_write(group) for group in groups)
    return {
        # An API server takes an accelerator only where requests and limits are equal, so limits say all.
        "expression": f"variables.class in {classes} || !variables.containers.exists(c, has(c.resources) && "
        f"has(c.resources.limits) && c.resources.limits.exists(r, r in {resources}))",
        "message": f"accelerators are taken of a node group: give {choices}",
    }


def _tolerated(groups: Sequence[AcceleratorGroup]) -> dict[str, Any]:
    classes = _list(class_name(group.name) for group in groups)
    # A toleration without a key is for every taint.
    keys = _list(["", *sorted({group.key for group in groups})])
    choices = " or ".join(_what_to_write(group) for group in groups)
    return {
        "expression": f"variables.class in {classes} || "
        f"!variables.tolerations.exists(t, !has(t.key) || t.key in {keys})",
        "message": "nodes with accelerators are for pods that take some: "
        f"tolerate no taint of theirs, or give {choices}",
    }


def _takes_some(group: AcceleratorGroup) -> dict[str, Any]:
    name, resource = _text(class_name(group.name)), _text(group.resource)
    return {
        "expression": f"variables.class != {name} || variables.containers.exists(c, has(c.resources) && "
        f"has(c.resources.limits) && {resource} in c.resources.limits && "
        f"quantity(string(c.resources.limits[{resource}])).isGreaterThan(quantity('0')))",
        "message": f"pods of class {class_name(group.name)} take accelerators: give a container a limit of "
        f"{group.resource}, or leave the class out",
    }


def _beside(group: AcceleratorGroup, groups: Sequence[AcceleratorGroup]) -> list[str]:
    """Resources that the same nodes offer too: slices of another size, for pods of other classes, and parts of
    devices, for nobody."""
    same = [other.resource for other in groups if other.selector == group.selector]
    parts = ALSO_OFFERED.get(group.resource, ())
    return sorted({resource for resource in (*same, *parts) if resource != group.resource})


def _takes_no_other(group: AcceleratorGroup, others: Sequence[str]) -> dict[str, Any]:
    """A quota counts a class's own resource: what else a pod of the class took on these nodes, nobody would count."""
    name = _text(class_name(group.name))
    return {
        "expression": f"variables.class != {name} || !variables.containers.exists(c, has(c.resources) && "
        f"has(c.resources.limits) && c.resources.limits.exists(r, r in {_list(others)}))",
        "message": f"pods of class {class_name(group.name)} take {group.resource} alone: ask for no "
        f"{' and no '.join(others)} beside it",
    }


def _says_how_near(group: AcceleratorGroup) -> dict[str, Any]:
    """Kueue lets a job that does not say it wait for ever, where the job's queue has groups without levels too."""
    name, asks = _text(class_name(group.name)), _list(topology.ASKS)
    annotations = "dyn(object.spec).template.?metadata.?annotations.orValue({})"
    return {
        "expression": f"variables.class != {name} || object.kind != 'Job' || {asks}.exists(a, a in {annotations})",
        "message": f"jobs of class {class_name(group.name)} say how near their pods run to each other: annotate the "
        f"pods with {topology.PREFERRED} or {topology.REQUIRED}, and one of {', '.join(group.levels)}, "
        f"or with {topology.UNCONSTRAINED}: 'true'",
    }


def _on_its_nodes(group: AcceleratorGroup) -> dict[str, Any]:
    name = _text(class_name(group.name))
    labels = " && ".join(
        f"{_text(key)} in variables.nodes && variables.nodes[{_text(key)}] == {_text(value)}"
        for key, value in group.selector.items()
    )
    return {
        "expression": f"variables.class != {name} || ({labels})",
        "message": f"pods of class {class_name(group.name)} run on nodes of group {group.name}: give "
        f"{_what_to_write(group)}",
    }


def _what_to_write(group: AcceleratorGroup) -> str:
    labels = ", ".join(f"{key}: {value}" for key, value in group.selector.items())
    return f"priorityClassName {class_name(group.name)} with nodeSelector {{{labels}}}"


def _list(texts: Iterable[str]) -> str:
    return f"[{', '.join(_text(text) for text in texts)}]"


def _text(text: str) -> str:
    """A literal of CEL, whose strings are written as JSON's are."""
    return json.dumps(text)
