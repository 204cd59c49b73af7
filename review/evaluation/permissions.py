"""What roles and accounts may do, in every form in which programs for AWS and Google Cloud say it.

Policies are JSON text or objects; both come out as statements. Which of the holders is a node's, the rules say: by what
the holder trusts, and by the node groups that name it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from gpuyard.review.evaluation.objects import Json, Path, pointer
from gpuyard.review.values import at, mapping, sequence, text

ROLE = "aws:iam/role:Role"
GCP_BINDINGS = tuple(
    f"gcp:{level}/iAM{form}:IAM{form}"
    for level in ("folder", "organizations", "projects")
    for form in ("Binding", "Member", "Policy")
)
ACCOUNT = "serviceAccount:"
"""Before the e-mail address of a service account, where Google Cloud lists who holds a role."""

_KIND = re.compile(r"[a-z-]+[:/]\*")
"""All of a kind, as `role/*` and `secret:*`."""


def permissions(type_: str, inputs: Json) -> Iterator[Json]:
    """One entry for each grant of a resource.

    AWS: `{path, holder, name, managed | policy | statements}`. `holder` is the JSON pointer of what names the role,
    empty for the resource itself; `name` is that name, if it is known. `managed` is the name of a policy of AWS's;
    `policy` the pointer of what names another; a statement is `{path, actions, all_but, everything, conditional}`, its
    actions in lower case. A policy by itself has no holder.
    Google Cloud: `{path, role, conditional, members: [{path, account}]}`; of a member that is not known there is no
    account.
    """
    read = _READ.get(type_)
    if read:
        yield from read(inputs)


def trusts(inputs: Json) -> list[str]:
    """The services that may take an AWS role."""
    found: set[str] = set()
    for statement in _listed(_document(inputs.get("assumeRolePolicy")).get("Statement")):
        services = at(statement, "Principal", "Service")
        if mapping(statement).get("Effect") == "Allow":
            found |= {service for service in _listed(services) if isinstance(service, str)}
    return sorted(found)


def _role(inputs: Json) -> Iterator[Json]:
    for i, arn in enumerate(sequence(inputs.get("managedPolicyArns"))):
        yield _held("", None, _named(arn, ("managedPolicyArns", i)))
    for i, inline in enumerate(sequence(inputs.get("inlinePolicies"))):
        path: Path = ("inlinePolicies", i, "policy")
        yield _held("", None, _written(mapping(inline).get("policy"), path))


def _role_policy(inputs: Json) -> Iterator[Json]:
    yield _held("/role", inputs.get("role"), _written(inputs.get("policy"), ("policy",)))


def _attachment(inputs: Json) -> Iterator[Json]:
    yield _held("/role", inputs.get("role"), _named(inputs.get("policyArn"), ("policyArn",)))


def _shared_attachment(inputs: Json) -> Iterator[Json]:
    roles = sequence(inputs.get("roles"))
    for i, role in enumerate(roles):
        yield _held(pointer(("roles", i)), role, _named(inputs.get("policyArn"), ("policyArn",)))


def _exclusive(inputs: Json) -> Iterator[Json]:
    for i, arn in enumerate(sequence(inputs.get("policyArns"))):
        yield _held("/roleName", inputs.get("roleName"), _named(arn, ("policyArns", i)))


def _policy(inputs: Json) -> Iterator[Json]:
    yield _written(inputs.get("policy"), ("policy",))


def _held(holder: str, name: Any, entry: Json) -> Json:
    return {"holder": holder} | ({"name": name} if isinstance(name, str) else {}) | entry


def _named(arn: Any, path: Path) -> Json:
    """A policy by its ARN: those of AWS's have no account in it."""
    parts = arn.split(":", 5) if isinstance(arn, str) else []
    if len(parts) == 6 and parts[4] == "aws":
        return {"path": pointer(path), "managed": parts[5].rpartition("/")[2]}
    return {"path": pointer(path), "policy": pointer(path)}


def _written(policy: Any, path: Path) -> Json:
    statements = _listed(_document(policy).get("Statement"))
    return {"path": pointer(path), "statements": [_statement(one) for one in statements if isinstance(one, dict)]}


def _statement(statement: Json) -> Json:
    allowed = statement.get("Effect") == "Allow"
    actions = [action.lower() for action in _listed(statement.get("Action")) if isinstance(action, str)]
    return {
        "actions": actions if allowed else [],
        "all_but": allowed and "NotAction" in statement,
        "everything": "NotResource" in statement or any(map(_everything, _listed(statement.get("Resource")))),
        "conditional": bool(statement.get("Condition")),
    }


def _everything(resource: Any) -> bool:
    """Whether a resource of a statement is all that there is of its kind."""
    if not isinstance(resource, str):
        return False
    parts = resource.split(":", 5)
    if parts[0] == "*" or len(parts) < 6:
        return resource.replace("*", "") in ("", "arn:", "arn:aws:")
    if parts[2] == "s3":
        return parts[5].strip("*/") == ""
    return parts[5].strip("*") == "" or _KIND.fullmatch(parts[5]) is not None


def _document(policy: Any) -> Json:
    """A policy as an object: what is not JSON, or no object, says nothing."""
    if isinstance(policy, str):
        try:
            policy = json.loads(policy)
        except (ValueError, RecursionError):
            return {}
    return mapping(policy)


def _listed(value: Any) -> list[Any]:
    """IAM writes one of a thing without its list."""
    return value if isinstance(value, list) else [] if value is None else [value]


def _member(inputs: Json) -> Iterator[Json]:
    yield _binding(inputs, ("role",), [(("member",), inputs.get("member"))])


def _members(inputs: Json) -> Iterator[Json]:
    listed = [(("members", i), member) for i, member in enumerate(sequence(inputs.get("members")))]
    yield _binding(inputs, ("role",), listed)


def _project_policy(inputs: Json) -> Iterator[Json]:
    for binding in map(mapping, _listed(_document(inputs.get("policyData")).get("bindings"))):
        path: Path = ("policyData",)
        yield _binding(binding, path, [(path, member) for member in sequence(binding.get("members"))])


def _binding(binding: Json, path: Path, members: Sequence[tuple[Path, Any]]) -> Json:
    listed = []
    for place, member in members:
        named = text(member)
        if named is None:
            listed.append({"path": pointer(place)})
        elif named.startswith(ACCOUNT):
            listed.append({"path": pointer(place), "account": named.removeprefix(ACCOUNT)})
    conditional = bool(binding.get("condition"))
    return {
        "path": pointer(path),
        "role": text(binding.get("role")) or "",
        "conditional": conditional,
        "members": listed,
    }


_BY_FORM = {"Binding": _members, "Member": _member, "Policy": _project_policy}

_READ: Mapping[str, Callable[[Json], Iterator[Json]]] = {
    ROLE: _role,
    "aws:iam/policy:Policy": _policy,
    "aws:iam/policyAttachment:PolicyAttachment": _shared_attachment,
    "aws:iam/rolePolicy:RolePolicy": _role_policy,
    "aws:iam/rolePolicyAttachment:RolePolicyAttachment": _attachment,
    "aws:iam/rolePolicyAttachmentsExclusive:RolePolicyAttachmentsExclusive": _exclusive,
    **{type_: _BY_FORM[type_.rpartition(":IAM")[2]] for type_ in GCP_BINDINGS},
}
