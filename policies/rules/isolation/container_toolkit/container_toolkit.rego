# METADATA
# title: The software that gives containers their GPUs has no known hole
# description: >-
#   NVIDIA's container toolkit runs as root on every GPU node before a container starts. Through holes of it an image
#   takes over the node. The GPU Operator brings the toolkit, so its version counts too.
# custom:
#   id: I8
#   severity: critical
#   level: mandatory
#   on_unknown: skip
#   scope: resource
#   waivable: true
#   reads:
#     - {type: "kubernetes:helm.sh/*:*", path: /values/image}
#     - {type: "kubernetes:helm.sh/*:*", path: /values/*/image}
#     - {type: pod, path: /containers/*/image}
#     - {type: pod, path: /initContainers/*/image}
#     - {type: pod, path: /ephemeralContainers/*/image}
#     - {type: pod, path: /containers/*/args}
#     - {type: pod, path: /containers/*/command}
#     - {type: "kubernetes:helm.sh/*:*", path: /version}
#     - {type: "kubernetes:helm.sh/*:*", path: /values/toolkit}
#   thresholds:
#     deny:
#       type: texts
#       default: [critical, high]
#       description: Severities of holes that deny; others warn.
#   cves:
#     - CVE-2024-0132
#     - CVE-2024-0135
#     - CVE-2024-0136
#     - CVE-2024-0137
#     - CVE-2025-23266
#     - CVE-2025-23267
#     - CVE-2025-23359
#     - CVE-2026-24260
#   remediation: >-
#     Use the chart of the GPU Operator, or the toolkit, of the version that the finding names, or a later one.
package gpuyard.rules.isolation.container_toolkit

import data.gpuyard.lib.software

deny contains finding if {
	some item in input.software
	item.product in {"gpu-operator", "nvidia-container-toolkit"}
	finding := software.finding(item, input.limits.thresholds["isolation/container_toolkit"].deny)
}
