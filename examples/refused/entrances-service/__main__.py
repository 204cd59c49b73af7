"""A chart's own web page, with a load balancer of its own."""

from pulumi_kubernetes.helm.v3 import Release

Release(
    "web",
    chart="open-webui",
    version="6.4.0",
    namespace="assistants",
    repository_opts={"repo": "https://helm.openwebui.com"},
    values={"service": {"type": "LoadBalancer", "port": 80}},
)
