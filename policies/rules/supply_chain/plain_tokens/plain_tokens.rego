# METADATA
# title: No secret stands in plain text
# description: >-
#   Whoever may read a pod, a ConfigMap or a launch template reads what is written in it, and so does every log of the
#   plan. A token in an environment variable, an argument, a ConfigMap, user data or Helm values is one that everybody
#   has. The finding says where it is and never what it is.
# custom:
#   id: S9
#   severity: critical
#   level: mandatory
#   on_unknown: skip
#   scope: resource
#   waivable: false
#   reads:
#     - {type: pod, path: /containers/*/args}
#     - {type: pod, path: /containers/*/command}
#     - {type: pod, path: /containers/*/env/*/value}
#     - {type: pod, path: /initContainers/*/args}
#     - {type: pod, path: /initContainers/*/command}
#     - {type: pod, path: /initContainers/*/env/*/value}
#     - {type: pod, path: /ephemeralContainers/*/args}
#     - {type: pod, path: /ephemeralContainers/*/command}
#     - {type: pod, path: /ephemeralContainers/*/env/*/value}
#     - {type: "kubernetes:*", path: /spec/jobTemplate/spec/template/metadata/annotations}
#     - {type: "kubernetes:*", path: /spec/template/metadata/annotations}
#     - {type: "kubernetes:core/v1:ConfigMap", path: /binaryData}
#     - {type: "kubernetes:core/v1:ConfigMap", path: /data}
#     - {type: "kubernetes:core/v1:Pod", path: /metadata/annotations}
#     - {type: "kubernetes:helm.sh/*:*", path: /values}
#     - {type: "aws:ec2/instance:Instance", path: /userData}
#     - {type: "aws:ec2/instance:Instance", path: /userDataBase64}
#     - {type: "aws:ec2/launchConfiguration:LaunchConfiguration", path: /userData}
#     - {type: "aws:ec2/launchConfiguration:LaunchConfiguration", path: /userDataBase64}
#     - {type: "aws:ec2/launchTemplate:LaunchTemplate", path: /userData}
#     - {type: "gcp:compute/instance:Instance", path: /metadata}
#     - {type: "gcp:compute/instance:Instance", path: /metadataStartupScript}
#     - {type: "gcp:compute/instanceTemplate:InstanceTemplate", path: /metadata}
#     - {type: "gcp:compute/instanceTemplate:InstanceTemplate", path: /metadataStartupScript}
#     - {type: "gcp:container/nodePool:NodePool", path: /nodeConfig/metadata}
#   frameworks:
#     - "CWE-312: Cleartext Storage of Sensitive Information"
#     - "CWE-798: Use of Hard-coded Credentials"
#     - "OWASP Top 10 for LLM Applications 2025: LLM02 Sensitive Information Disclosure"
#   remediation: >-
#     Put the value into a Secret and refer to it (valueFrom.secretKeyRef, or the chart's existingSecret); take it out
#     of the program's history, and revoke it: it has been read.
package gpuyard.rules.supply_chain.plain_tokens

deny contains {"urn": secret.urn, "path": secret.path, "message": message, "rests_on": []} if {
	some secret in input.plain_secrets
	message := sprintf("%v holds %v in plain text", [where(secret), what(secret)])
}

where(secret) := secret.place if secret.name == ""

else := sprintf("%v %v", [secret.place, secret.name])

what(secret) := "a value that the program marks secret" if secret.kind == "marked"

else := sprintf("a secret (%v)", [secret.kind])
