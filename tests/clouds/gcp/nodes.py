"""Node pools of GKE. What forces a new resource: terraform-provider-google-beta, services/container, ForceNew."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from typing import Any, ClassVar

from clouds.cloud import Thing
from clouds.gcp.gke import CLUSTER, NODE_CONFIG_REPLACES, exact, minor
from clouds.gcp.iam import require_member
from clouds.gcp.kinds import GcpKind, Link, paths
from clouds.kind import AutoName, Inputs, Session
from clouds.paths import at
from clouds.refused import RefusedError

POOL = "gcp:container/nodePool:NodePool"


class NodePool(GcpKind):
    token, what, service = POOL, "NodePool", "container"
    create, update, delete = "nodePools.create", "nodePools.update", "nodePools.delete"
    autoname = AutoName("name", 40)
    defaults: ClassVar[Mapping[str, Any]] = {
        "management.autoRepair": True,
        "management.autoUpgrade": True,
        "nodeConfig.shieldedInstanceConfig.enableIntegrityMonitoring": True,
        "upgradeSettings.strategy": "SURGE",
    }
    source = "container/resource_container_node_pool.go@93c65b2"
    replaces = paths(
        "cluster initialNodeCount location maxPodsPerNode name namePrefix networkConfig.acceleratorNetworkProfile "
        "networkConfig.additionalNodeNetworkConfigs networkConfig.additionalPodNetworkConfigs "
        "networkConfig.createPodRange networkConfig.podCidrOverprovisionConfig networkConfig.podIpv4CidrBlock "
        "networkConfig.podRange networkConfig.subnetwork placementPolicy project queuedProvisioning"
    ) | {f"nodeConfig.{part}" for part in NODE_CONFIG_REPLACES.split()}
    sets = paths("nodeLocations")
    kept = paths(
        "initialNodeCount location management maxPodsPerNode networkConfig nodeConfig nodeCount nodeLocations project "
        "upgradeSettings version"
    )
    computed = (
        "initialNodeCount",
        "instanceGroupUrls",
        "location",
        "managedInstanceGroupUrls",
        "maxPodsPerNode",
        "namePrefix",
        "nodeCount",
        "nodeLocations",
        "operation",
        "project",
        "upgradeSettings",
        "version",
    )
    references = (Link("cluster", CLUSTER, "notFound", "Not found: {}.", holds=False, status=404),)
    taken = ("alreadyExists", "Already exists: {}.")

    def identify(self, session: Session, inputs: Inputs) -> str:
        return f"{self._cluster(session, inputs).id}/nodePools/{inputs['name']}"

    def _cluster(self, session: Session, inputs: Inputs) -> Thing:
        reference = self.references[0]
        return next(t for t in session.cloud.resources(CLUSTER) if reference.refers(inputs, t))

    def refuse_create(self, session: Session, inputs: Inputs) -> None:
        account = at(inputs, "nodeConfig.serviceAccount")
        require_member(session, f"serviceAccount:{account}" if account else None)
        self._refuse_version(session, inputs)

    def refuse_update(self, session: Session, thing: Thing, inputs: Inputs) -> None:
        self._refuse_version(session, inputs)

    def _refuse_version(self, session: Session, inputs: Inputs) -> None:
        asked, master = inputs.get("version"), self._cluster(session, inputs).outputs["masterVersion"]
        if asked and minor(asked) > minor(master):
            raise RefusedError(
                "badRequest", f"Node version {asked} must not be greater than the master version {master}."
            )

    def outputs(self, session: Session, name: str, inputs: Inputs, before: Inputs) -> dict[str, Any]:
        cluster = self._cluster(session, inputs)
        zones = inputs.get("nodeLocations") or cluster.outputs.get("nodeLocations") or [cluster.outputs["location"]]
        project = cluster.outputs["project"]
        known = before.get("instanceGroupUrls") or []
        groups = [
            next((url for url in known if f"/{zone}/" in url), None)
            or f"https://www.googleapis.com/compute/v1/projects/{project}/zones/{zone}/instanceGroupManagers/gke-"
            f"{inputs['name']}-{secrets.token_hex(4)}-grp"
            for zone in zones
        ]
        asked = inputs.get("version")
        # Nodes that come for a time are not replaced while they are there: the container API, NodePoolUpdateStrategy.
        short_lived = at(inputs, "nodeConfig.flexStart") or at(inputs, "queuedProvisioning.enabled")
        surge = {"maxSurge": 1, "maxUnavailable": 0, "strategy": "SURGE"}
        return {
            "initialNodeCount": inputs.get("initialNodeCount", 0),
            "instanceGroupUrls": groups,
            "location": cluster.outputs["location"],
            "managedInstanceGroupUrls": [url.replace("instanceGroupManagers", "instanceGroups") for url in groups],
            "maxPodsPerNode": inputs.get("maxPodsPerNode", 110),
            "namePrefix": "",
            "nodeCount": inputs.get("nodeCount", inputs.get("initialNodeCount", 0)),
            "nodeLocations": zones,
            "operation": "",
            "project": project,
            "upgradeSettings": {"strategy": "SHORT_LIVED"} if short_lived else inputs.get("upgradeSettings", surge),
            "version": exact(asked) if asked else before.get("version") or cluster.outputs["masterVersion"],
        }
