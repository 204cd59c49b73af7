"""Clusters of GKE. What forces a new resource: terraform-provider-google-beta, services/container, ForceNew."""

from __future__ import annotations

import base64
import re
import secrets
from collections.abc import Mapping
from typing import Any, ClassVar

from clouds.cloud import Thing
from clouds.gcp.iam import KEY, CryptoKeyIAMMember, require_member
from clouds.gcp.kinds import GcpKind, paths, project
from clouds.gcp.network import NETWORK, SUBNET, link
from clouds.kind import AutoName, Inputs, Session
from clouds.paths import at
from clouds.refused import RefusedError

CLUSTER = "gcp:container/cluster:Cluster"

OFFERED = {"1.32": 9, "1.33": 5, "1.34": 4, "1.35": 3, "1.36": 1}
"""Minor versions of the channels and the newest patch of each, as these tests have them."""

DEFAULT_VERSION = "1.35"
"""What GKE takes when no version is asked for."""

VERSION = re.compile(r"1\.([0-9]+)(\.[0-9]+(-gke\.[0-9]+)?)?")

NODE_CONFIG_REPLACES = """
advancedMachineFeatures bootDiskKmsKey confidentialNodes.confidentialInstanceType enableConfidentialStorage
ephemeralStorageConfig ephemeralStorageLocalSsdConfig flexStart guestAccelerators hostMaintenancePolicy
localNvmeSsdBlockConfig localSsdCount localSsdEncryptionMode maxRunDuration metadata minCpuPlatform nodeGroup oauthScopes
preemptible reservationAffinity sandboxConfig secondaryBootDisks serviceAccount shieldedInstanceConfig soleTenantConfig
spot
"""
"""Parts of a node's configuration that only new nodes have: services/container/node_config.go."""


def exact(version: str) -> str:
    """The version that GKE runs for one that was asked for: 1.35 is the newest of its patches."""
    if version.count(".") > 1:
        return version if "-gke." in version else f"{version}-gke.1000"
    return f"{version}.{OFFERED[version]}-gke.1000"


def minor(version: str) -> int:
    """The minor version: 35 of 1.35.3-gke.1000."""
    found = VERSION.fullmatch(version)
    return int(found.group(1)) if found else 0


class Cluster(GcpKind):
    token, what, service = CLUSTER, "cluster", "container"
    create, update, delete = "clusters.create", "clusters.update", "clusters.delete"
    autoname = AutoName("name", 40, str.lower)
    defaults: ClassVar[Mapping[str, Any]] = {
        "deletionProtection": True,
        "enableShieldedNodes": True,
        "network": "default",
        "ipAllocationPolicy.stackType": "IPV4",
        "nodeConfig.shieldedInstanceConfig.enableIntegrityMonitoring": True,
    }
    source = "container/resource_container_cluster.go@93c65b2"
    replaces = paths(
        "clusterIpv4Cidr confidentialNodes dataplaneOptimizationMode datapathProvider defaultMaxPodsPerNode description "
        "enableAutopilot enableKubernetesAlpha enableTpu initialNodeCount ipAllocationPolicy.clusterIpv4CidrBlock "
        "ipAllocationPolicy.clusterSecondaryRangeName ipAllocationPolicy.servicesIpv4CidrBlock "
        "ipAllocationPolicy.servicesSecondaryRangeName ipAllocationPolicy.podCidrOverprovisionConfig location "
        "masterAuth.clientCertificateConfig name network networkingMode nodePools "
        "privateClusterConfig.masterIpv4CidrBlock privateClusterConfig.privateEndpointSubnetwork project subnetwork"
    ) | {f"nodeConfig.{part}" for part in NODE_CONFIG_REPLACES.split()}
    sets = paths(
        "nodeLocations masterAuthorizedNetworksConfig.cidrBlocks loggingConfig.enableComponents "
        "monitoringConfig.enableComponents"
    )
    kept = paths(
        "addonsConfig anonymousAuthenticationConfig clusterIpv4Cidr controlPlaneEndpointsConfig costManagementConfig "
        "databaseEncryption datapathProvider defaultMaxPodsPerNode ipAllocationPolicy location loggingConfig masterAuth "
        "masterAuthorizedNetworksConfig monitoringConfig nodeConfig nodeLocations nodePoolDefaults "
        "privateClusterConfig project rbacBindingConfig releaseChannel subnetwork"
    )
    computed = (
        "clusterIpv4Cidr",
        "effectiveLabels",
        "endpoint",
        "labelFingerprint",
        "masterAuth.clientCertificate",
        "masterAuth.clientKey",
        "masterAuth.clusterCaCertificate",
        "masterVersion",
        "nodeVersion",
        "operation",
        "project",
        "pulumiLabels",
        "selfLink",
        "servicesIpv4Cidr",
    )
    renewed: ClassVar[Mapping[str, tuple[str, ...]]] = {
        "minMasterVersion": ("masterVersion",),
        "resourceLabels": ("labelFingerprint",),
    }
    secret = ("masterAuth.clientKey",)
    references = (link("network", NETWORK), link("subnetwork", SUBNET))
    taken = ("alreadyExists", "Already exists: {}.")
    id_format = "projects/{project}/locations/{location}/clusters/{name}"

    def refuse_create(self, session: Session, inputs: Inputs) -> None:
        asked = inputs.get("minMasterVersion")
        if asked and f"1.{minor(asked)}" not in OFFERED:
            raise RefusedError("badRequest", f'Master version "{asked}" is unsupported.')
        self._refuse_key(session, inputs)
        self._refuse_ranges(session, inputs)
        account = at(inputs, "nodeConfig.serviceAccount")
        require_member(session, f"serviceAccount:{account}" if account else None)

    def _refuse_key(self, session: Session, inputs: Inputs) -> None:
        name = at(inputs, "databaseEncryption.keyName")
        if name is None:
            return
        if session.find(KEY, name) is None:
            raise RefusedError("badRequest", f"Cloud KMS key {name} not found.")
        grants = session.having(CryptoKeyIAMMember.token, "cryptoKeyId", name)
        if not any("container-engine-robot" in grant.inputs["member"] for grant in grants):
            message = (
                f"Cloud KMS key {name}: the GKE service agent has no cloudkms.cryptoKeyVersions.useToEncrypt on it."
            )
            raise RefusedError("badRequest", message)

    def _refuse_ranges(self, session: Session, inputs: Inputs) -> None:
        subnet = session.find(SUBNET, inputs.get("subnetwork") or "")
        if subnet is None:
            return
        ranges = {part["rangeName"] for part in subnet.outputs["secondaryIpRanges"]}
        for key in ("clusterSecondaryRangeName", "servicesSecondaryRangeName"):
            name = at(inputs, f"ipAllocationPolicy.{key}")
            if name is not None and name not in ranges:
                raise RefusedError(
                    "badRequest", f'Secondary range "{name}" does not exist in subnetwork "{subnet.id}".'
                )

    def refuse_update(self, session: Session, thing: Thing, inputs: Inputs) -> None:
        old, new = thing.outputs["masterVersion"], inputs.get("minMasterVersion")
        if not new or minor(new) <= minor(old):
            return  # the provider asks for upgrades only: resource_container_cluster.go, min_master_version
        if f"1.{minor(new)}" not in OFFERED:
            raise RefusedError("badRequest", f'Master version "{new}" is unsupported.')
        if minor(new) > minor(old) + 1:
            message = (
                f'Master cannot be upgraded to "{new}": cannot upgrade the master more than a minor version at a time'
            )
            raise RefusedError("badRequest", message)

    def refuse_delete(self, session: Session, thing: Thing) -> None:
        # What the state says counts, not the cloud: resource_container_cluster.go, resourceContainerClusterDelete.
        if thing.outputs.get("deletionProtection"):
            raise RefusedError(
                "deletionProtection",
                "Cannot destroy cluster because deletion_protection is set to true. Set it to false to proceed with "
                "cluster deletion.",
            )

    def outputs(self, session: Session, name: str, inputs: Inputs, before: Inputs) -> dict[str, Any]:
        authority = base64.b64encode((session.cloud.setting("plane_ca") or "no certificate").encode()).decode()
        address = (session.cloud.setting("plane_url") or "https://192.0.2.10").removeprefix("https://")
        version = exact(inputs.get("minMasterVersion") or DEFAULT_VERSION)
        if before and minor(before["masterVersion"]) >= minor(version):
            version = before["masterVersion"]
        labels = inputs.get("resourceLabels", {})
        return {
            "clusterIpv4Cidr": before.get("clusterIpv4Cidr") or "10.0.0.0/14",
            "effectiveLabels": labels,
            "endpoint": address,
            "labelFingerprint": secrets.token_hex(4),
            "masterAuth.clientCertificate": "",
            "masterAuth.clientKey": "",
            "masterAuth.clusterCaCertificate": authority,
            "masterVersion": version,
            "nodeVersion": before.get("nodeVersion") or version,
            "operation": "",
            "project": project(session, inputs),
            "pulumiLabels": labels,
            "selfLink": f"https://container.googleapis.com/v1/{name}",
            "servicesIpv4Cidr": before.get("servicesIpv4Cidr") or "10.4.0.0/20",
        }

    def deleted(self, session: Session, thing: Thing) -> None:
        from clouds.gcp.nodes import POOL

        for pool in session.cloud.resources(POOL):
            if pool.id.startswith(f"{thing.id}/"):
                session.cloud.remove(pool)
