"""The model of an endpoint: one of a hub, or one of one's own store."""

from __future__ import annotations

from typing import Annotated, Any, Self

from pydantic import BeforeValidator, Discriminator, Field, Tag, model_validator

from gpuyard.components.serving import template
from gpuyard.components.spec import SecretKey, Spec, pattern


def _quoted(value: Any) -> Any:
    if isinstance(value, int | float) and not isinstance(value, bool):
        raise ValueError(
            f"revision was read as the number {value}: YAML takes a revision of digits, or of digits and one e, "
            'for a number: put it in quotes, as in revision: "0123…"'
        )
    return value


def _referenced(value: Any) -> Any:
    if isinstance(value, str):
        raise ValueError(  # The value is a credential: the message must not repeat it.
            "token is plain text, and a stack file is no place for a secret: put it into a Kubernetes Secret of the "
            "tenant's namespace and give {secret: <its name>, key: <key inside>}"
        )
    return value


Revision = Annotated[
    str,
    BeforeValidator(_quoted),
    pattern(r"^[0-9a-f]{40}$", "the whole commit id, 40 digits, in quotes; a branch can move"),
]
"""A full commit id of a model's repository: a branch or a tag can move under a running fleet."""

Role = Annotated[
    str,
    Field(
        pattern=r"^(arn:aws[a-z-]*:iam::[0-9]{12}:role/[A-Za-z0-9+=,.@_/-]{1,512}"
        r"|[a-z][-a-z0-9]{4,28}[a-z0-9]@[-a-z0-9.]+\.iam\.gserviceaccount\.com)$"
    ),
]
"""An AWS role's ARN, or the e-mail address of a Google service account."""


class HubModel(Spec):
    """A model of the Hugging Face hub."""

    id: Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,95}/[A-Za-z0-9][A-Za-z0-9._-]{0,95}$")]
    """Owner and name, such as meta-llama/Llama-3.3-70B-Instruct."""
    revision: Revision
    """The commit that is served."""
    token: Annotated[SecretKey, BeforeValidator(_referenced)] | None = None
    """Access token of the hub, for a gated or private model."""

    @property
    def source(self) -> template.Source:
        """Where the model comes from."""
        return "hub"


class StoredModel(Spec):
    """A model of one's own, in an object store or on a volume."""

    uri: Annotated[
        str,
        Field(
            pattern=r"^((s3|gs)://[a-z0-9][a-z0-9._-]{1,61}[a-z0-9]|pvc://[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?)"
            r"(/[A-Za-z0-9._=-]+)*$"
        ),
    ]
    """Folder of the model: s3://bucket/path, gs://bucket/path or pvc://claim/path. More than one replica needs a claim
    that many nodes may mount to read. A changed model belongs in a new folder, for what runs is not read again."""
    role: Role | None = None
    """Identity that may read the bucket; left out where anyone may. On AWS the role trusts the cluster's OIDC provider
    for the service account <tenant>/<endpoint>; on Google Cloud that account is its workload identity user."""
    region: Annotated[str, Field(pattern=r"^[a-z]{2}(-[a-z]+)+-[0-9]$")] | None = None
    """Region of an S3 bucket; the cluster's own when left out."""

    @model_validator(mode="after")
    def _identity_of_its_store(self) -> Self:
        needs = {"s3": "arn:", "gs": ""}.get(self.source)
        if self.role is not None and (needs is None or self.role.startswith("arn:") != (needs == "arn:")):
            remedy = {
                "s3": "give the ARN of an AWS role",
                "gs": "give the e-mail address of a Google service account",
            }.get(self.source, "leave role out")
            raise ValueError(f"role {self.role} is no identity for {self.uri}: {remedy}")
        if self.region is not None and self.source != "s3":
            raise ValueError(f"region {self.region} is given for {self.uri}: only an s3:// address takes one")
        return self

    @property
    def source(self) -> template.Source:
        """Where the model comes from."""
        scheme = self.uri.split("://", 1)[0]
        return "s3" if scheme == "s3" else "gs" if scheme == "gs" else "pvc"


def _model_kind(value: Any) -> str | None:
    keys = value if isinstance(value, dict) else vars(value) if isinstance(value, Spec) else {}
    return "hub" if "id" in keys else "stored" if "uri" in keys else None


Model = Annotated[
    Annotated[HubModel, Tag("hub")] | Annotated[StoredModel, Tag("stored")],
    Discriminator(
        _model_kind,
        custom_error_type="model_kind",
        custom_error_message="a model has an id (of the hub, with a revision) or a uri (of your own store): give one",
    ),
]
