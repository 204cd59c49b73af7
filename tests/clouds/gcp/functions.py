"""Functions of Pulumi's Google Cloud provider that programs ask."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from clouds.cloud import PROJECT_NUMBER
from clouds.gcp.gke import DEFAULT_VERSION, OFFERED, exact
from clouds.gcp.kinds import project
from clouds.kind import Session
from clouds.package import function

Arguments = Mapping[str, Any]


@function("gcp:organizations/getProject:getProject")
def get_project(session: Session, arguments: Arguments) -> Arguments:
    name = arguments.get("projectId") or project(session, {})
    return {
        "projectId": name,
        "id": f"projects/{name}",
        "name": name,
        "number": PROJECT_NUMBER,
        "labels": {},
        "effectiveLabels": {},
        "pulumiLabels": {},
    }


@function("gcp:organizations/getClientConfig:getClientConfig")
def client(session: Session, _: Arguments) -> Arguments:
    return {
        "accessToken": "",
        "project": session.account,
        "region": session.region,
        "zone": "",
        "defaultLabels": {},
        "id": f'projects/"{session.account}"/regions/"{session.region}"/zones/""',
    }


@function("gcp:compute/getZones:getZones")
def zones(session: Session, arguments: Arguments) -> Arguments:
    place = arguments.get("region") or session.region
    names = [f"{place}-{letter}" for letter in ("a", "b", "c", "f")]
    return {"names": names, "region": place, "project": project(session, arguments), "id": place}


@function("gcp:container/getEngineVersions:getEngineVersions")
def versions(session: Session, arguments: Arguments) -> Arguments:
    prefix = arguments.get("versionPrefix") or ""
    offered = [exact(version) for version in reversed(OFFERED) if version.startswith(prefix.rstrip("."))]
    newest = offered[0] if offered else ""
    return {
        "defaultClusterVersion": exact(DEFAULT_VERSION),
        "latestMasterVersion": newest,
        "latestNodeVersion": newest,
        "validMasterVersions": offered,
        "validNodeVersions": offered,
        "releaseChannelDefaultVersion": {"REGULAR": exact(DEFAULT_VERSION)},
        "releaseChannelLatestVersion": {"REGULAR": newest},
        "releaseChannelUpgradeTargetVersion": {"REGULAR": newest},
        "location": arguments.get("location") or session.region,
        "project": project(session, arguments),
        "id": "versions",
    }
