"""An Ingress before a chat, which anybody on the internet may use."""

from pulumi_kubernetes.networking.v1 import Ingress

Ingress(
    "chat",
    metadata={
        "name": "chat",
        "namespace": "assistants",
        "annotations": {
            "alb.ingress.kubernetes.io/scheme": "internet-facing",
            "alb.ingress.kubernetes.io/target-type": "ip",
        },
    },
    spec={
        "ingressClassName": "alb",
        "defaultBackend": {"service": {"name": "chat", "port": {"number": 443}}},
    },
)
