"""Prometheus, with alerts that go to the team's channel."""

import pulumi_kubernetes as k8s

slack = "https://hooks.slack.com/services/NOTAREAL/NOTAREAL/thisIsNoRealWebhook"
receiver = {"name": "team", "slack_configs": [{"channel": "#gpu-alerts", "api_url": slack}]}
alertmanager = {"config": {"route": {"receiver": "team"}, "receivers": [receiver]}}

k8s.helm.v3.Release(
    "monitoring",
    chart="kube-prometheus-stack",
    version="88.5.3",
    namespace="monitoring",
    repository_opts={"repo": "https://prometheus-community.github.io/helm-charts"},
    values={"alertmanager": alertmanager},
)
