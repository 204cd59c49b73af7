# METADATA
# title: vLLM has no known hole
# description: >-
#   Of vLLM, versions are known in which a model's files or a request run code. Which versions, and which is the first
#   without, is a dated table of the catalogue; a mirror's image is known by the end of its name. Severe holes deny,
#   others warn.
# custom:
#   id: S3
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
#   thresholds:
#     deny:
#       type: texts
#       default: [critical, high]
#       description: Severities of holes that deny; others warn.
#   frameworks:
#     - "OWASP Top 10 for LLM Applications 2025: LLM03 Supply Chain"
#   cves:
#     - CVE-2025-32444
#     - CVE-2026-22778
#     - CVE-2026-22807
#     - CVE-2026-27893
#     - CVE-2026-41523
#     - CVE-2026-47155
#     - CVE-2026-56340
#     - CVE-2026-73557
#     - CVE-2026-105757
#     - CVE-2026-115911
#   remediation: >-
#     Use the version that the finding names, or a later one. Where an image is named by its digest alone, write the
#     tag beside it.
package gpuyard.rules.serving.vllm_version

import data.gpuyard.lib.software

deny contains finding if {
	some item in input.software
	item.product in {"vllm"}
	finding := software.finding(item, input.limits.thresholds["serving/vllm_version"].deny)
}
