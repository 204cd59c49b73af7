# METADATA
# title: SGLang, PyTorch and the driver have no known hole
# description: >-
#   Of SGLang and PyTorch, versions are known that run code which a request or a model's file brings; of drivers, some
#   that let a container take over its node. Which versions is a dated table of the catalogue. Where no version without
#   is known, the finding warns.
# custom:
#   id: S13
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
#     - {type: "kubernetes:helm.sh/*:*", path: /values/driver}
#   thresholds:
#     deny:
#       type: texts
#       default: [critical, high]
#       description: Severities of holes that deny; others warn.
#   frameworks:
#     - "OWASP Top 10 for LLM Applications 2025: LLM03 Supply Chain"
#   cves:
#     - CVE-2025-32434
#     - CVE-2026-24187
#     - CVE-2026-24190
#     - CVE-2026-3059
#     - CVE-2026-3060
#     - CVE-2026-86793
#     - CVE-2026-93034
#   remediation: >-
#     Use the version that the finding names, or a later one. Where none is known to be without, let only those reach
#     the server who may run code on its node.
package gpuyard.rules.supply_chain.known_holes

import data.gpuyard.lib.software

deny contains finding if {
	some item in input.software
	item.product in {"pytorch", "sglang", "nvidia-driver"}
	finding := software.finding(item, input.limits.thresholds["supply_chain/known_holes"].deny)
}
