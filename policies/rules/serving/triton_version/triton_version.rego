# METADATA
# title: Triton Inference Server has no known hole
# description: >-
#   Of Triton, versions are known in which a request runs code or passes by its authentication. Which versions, and
#   which is the first without, is a dated table of the catalogue; a mirror's image is known by the end of its name.
# custom:
#   id: S4
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
#     - CVE-2025-23310
#     - CVE-2025-23311
#     - CVE-2025-23316
#     - CVE-2025-23317
#     - CVE-2025-23319
#     - CVE-2025-23320
#     - CVE-2025-23334
#     - CVE-2026-24207
#     - CVE-2026-47481
#     - CVE-2026-47627
#   remediation: >-
#     Use the container of the month that the finding names, or a later one. Where an image is named by its digest
#     alone, write the tag beside it.
package gpuyard.rules.serving.triton_version

import data.gpuyard.lib.software

deny contains finding if {
	some item in input.software
	item.product in {"triton"}
	finding := software.finding(item, input.limits.thresholds["serving/triton_version"].deny)
}
