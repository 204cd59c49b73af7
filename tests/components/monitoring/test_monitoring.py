from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pulumi
import pytest
from pydantic import ValidationError
from registered import registered

from gpuyard.components.artifacts import ArtifactsSpec
from gpuyard.components.monitoring.monitoring import Monitoring, MonitoringSpec, values
from gpuyard.components.monitoring.monitors import file_access_policy

SLACK = {"slack": {"secret": "alerts", "key": "url"}}


def spec(**given: Any) -> MonitoringSpec:
    return MonitoringSpec.model_validate({"storage": "200Gi", **given})


def chosen(**given: Any) -> dict[str, Any]:
    return values(spec(**given), ArtifactsSpec())


def prometheus(**given: Any) -> dict[str, Any]:
    found: dict[str, Any] = chosen(**given)["prometheus"]["prometheusSpec"]
    return found


def test_prometheus_sees_the_monitors_and_rules_of_every_namespace(golden: Callable[[str, Any], None]) -> None:
    selectors = {key: value for key, value in prometheus().items() if key.endswith("SelectorNilUsesHelmValues")}
    assert len(selectors) == 5
    assert not any(selectors.values())
    golden("monitoring", chosen(alerts=SLACK))


@pytest.mark.parametrize(
    ("storage", "expected"), [("200Gi", "163840MiB"), ("512Mi", "409MiB"), ("2Ti", "1677721MiB"), ("1Gi", "819MiB")]
)
def test_samples_leave_a_fifth_of_the_volume_free(storage: str, expected: str) -> None:
    assert prometheus(storage=storage)["retentionSize"] == expected
    claim = prometheus(storage=storage)["storageSpec"]["volumeClaimTemplate"]["spec"]
    assert claim["resources"]["requests"]["storage"] == storage


def test_a_storage_class_is_named_only_where_the_stack_names_one() -> None:
    def claim(**given: Any) -> Any:
        return prometheus(**given)["storageSpec"]["volumeClaimTemplate"]["spec"]

    assert "storageClassName" not in claim()
    assert claim(storage_class="fast")["storageClassName"] == "fast"


def test_the_webhooks_address_is_read_from_a_file_and_is_in_no_value() -> None:
    given = chosen(alerts=SLACK)["alertmanager"]
    assert given["alertmanagerSpec"]["secrets"] == ["alerts"]
    [slack] = [receiver for receiver in given["config"]["receivers"] if receiver["name"] == "slack"]
    [message] = slack["slack_configs"]
    assert message["api_url_file"] == "/etc/alertmanager/secrets/alerts/url"
    assert "api_url" not in message
    assert given["config"]["route"]["receiver"] == "slack"


def test_the_watchdog_goes_nowhere() -> None:
    config = chosen(alerts=SLACK)["alertmanager"]["config"]
    assert config["route"]["routes"] == [{"receiver": "null", "matchers": ['alertname = "Watchdog"']}]
    assert {"name": "null"} in config["receivers"]


def test_without_a_receiver_no_alertmanager_runs_and_nothing_misses_it() -> None:
    assert chosen()["alertmanager"] == {"enabled": False}
    assert chosen()["defaultRules"]["disabled"] == {"PrometheusNotConnectedToAlertmanagers": True}
    assert "defaultRules" not in chosen(alerts=SLACK)


def test_grafana_runs_only_with_a_password_of_the_teams_own_and_reads_its_own_namespace() -> None:
    assert chosen()["grafana"] == {"enabled": False}
    given = chosen(grafana="grafana-admin")["grafana"]
    assert given["admin"] == {"existingSecret": "grafana-admin"}
    assert given["rbac"] == {"namespaced": True}
    assert {given["sidecar"][part]["searchNamespace"] for part in ("dashboards", "datasources")} == {"monitoring"}


@pytest.mark.parametrize("part", ["kubeControllerManager", "kubeScheduler", "kubeEtcd", "kubeProxy", "coreDns"])
def test_what_a_managed_cluster_hides_raises_no_endless_alert(part: str) -> None:
    assert chosen()[part] == {"enabled": False}


def test_images_come_from_the_mirror() -> None:
    assert "global" not in chosen()
    mirrored = values(spec(), ArtifactsSpec(images="mirror.example/ai"))
    assert mirrored["global"] == {"imageRegistry": "mirror.example/ai"}


def test_a_tenants_monitor_may_not_make_prometheus_read_its_own_files() -> None:
    policy, binding = file_access_policy()
    [rule] = policy["spec"]["matchConstraints"]["resourceRules"]
    assert rule["resources"] == ["servicemonitors"]
    [validation] = policy["spec"]["validations"]
    assert "bearerTokenFile" in validation["expression"]
    assert policy["spec"]["failurePolicy"] == "Fail"
    assert binding["spec"]["validationActions"] == ["Deny"]
    assert binding["spec"]["policyName"] == policy["metadata"]["name"]
    [exempt] = binding["spec"]["matchResources"]["namespaceSelector"]["matchExpressions"]
    assert exempt["operator"] == "NotIn"
    assert exempt["values"] == ["monitoring", "gpu-operator"], "the chart's monitor of the kubelets reads a token"


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"retention": "15"}, "pattern"),
        ({"retention": "two weeks"}, "pattern"),
        ({"storage": "200GB"}, "pattern"),
        ({"alerts": {"slack": "https://hooks.example/T0/B0"}}, "slack"),
        ({"thresholds": {"idle_percent": 0}}, "greater than 0"),
        ({"grafana": "admin:password"}, "pattern"),
    ],
)
def test_monitoring_that_cannot_be_is_refused(given: dict[str, Any], message: str) -> None:
    with pytest.raises(ValidationError, match=message):
        spec(**given)


def test_rules_come_after_the_release_that_brings_their_kind() -> None:
    def build() -> None:
        nodes = pulumi.CustomResource("test:index:Nodes", "system", {})
        monitoring = Monitoring("monitoring", spec(alerts=SLACK), artifacts=ArtifactsSpec(), needs=[nodes])
        assert isinstance(monitoring.release, pulumi.Resource)

    found = {resource["type"]: resource for resource in registered(build)}
    component = found.pop("gpuyard:index:Monitoring")
    nodes = found.pop("test:index:Nodes")
    assert {resource["parent"] for resource in found.values()} == {component["urn"]}
    assert all(resource["name"].startswith("monitoring") for resource in found.values())
    space, release = found["kubernetes:core/v1:Namespace"], found["kubernetes:helm.sh/v3:Release"]
    assert space["inputs"]["metadata"]["labels"] == {"pod-security.kubernetes.io/enforce": "privileged"}
    assert set(release["options"]["depends_on"]) == {space["urn"], nodes["urn"]}
    rule = found["kubernetes:monitoring.coreos.com/v1:PrometheusRule"]
    assert rule["options"]["depends_on"] == [release["urn"]]
    assert release["inputs"]["name"] == "kube-prometheus-stack", "the address of Prometheus follows from this name"
    assert "kubernetes:admissionregistration.k8s.io/v1:ValidatingAdmissionPolicyBinding" in found
