"""What the annotations of AWS's load balancer controller make of an Ingress: whether it is public, and whether its
listeners ask who calls.

Source: AWS Load Balancer Controller, Ingress annotations, and its code for what they leave open.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from gpuyard.review.values import mapping, number, sequence

_ALB = "alb.ingress.kubernetes.io/"
INBOUND = f"{_ALB}inbound-cidrs"

_LOGINS = ("cognito", "oidc")


def public_by(annotations: Mapping[str, str]) -> str | None:
    """The annotation that gives an Ingress a public address; None where security groups of one's own say who may
    enter, or no annotation gives it one.

    A network load balancer in front may be public while the one behind it is not.
    """
    fronts = [(f"{_ALB}scheme", f"{_ALB}security-groups")]
    if annotations.get(f"{_ALB}enable-frontend-nlb") == "true":
        fronts.append((f"{_ALB}frontend-nlb-scheme", f"{_ALB}frontend-nlb-security-groups"))
    for scheme, groups in fronts:
        if annotations.get(scheme) == "internet-facing" and groups not in annotations:
            return scheme
    return None


def authenticates(annotations: Mapping[str, str]) -> bool:
    """Whether each listener asks who calls.

    Those of HTTP never do: they pass everything on, unless they redirect. In a group of Ingresses another one may say
    the redirect; and where no listener is named, the class may name a certificate.
    """
    listeners = list(_listeners(annotations.get(f"{_ALB}listen-ports")))
    redirects = f"{_ALB}ssl-redirect" in annotations or f"{_ALB}group.name" in annotations
    secure = {port for protocol, port in listeners if protocol == "HTTPS"}
    if listeners and (not secure or (len(secure) < len(listeners) and not redirects)):
        return False
    if annotations.get(f"{_ALB}auth-type") in _LOGINS:
        return annotations.get(f"{_ALB}auth-on-unauthenticated-request") != "allow"
    if mapping(_parsed(annotations.get(f"{_ALB}jwt-validation"))):
        return True
    mutual = [mapping(entry) for entry in sequence(_parsed(annotations.get(f"{_ALB}mutual-authentication")))]
    # `passthrough` hands the certificate on without looking at it.
    verified = {number(entry.get("port")) for entry in mutual if entry.get("mode") == "verify"}
    return bool(verified) and (secure or {443}) <= verified


def _listeners(text: str | None) -> Iterator[tuple[str, int | None]]:
    for entry in sequence(_parsed(text)):
        for protocol, port in mapping(entry).items():
            yield protocol, number(port)


def _parsed(text: str | None) -> Any:
    """What an annotation says; None where it is no JSON, which the controller refuses."""
    try:
        return json.loads(text or "null")
    except ValueError:
        return None
