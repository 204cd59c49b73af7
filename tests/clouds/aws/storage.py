"""Keys, buckets, images and file systems. What forces a new resource: terraform-provider-aws, ForceNew."""

from __future__ import annotations

import secrets
import uuid
from typing import Any, ClassVar

from clouds.aws.kinds import AwsKind, arn, marked, region
from clouds.aws.vpc import in_subnets, zone_id
from clouds.kind import AutoName, Inputs, Reference, Session

BUCKET = "aws:s3/bucket:Bucket"


class Key(AwsKind):
    token, what, service = "aws:kms/key:Key", "KMS Key", "KMS"
    create, update, delete = "CreateKey", "UpdateKeyDescription", "ScheduleKeyDeletion"
    defaults: ClassVar[dict[str, Any]] = {
        "customerMasterKeySpec": "SYMMETRIC_DEFAULT",
        "isEnabled": True,
        "keyUsage": "ENCRYPT_DECRYPT",
    }
    source = "kms/key.go@00a3530"
    replaces = marked("region customKeyStoreId customerMasterKeySpec keyUsage multiRegion xksKeyId")
    kept = marked("policy description multiRegion rotationPeriodInDays")
    computed = ("arn", "keyId", "policy", "multiRegion", "rotationPeriodInDays", "description")
    remains = "KMS destroys a key after its waiting period"

    def identify(self, session: Session, inputs: Inputs) -> str:
        return str(uuid.uuid4())

    def outputs(self, session: Session, name: str, inputs: Inputs, before: Inputs) -> dict[str, Any]:
        return {
            "arn": arn("kms", session, f"key/{name}", inputs=inputs),
            "keyId": name,
            "policy": inputs.get("policy", '{"Version":"2012-10-17","Statement":[]}'),
            "multiRegion": inputs.get("multiRegion", False),
            "rotationPeriodInDays": inputs.get("rotationPeriodInDays", 365 if inputs.get("enableKeyRotation") else 0),
            "description": inputs.get("description", ""),
        }


class Bucket(AwsKind):
    token, what, service = BUCKET, "S3 Bucket", "S3"
    create, update, delete = "CreateBucket", "PutBucketTagging", "DeleteBucket"
    autoname = AutoName("bucket", 63, str.lower)
    source = "s3/bucket.go"
    replaces = marked("region bucket bucketPrefix objectLockEnabled bucketNamespace")
    kept = marked("objectLockEnabled policy requestPayer accelerationStatus acl")
    computed = (
        "arn",
        "bucketDomainName",
        "bucketRegion",
        "bucketRegionalDomainName",
        "hostedZoneId",
        "objectLockEnabled",
        "requestPayer",
    )
    taken = ("BucketAlreadyOwnedByYou", "The bucket {} exists, and you own it already.")
    in_use = ("BucketNotEmpty", "The bucket you tried to delete is not empty")

    def identify(self, session: Session, inputs: Inputs) -> str:
        return str(inputs["bucket"])

    def outputs(self, session: Session, name: str, inputs: Inputs, before: Inputs) -> dict[str, Any]:
        place = region(session, inputs)
        return {
            "arn": f"arn:aws:s3:::{name}",
            "bucketDomainName": f"{name}.s3.amazonaws.com",
            "bucketRegion": place,
            "bucketRegionalDomainName": f"{name}.s3.{place}.amazonaws.com",
            "hostedZoneId": "Z3AQBSTGFYJSTF",
            "objectLockEnabled": inputs.get("objectLockEnabled", False),
            "requestPayer": "BucketOwner",
        }


class Repository(AwsKind):
    token, what, service = "aws:ecr/repository:Repository", "ECR Repository", "ECR"
    create, update, delete = "CreateRepository", "PutImageTagMutability", "DeleteRepository"
    autoname = AutoName("name", 256)
    defaults: ClassVar[dict[str, Any]] = {"imageTagMutability": "MUTABLE"}
    source = "ecr/repository.go"
    replaces = marked("region name encryptionConfigurations")
    computed = ("arn", "registryId", "repositoryUrl")
    taken = ("RepositoryAlreadyExistsException", "The repository with name '{}' already exists in the registry")

    def identify(self, session: Session, inputs: Inputs) -> str:
        return str(inputs["name"])

    def outputs(self, session: Session, name: str, inputs: Inputs, before: Inputs) -> dict[str, Any]:
        return {
            "arn": arn("ecr", session, f"repository/{name}", inputs=inputs),
            "registryId": session.account,
            "repositoryUrl": f"{session.account}.dkr.ecr.{region(session, inputs)}.amazonaws.com/{name}",
        }


class LustreFileSystem(AwsKind):
    token, what, service = "aws:fsx/lustreFileSystem:LustreFileSystem", "FSx for Lustre File System", "FSx"
    prefix = "fs"
    create, update, delete = "CreateFileSystem", "UpdateFileSystem", "DeleteFileSystem"
    defaults: ClassVar[dict[str, Any]] = {"storageType": "SSD", "deploymentType": "SCRATCH_1"}
    source = "fsx/lustre_file_system.go"
    replaces = marked(
        "region backupId copyTagsToBackups deploymentType driveCacheType efaEnabled exportPath "
        "fileSystemTypeVersion importPath importedFileChunkSize kmsKeyId securityGroupIds storageType "
        "subnetIds"
    )
    kept = marked("kmsKeyId exportPath weeklyMaintenanceStartTime dailyAutomaticBackupStartTime")
    computed = (
        "arn",
        "dnsName",
        "kmsKeyId",
        "mountName",
        "networkInterfaceIds",
        "ownerId",
        "vpcId",
        "weeklyMaintenanceStartTime",
        "fileSystemTypeVersion",
    )
    references = (in_subnets("subnetIds"),)

    def outputs(self, session: Session, name: str, inputs: Inputs, before: Inputs) -> dict[str, Any]:
        place = region(session, inputs)
        subnet = session.find("aws:ec2/subnet:Subnet", inputs["subnetIds"])
        return {
            "arn": arn("fsx", session, f"file-system/{name}", inputs=inputs),
            "dnsName": f"{name}.fsx.{place}.amazonaws.com",
            "kmsKeyId": inputs.get("kmsKeyId", arn("kms", session, "alias/aws/fsx", inputs=inputs)),
            "mountName": before.get("mountName") or secrets.token_hex(4),
            "networkInterfaceIds": before.get("networkInterfaceIds") or [f"eni-{secrets.token_hex(9)[:17]}"],
            "ownerId": session.account,
            "vpcId": subnet.outputs["vpcId"] if subnet else "",
            "weeklyMaintenanceStartTime": inputs.get("weeklyMaintenanceStartTime", "1:05:00"),
            "fileSystemTypeVersion": inputs.get("fileSystemTypeVersion", "2.15"),
        }


class FileSystem(AwsKind):
    token, what, service = "aws:efs/fileSystem:FileSystem", "EFS File System", "EFS"
    prefix, invalid_code = "fs", "BadRequest"
    create, update, delete = "CreateFileSystem", "UpdateFileSystem", "DeleteFileSystem"
    defaults: ClassVar[dict[str, Any]] = {"throughputMode": "bursting"}
    source = "efs/file_system.go@0389f46"
    replaces = marked("region availabilityZoneName creationToken encrypted kmsKeyId performanceMode")
    kept = marked("availabilityZoneName creationToken encrypted kmsKeyId performanceMode protection")
    computed = (
        "arn",
        "availabilityZoneId",
        "availabilityZoneName",
        "creationToken",
        "dnsName",
        "encrypted",
        "kmsKeyId",
        "name",
        "numberOfMountTargets",
        "ownerId",
        "performanceMode",
        "protection",
        "sizeInBytes",
    )
    unique = "creationToken"
    taken = ("FileSystemAlreadyExists", "A file system with the same creation token exists.")

    def outputs(self, session: Session, name: str, inputs: Inputs, before: Inputs) -> dict[str, Any]:
        zone = inputs.get("availabilityZoneName", "")
        encrypted = inputs.get("encrypted", False)
        key = (
            inputs.get("kmsKeyId")
            or before.get("kmsKeyId")
            or arn("kms", session, f"key/{uuid.uuid4()}", inputs=inputs)
        )
        return {
            "arn": arn("elasticfilesystem", session, f"file-system/{name}", inputs=inputs),
            "availabilityZoneId": zone_id(zone) if zone else "",
            "availabilityZoneName": zone,
            "creationToken": inputs.get("creationToken")
            or before.get("creationToken")
            or f"terraform-{secrets.token_hex(13)}",
            "dnsName": f"{name}.efs.{region(session, inputs)}.amazonaws.com",
            "encrypted": encrypted,
            # Where no key is given, it is the account's own for EFS.
            "kmsKeyId": key if encrypted else "",
            "name": inputs.get("tags", {}).get("Name", ""),
            "numberOfMountTargets": 0,
            "ownerId": session.account,
            "performanceMode": inputs.get("performanceMode", "generalPurpose"),
            "protection": inputs.get("protection", {"replicationOverwrite": "ENABLED"}),
            "sizeInBytes": [{"value": 6144, "valueInIa": 0, "valueInStandard": 6144}],
        }


class BucketObject(AwsKind):
    token, what, service = "aws:s3/bucketObject:BucketObject", "S3 Object", "S3"
    create, update, delete = "PutObject", "PutObject", "DeleteObject"
    autoname = AutoName("key", 1024)
    source = "s3/bucket_object.go"
    replaces = marked("region bucket key")
    computed = ("acl", "arn", "contentType", "etag", "storageClass", "versionId", "serverSideEncryption")
    references = (Reference("bucket", BUCKET, "NoSuchBucket", "The specified bucket {} does not exist", by="bucket"),)

    def identify(self, session: Session, inputs: Inputs) -> str:
        return f"{inputs['bucket']}/{inputs['key']}"

    def outputs(self, session: Session, name: str, inputs: Inputs, before: Inputs) -> dict[str, Any]:
        return {
            "acl": inputs.get("acl", "private"),
            "arn": f"arn:aws:s3:::{name}",
            "contentType": inputs.get("contentType", "application/octet-stream"),
            "etag": secrets.token_hex(16),
            "storageClass": inputs.get("storageClass", "STANDARD"),
            "versionId": "",
            "serverSideEncryption": inputs.get("serverSideEncryption", "AES256"),
        }
