"""Measures the model server every night, with the image of a colleague."""

import pulumi_kubernetes as k8s

benchmark = {
    "name": "benchmark",
    "image": "colleague/vllm-bench:0.3",
    "command": ["vllm", "bench", "serve"],
    "args": ["--base-url=http://qwen3-8b:8000", "--model=Qwen/Qwen3-8B"],
    "security_context": {
        "allow_privilege_escalation": False,
        "capabilities": {"drop": ["ALL"]},
        "read_only_root_filesystem": True,
        "run_as_non_root": True,
        "seccomp_profile": {"type": "RuntimeDefault"},
    },
}
pod = {"restart_policy": "Never", "containers": [benchmark]}

k8s.batch.v1.CronJob(
    "benchmark",
    metadata={"name": "benchmark", "namespace": "assistants"},
    spec={"schedule": "0 3 * * *", "job_template": {"spec": {"template": {"spec": pod}}}},
)
