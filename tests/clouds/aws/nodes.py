"""Node groups of EKS and their launch templates. What forces a new resource: terraform-provider-aws, internal/service,
eks/node_group.go and ec2/ec2_launch_template.go."""

from __future__ import annotations

import secrets
from collections.abc import Collection, Iterator, Sequence
from typing import Any, ClassVar

from clouds.aws.eks import CLUSTER, EksKind, of_cluster
from clouds.aws.iam import trusted_role
from clouds.aws.kinds import arn, marked
from clouds.aws.readiness import instance, nodes_problem
from clouds.aws.versions import minor
from clouds.aws.vpc import Ec2Kind, in_subnets
from clouds.cloud import Thing
from clouds.kind import AutoName, Inputs, Session
from clouds.paths import at
from clouds.refused import RefusedError

TEMPLATE = "aws:ec2/launchTemplate:LaunchTemplate"
RESERVATION = "aws:ec2/capacityReservation:CapacityReservation"


class LaunchTemplate(Ec2Kind):
    """It may name what does not exist, such as a capacity reservation: only instances fail by that. Source: EC2 user
    guide, "Restrictions for Amazon EC2 launch templates"."""

    token, what, prefix = TEMPLATE, "EC2 Launch Template", "lt"
    create, update, delete = "CreateLaunchTemplate", "CreateLaunchTemplateVersion", "DeleteLaunchTemplate"
    autoname = AutoName("name", 125)
    unique = "name"
    taken = ("InvalidLaunchTemplateName.AlreadyExistsException", "Launch template name already in use.")
    source = "ec2/ec2_launch_template.go@025e4f8"
    replaces = marked("region name namePrefix")
    sets = marked("vpcSecurityGroupIds securityGroupNames networkInterfaces.securityGroups")
    kept = marked("defaultVersion ebsOptimized")
    computed = ("arn", "defaultVersion", "latestVersion", "namePrefix")

    def renews(self, changed: Collection[str], inputs: Inputs) -> Iterator[str]:
        """Any change may make a version, a mere change of tags too, as far as the provider can say beforehand."""
        if {path.partition(".")[0] for path in changed} - {"defaultVersion", "description", "updateDefaultVersion"}:
            yield "latestVersion"
            if inputs.get("updateDefaultVersion"):
                yield "defaultVersion"

    def outputs(self, session: Session, name: str, inputs: Inputs, before: Inputs) -> dict[str, Any]:
        latest = self._latest(inputs, before)
        given = inputs.get("defaultVersion")
        default = latest if inputs.get("updateDefaultVersion") else given or before.get("defaultVersion") or 1
        return {
            "arn": arn("ec2", session, f"launch-template/{name}", inputs=inputs),
            "defaultVersion": default,
            "latestVersion": latest,
            "namePrefix": inputs.get("namePrefix", ""),
        }

    def _latest(self, inputs: Inputs, before: Inputs) -> int:
        """A new version for new data; tags of the template itself are no part of a version."""
        last = int(before.get("latestVersion", 0))
        outside = {"tags", "tagsAll", "defaultVersion", "updateDefaultVersion"}
        changed = any(inputs[key] != before.get(key) for key in inputs if key not in outside)
        return last + 1 if changed or not last else last


class CapacityReservation(Ec2Kind):
    token, what, prefix = RESERVATION, "EC2 Capacity Reservation", "cr"
    create, update = "CreateCapacityReservation", "ModifyCapacityReservation"
    delete = "CancelCapacityReservation"
    defaults: ClassVar[dict[str, Any]] = {
        "ebsOptimized": False,
        "endDateType": "unlimited",
        "ephemeralStorage": False,
        "instanceMatchCriteria": "open",
        "tenancy": "default",
    }
    source = "ec2/ec2_capacity_reservation.go@084df2c"
    replaces = marked(
        "region availabilityZone ebsOptimized ephemeralStorage instanceMatchCriteria instancePlatform instanceType tenancy"
    )
    computed = ("arn", "ownerId")

    def outputs(self, session: Session, name: str, inputs: Inputs, before: Inputs) -> dict[str, Any]:
        return {
            "arn": arn("ec2", session, f"capacity-reservation/{name}", inputs=inputs),
            "ownerId": session.account,
        }

    def shown_name(self, inputs: Inputs) -> str:
        return f"{inputs.get('instanceType')} in {inputs.get('availabilityZone')}"


class PlacementGroup(Ec2Kind):
    token, what = "aws:ec2/placementGroup:PlacementGroup", "EC2 Placement Group"
    create, update, delete = "CreatePlacementGroup", "CreateTags", "DeletePlacementGroup"
    autoname = AutoName("name", 255)
    taken = ("InvalidPlacementGroup.Duplicate", "The placement group '{}' already exists.")
    source = "ec2/ec2_placement_group.go@05e34de"
    replaces = marked("region name partitionCount spreadLevel strategy")
    kept = marked("partitionCount spreadLevel")
    computed = ("arn", "partitionCount", "placementGroupId", "spreadLevel")

    def identify(self, session: Session, inputs: Inputs) -> str:
        return str(inputs["name"])

    def outputs(self, session: Session, name: str, inputs: Inputs, before: Inputs) -> dict[str, Any]:
        return {
            "arn": arn("ec2", session, f"placement-group/{name}", inputs=inputs),
            "partitionCount": 0,
            "placementGroupId": before.get("placementGroupId") or f"pg-{secrets.token_hex(9)[:17]}",
            "spreadLevel": "",
        }


class NodeGroup(EksKind):
    token, what = "aws:eks/nodeGroup:NodeGroup", "EKS Node Group"
    create, update, delete = "CreateNodegroup", "UpdateNodegroupConfig", "DeleteNodegroup"
    autoname = AutoName("nodeGroupName", 63)
    source = "eks/node_group.go@012e0a3"
    replaces = marked(
        "region amiType capacityType clusterName diskSize instanceTypes launchTemplate.id launchTemplate.name "
        "nodeGroupName nodeGroupNamePrefix nodeRoleArn remoteAccess subnetIds"
    )
    sets = marked("subnetIds taints remoteAccess.sourceSecurityGroupIds")
    kept = marked("amiType capacityType diskSize instanceTypes nodeRepairConfig releaseVersion updateConfig version")
    computed = (
        "amiType",
        "arn",
        "capacityType",
        "diskSize",
        "instanceTypes",
        "nodeGroupNamePrefix",
        "releaseVersion",
        "resources",
        "status",
        "version",
    )
    references = (of_cluster(holds=True), in_subnets("subnetIds"))
    taken = ("ResourceInUseException", "NodeGroup already exists with name {}.")
    failed: ClassVar[dict[str, str]] = {"status": "CREATE_FAILED"}

    def identify(self, session: Session, inputs: Inputs) -> str:
        return f"{inputs['clusterName']}:{inputs['nodeGroupName']}"

    def refuse_create(self, session: Session, inputs: Inputs) -> None:
        trusted_role(session, inputs["nodeRoleArn"], "ec2.amazonaws.com")
        self._refuse_version(session, inputs, None)
        self._refuse_template(session, inputs)

    def problems(self, inputs: Inputs) -> Sequence[str]:
        sizes = inputs.get("scalingConfig") or {}
        low, wanted, high = (sizes.get(size) or 0 for size in ("minSize", "desiredSize", "maxSize"))
        if low > wanted:
            return [f"Minimum capacity {low} can't be greater than desired size {wanted}"]
        if wanted > high:
            return [f"desired capacity {wanted} can't be greater than max size {high}"]
        return super().problems(inputs)

    def not_ready(self, session: Session, thing: Thing) -> str | None:
        problem = nodes_problem(session, thing, session.find(CLUSTER, thing.inputs["clusterName"]))
        if problem is None:
            return None
        state = "unexpected state 'CREATE_FAILED', wanted target 'ACTIVE'"
        error = f"{instance()}: NodeCreationFailure: {problem}"
        return f"waiting for EKS Node Group ({thing.id}) create: {state}. last error: {error}"

    def refuse_update(self, session: Session, thing: Thing, inputs: Inputs) -> None:
        if thing.outputs["status"] != "ACTIVE":
            message = "Nodegroup cannot be updated as it is currently not in Active State"
            raise RefusedError("InvalidRequestException", message)
        self._refuse_version(session, inputs, thing.outputs["version"])
        self._refuse_template(session, inputs)

    def _refuse_version(self, session: Session, inputs: Inputs, old: str | None) -> None:
        cluster = session.find(CLUSTER, inputs["clusterName"])
        new = inputs.get("version")
        if cluster is None or new is None:
            return
        if minor(new) > minor(cluster.outputs["version"]):
            message = f"Nodegroup Kubernetes version {new} is above the cluster's, {cluster.outputs['version']}"
            raise RefusedError("InvalidParameterException", message)
        if old is not None and minor(new) < minor(old):
            message = f"Requested Nodegroup version {new} is below the present one, {old}"
            raise RefusedError("InvalidParameterException", message)

    def _refuse_template(self, session: Session, inputs: Inputs) -> None:
        name, version = at(inputs, "launchTemplate.id"), at(inputs, "launchTemplate.version")
        if name is None:
            return
        template = session.find(TEMPLATE, name)
        if template is None:
            message = f"Launch template {name} details could not be found"
            raise RefusedError("InvalidRequestException", message)
        if str(version).isdigit() and not 1 <= int(version) <= template.outputs["latestVersion"]:
            message = f"Could not find the specified version {version} for the launch template with ID {name}."
            raise RefusedError("InvalidRequestException", message)
        self._refuse_market(inputs, template)

    def _refuse_market(self, inputs: Inputs, template: Thing) -> None:
        """EKS API, CreateNodegroup: one instance type, in one place; EKS user guide, "Create a managed node group with
        Capacity Blocks": both say so, or neither."""
        if at(template.inputs, "instanceType") and inputs.get("instanceTypes"):
            message = "Instance types cannot be set both in the launch template and the nodegroup"
            raise RefusedError("InvalidParameterException", message)
        block = at(template.inputs, "instanceMarketOptions.marketType") == "capacity-block"
        if block != (inputs.get("capacityType") == "CAPACITY_BLOCK"):
            message = "CAPACITY_BLOCK as capacityType and the market type capacity-block go together"
            raise RefusedError("InvalidParameterException", message)

    def outputs(self, session: Session, name: str, inputs: Inputs, before: Inputs) -> dict[str, Any]:
        cluster = session.find(CLUSTER, inputs["clusterName"])
        version = inputs.get("version") or before.get("version") or (cluster.outputs["version"] if cluster else "")
        unique = at(before, "arn") or f"/{secrets.token_hex(16)}"
        unique = unique.rpartition("/")[2]
        group = f"{inputs['clusterName']}/{inputs['nodeGroupName']}"
        made: dict[str, Any] = {
            "amiType": inputs.get("amiType", "AL2023_x86_64_STANDARD"),
            "arn": arn("eks", session, f"nodegroup/{group}/{unique}", inputs=inputs),
            "capacityType": inputs.get("capacityType", "ON_DEMAND"),
            "diskSize": inputs.get("diskSize", 0 if inputs.get("launchTemplate") else 20),
            "instanceTypes": inputs.get("instanceTypes", ["t3.medium"]),
            "nodeGroupNamePrefix": inputs.get("nodeGroupNamePrefix", ""),
            "releaseVersion": inputs.get("releaseVersion", f"{version}.0-20261120"),
            "resources": [{"autoscalingGroups": [{"name": f"eks-{inputs['nodeGroupName']}-{unique}"}]}],
            "status": "ACTIVE",
            "version": version,
        }
        if template := session.find(TEMPLATE, at(inputs, "launchTemplate.id") or ""):
            made["launchTemplate.name"] = template.outputs["name"]
        return made

    def shown_name(self, inputs: Inputs) -> str:
        return f"{inputs.get('clusterName')}:{inputs.get('nodeGroupName')}"
