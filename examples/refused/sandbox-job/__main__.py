"""Runs the code that students have handed in, and says so by a label."""

import pulumi_kubernetes as k8s

grader = {
    "name": "grader",
    "image": "registry.k8s.io/e2e-test-images/agnhost:2.53",
    "command": ["/submission/run"],
    "resources": {"requests": {"cpu": "1", "memory": "2Gi"}, "limits": {"memory": "2Gi"}},
    "security_context": {
        "allow_privilege_escalation": False,
        "capabilities": {"drop": ["ALL"]},
        "run_as_non_root": True,
        "seccomp_profile": {"type": "RuntimeDefault"},
    },
}
pod = {
    "automount_service_account_token": False,
    "restart_policy": "Never",
    "containers": [grader],
}

k8s.batch.v1.Job(
    "grading",
    metadata={"name": "grading", "namespace": "courses"},
    spec={
        "active_deadline_seconds": 600,
        "ttl_seconds_after_finished": 3600,
        "template": {"metadata": {"labels": {"trust": "untrusted"}}, "spec": pod},
    },
)
