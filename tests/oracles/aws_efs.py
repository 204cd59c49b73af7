"""What EFS refuses although the request that makes a file system does not say so."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import botocore.session

Inputs = Mapping[str, Any]

MIBPS = (1, 3414)
"""EFS API, CreateFileSystemRequest$ProvisionedThroughputInMibps."""

LIFECYCLE = {
    "transitionToIa": "TransitionToIARules",
    "transitionToArchive": "TransitionToArchiveRules",
    "transitionToPrimaryStorageClass": "TransitionToPrimaryStorageClassRules",
}
"""Parts of a lifecycle policy, and the shapes of EFS's model that list what each takes."""


def _file_system(inputs: Inputs) -> Iterator[str]:
    # The provider refuses it before EFS does: terraform-provider-aws@0389f46, efs/file_system.go.
    encrypted = inputs.get("encrypted", False)
    if "kmsKeyId" in inputs and encrypted is not None and str(encrypted).lower() != "true":
        yield "/encrypted: encrypted must be set to true when kms_key_id is specified"
    throughput = inputs.get("provisionedThroughputInMibps")
    if inputs.get("throughputMode") == "provisioned" and "provisionedThroughputInMibps" not in inputs:
        yield "/throughputMode: provisioned needs provisionedThroughputInMibps"
    if throughput is not None and not MIBPS[0] <= throughput <= MIBPS[1]:
        yield f"/provisionedThroughputInMibps: {throughput} is not {MIBPS[0]} to {MIBPS[1]}"
    if inputs.get("performanceMode") == "maxIO" and "availabilityZoneName" in inputs:
        yield "/performanceMode: maxIO is not supported in one zone"
    for index, policy in enumerate(inputs.get("lifecyclePolicies") or []):
        for part, rule in policy.items():
            if part in LIFECYCLE and rule is not None and rule not in _enum(LIFECYCLE[part]):
                yield f"/lifecyclePolicies/{index}/{part}: {rule!r} is not one of {', '.join(_enum(LIFECYCLE[part]))}"


def _enum(shape: str) -> list[str]:
    return list(botocore.session.get_session().get_service_model("efs").shape_for(shape).enum)


RULES: dict[str, tuple[Callable[[Inputs], Iterator[str]], ...]] = {"aws:efs/fileSystem:FileSystem": (_file_system,)}
"""Rules by Pulumi type."""
