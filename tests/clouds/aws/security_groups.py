"""Security groups of EC2, and their rules. What forces a new resource: terraform-provider-aws, internal/service/ec2."""

from __future__ import annotations

from typing import Any, ClassVar

from clouds.aws.kinds import arn, marked
from clouds.aws.vpc import INTERFACE, VPC, Ec2Kind, in_vpc
from clouds.cloud import Thing
from clouds.kind import AutoName, Inputs, Reference, Session
from clouds.paths import every
from clouds.refused import RefusedError

GROUP = "aws:ec2/securityGroup:SecurityGroup"
INGRESS = "aws:vpc/securityGroupIngressRule:SecurityGroupIngressRule"

SOURCES = ("cidrIpv4", "cidrIpv6", "prefixListId", "referencedSecurityGroupId")
"""Whom a rule lets in; one of them."""

HELD_BY = (
    (INTERFACE, "securityGroups"),
    ("aws:eks/cluster:Cluster", "vpcConfig.securityGroupIds"),
    ("aws:ec2/vpcEndpoint:VpcEndpoint", "securityGroupIds"),
    ("aws:fsx/lustreFileSystem:LustreFileSystem", "securityGroupIds"),
)
"""What has network interfaces in a security group, which cannot be deleted before."""

NOT_FOUND = ("InvalidGroup.NotFound", "The security group '{}' does not exist")


def groups(session: Session) -> set[str]:
    """Ids of all security groups: those that were asked for, and those that come with VPCs and clusters."""
    made = {thing.id for thing in session.cloud.resources(GROUP)}
    made |= {str(vpc.outputs.get("defaultSecurityGroupId")) for vpc in session.cloud.resources(VPC)}
    for cluster in session.cloud.resources("aws:eks/cluster:Cluster"):
        made |= set(every(cluster.outputs, "vpcConfig.clusterSecurityGroupId"))
    return made


def require_groups(session: Session, names: list[str]) -> None:
    """Raises RefusedError, as EC2 does, for a security group that does not exist."""
    for name in names:
        if name not in groups(session):
            raise RefusedError(NOT_FOUND[0], NOT_FOUND[1].format(name))


class SecurityGroup(Ec2Kind):
    token, what, prefix = GROUP, "Security Group", "sg"
    create, update, delete = "CreateSecurityGroup", "AuthorizeSecurityGroupIngress", "DeleteSecurityGroup"
    autoname = AutoName("name", 255)
    defaults: ClassVar[dict[str, Any]] = {
        "description": "Managed by Pulumi",
        "egress.self": False,
        "ingress.self": False,
        "revokeRulesOnDelete": False,
    }
    source = "ec2/vpc_security_group.go@0160692"
    replaces = marked("region description name namePrefix vpcId")
    sets = marked("ingress egress ingress.securityGroups egress.securityGroups")
    kept = marked("ingress egress name namePrefix vpcId")
    computed = ("arn", "egress", "ingress", "namePrefix", "ownerId", "vpcId")
    references: ClassVar[tuple[Reference, ...]] = (in_vpc(),)

    def refuse_create(self, session: Session, inputs: Inputs) -> None:
        if not inputs.get("vpcId"):
            # The account of the tests has no default VPC, as accounts that are set up for production have none.
            raise RefusedError("VPCIdNotSpecified", "No default VPC for this user")
        for other in session.having(GROUP, "vpcId", inputs["vpcId"]):
            if other.outputs["name"].lower() == inputs["name"].lower():
                message = f"The security group '{inputs['name']}' already exists for VPC '{inputs['vpcId']}'"
                raise RefusedError("InvalidGroup.Duplicate", message)
        self._refuse_peers(session, inputs)

    def refuse_update(self, session: Session, thing: Thing, inputs: Inputs) -> None:
        self._refuse_peers(session, inputs)

    def _refuse_peers(self, session: Session, inputs: Inputs) -> None:
        for direction in ("ingress", "egress"):
            require_groups(session, list(every(inputs, f"{direction}.securityGroups")))

    def refuse_delete(self, session: Session, thing: Thing) -> None:
        users = [user for kind, path in HELD_BY for user in session.having(kind, path, thing.id)]
        for rule in session.having(INGRESS, "referencedSecurityGroupId", thing.id):
            users += [rule] if rule.inputs["securityGroupId"] != thing.id else []
        for direction in ("ingress", "egress"):
            users += session.having(GROUP, f"{direction}.securityGroups", thing.id)
        if any(user.id != thing.id for user in users):
            raise RefusedError("DependencyViolation", f"resource {thing.id} has a dependent object")

    def deleted(self, session: Session, thing: Thing) -> None:
        for rule in session.having(INGRESS, "securityGroupId", thing.id):
            session.cloud.remove(rule)

    def outputs(self, session: Session, name: str, inputs: Inputs, before: Inputs) -> dict[str, Any]:
        return {
            "arn": arn("ec2", session, f"security-group/{name}", inputs=inputs),
            "egress": inputs.get("egress", before.get("egress", [])),
            "ingress": inputs.get("ingress", before.get("ingress", [])),
            "namePrefix": inputs.get("namePrefix", ""),
            "ownerId": session.account,
            "vpcId": inputs["vpcId"],
        }


class SecurityGroupIngressRule(Ec2Kind):
    token, what, prefix = INGRESS, "VPC Security Group Rule", "sgr"
    create, update, delete = "AuthorizeSecurityGroupIngress", "ModifySecurityGroupRules", "RevokeSecurityGroupIngress"
    source = "ec2/vpc_security_group_ingress_rule.go@d2b7f56"
    replaces = marked("region securityGroupId")
    computed = ("arn", "securityGroupRuleId")

    def must_replace(self, path: str, old: Inputs, new: Inputs) -> bool:
        """The kind of a source never changes: vpc_security_group_ingress_rule.go, ModifyPlan."""
        moved = path in SOURCES and (path in old) != (path in new)
        return moved or super().must_replace(path, old, new)

    def refuse_create(self, session: Session, inputs: Inputs) -> None:
        self._refuse_peers(session, inputs)
        for other in session.having(INGRESS, "securityGroupId", inputs["securityGroupId"]):
            if _permission(other.inputs) == _permission(inputs):
                message = f'the specified rule "{_permission(inputs)}" already exists'
                raise RefusedError("InvalidPermission.Duplicate", message)

    def refuse_update(self, session: Session, thing: Thing, inputs: Inputs) -> None:
        self._refuse_peers(session, inputs)

    def _refuse_peers(self, session: Session, inputs: Inputs) -> None:
        # A group of another account is named with that account.
        peers = [inputs["securityGroupId"], str(inputs.get("referencedSecurityGroupId") or "/")]
        require_groups(session, [name for name in peers if "/" not in name])

    def outputs(self, session: Session, name: str, inputs: Inputs, before: Inputs) -> dict[str, Any]:
        return {
            "arn": arn("ec2", session, f"security-group-rule/{name}", inputs=inputs),
            "securityGroupRuleId": name,
        }

    def shown_name(self, inputs: Inputs) -> str:
        return str(inputs.get("securityGroupId"))


def _permission(inputs: Inputs) -> str:
    """A rule as EC2 writes it; two that are written alike are the same."""
    peer = next((str(inputs[source]) for source in SOURCES if inputs.get(source)), "")
    if str(inputs["ipProtocol"]) in ("-1", "all"):
        return f"peer: {peer}, ALL, ALLOW"
    ports = f"from port: {inputs.get('fromPort', -1):.0f}, to port: {inputs.get('toPort', -1):.0f}"
    return f"peer: {peer}, {str(inputs['ipProtocol']).upper()}, {ports}, ALLOW"
