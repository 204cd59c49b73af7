# METADATA
# title: Tenants share a GPU only where its hardware keeps them apart
# description: >-
#   Pods that take turns on a GPU, or compute on it at once by MPS, are kept apart by nothing: one may take all of its
#   memory, and a fault of one ends the others. Slices of MIG have memory and processors of their own.
# custom:
#   id: I6
#   severity: high
#   level: mandatory
#   on_unknown: deny
#   scope: stack
#   waivable: true
#   reads:
#     - {type: "gcp:container/cluster:Cluster", path: /nodeConfig/guestAccelerators, fires: true}
#     - {type: "gcp:container/cluster:Cluster", path: /nodePools, fires: true}
#     - {type: "gcp:container/nodePool:NodePool", path: /nodeConfig/guestAccelerators, fires: true}
#     - {type: "gcp:container/nodePool:NodePool", path: /nodeConfig/taints, fires: true}
#     - {type: "gpuyard:index:EksNodeGroup", path: /partition}
#     - {type: "gpuyard:index:GkeNodeGroup", path: /partition}
#     - {type: "gpuyard:index:NodeInventory", path: /partition}
#     - {type: "gpuyard:index:Tenant", path: /accelerators}
#     - {type: "kubernetes:core/v1:ConfigMap", path: /data, fires: true}
#     - {type: "kubernetes:helm.sh/*:*", path: /values, fires: true}
#   frameworks:
#     - "NSA and CISA Kubernetes Hardening Guidance: Pod security"
#   remediation: >-
#     Give such nodes to one tenant, with a taint that only its pods tolerate, or cut the GPUs by MIG, or give whole ones.
package gpuyard.rules.isolation.shared_accelerators

import data.gpuyard.lib.tenants

nothing := "nothing keeps one tenant's memory and faults from another's"

# --- our own: a tenant has shares of groups by their names

deny contains finding if {
	some type in ["gpuyard:index:EksNodeGroup", "gpuyard:index:GkeNodeGroup", "gpuyard:index:NodeInventory"]
	some group in input.by_type[type]
	kind := object.get(group.inputs, ["partition", "kind"], "")
	kind in ["mps", "time_slicing"]
	sharing := {tenant.name |
		some tenant in input.by_type["gpuyard:index:Tenant"]
		shares := object.get(tenant.inputs, "accelerators", {})
		is_object(shares)
		some name, _ in shares
		split(name, "/")[0] == group.name
	}
	count(sharing) > 1
	finding := {
		"urn": group.urn,
		"path": "/partition/kind",
		"message": sprintf("tenants %v share GPUs of group %v by %v: %v", [concat(", ", sort(sharing)), group.name, kind, nothing]),
		"rests_on": ["/partition"],
	}
}

# --- GKE: a pool without a taint of its own is everybody's

deny contains finding if {
	mixed
	some pool in pools
	not dedicated(pool)
	some i, accelerator in listed(pool.config, "guestAccelerators")
	is_object(accelerator)
	sharing := object.get(accelerator, "gpuSharingConfig", {})
	some one in sharings(sharing)
	strategy := object.get(one, "gpuSharingStrategy", "")
	strategy in ["MPS", "TIME_SHARING"]
	path := sprintf("%v/guestAccelerators/%v/gpuSharingConfig", [pool.path, i])
	finding := {
		"urn": pool.urn,
		"path": path,
		"message": sprintf("tenants %v may share the GPUs of node pool %v by %v: %v", [named, pool.name, strategy, nothing]),
		"rests_on": [path, sprintf("%v/taints", [pool.path])],
	}
}

# Of clusters it is an object, and older SDKs make it a list of one.
sharings(given) := [given] if is_object(given)

else := [one | some one in given; is_object(one)] if is_array(given)

pools contains {"urn": pool.urn, "name": pool.name, "path": "/nodeConfig", "config": config} if {
	some type in ["gcp:container/nodePool:NodePool", "gcp:container/cluster:Cluster"]
	some pool in input.by_type[type]
	config := object.get(pool.inputs, "nodeConfig", {})
	is_object(config)
}

pools contains {"urn": cluster.urn, "name": cluster.name, "path": path, "config": config} if {
	some cluster in input.by_type["gcp:container/cluster:Cluster"]
	some i, pool in listed(cluster.inputs, "nodePools")
	is_object(pool)
	config := object.get(pool, "nodeConfig", {})
	is_object(config)
	path := sprintf("/nodePools/%v/nodeConfig", [i])
}

# GKE gives every pool with GPUs the taint nvidia.com/gpu by itself, and every pod that asks for one its toleration.
dedicated(pool) if {
	some taint in listed(pool.config, "taints")
	is_object(taint)
	object.get(taint, "key", "nvidia.com/gpu") != "nvidia.com/gpu"
}

listed(value, name) := found if {
	found := object.get(value, name, [])
	is_array(found)
} else := []

# --- NVIDIA's device plugin: a text says how it shares, and not with whom, so this is advice

deny contains finding if {
	mixed
	count(object.get(input.by_type, "gpuyard:index:Tenant", [])) == 0
	some configuration in configurations
	some kind in kinds(configuration.text)
	finding := {
		"urn": configuration.urn,
		"path": configuration.path,
		"message": sprintf("the device plugin shares GPUs by %v, and tenants %v are on the cluster: %v", [kind, named, nothing]),
		"level": "advisory",
		"rests_on": [configuration.path],
	}
}

configurations contains {"urn": map.urn, "path": path, "text": text} if {
	some map in input.objects.ConfigMap
	texts := object.get(map.body, "data", {})
	is_object(texts)
	some key, text in texts
	path := sprintf("%v/data/%v", [map.path, key])
}

configurations contains {"urn": release.urn, "path": path, "text": text} if {
	some release in input.releases
	some chart, steps in {"gpu-operator": ["devicePlugin", "config", "data"], "nvidia-device-plugin": ["config", "map"]}
	release.chart == chart
	texts := object.get(release.values, steps, {})
	is_object(texts)
	some key, text in texts
	path := sprintf("/values/%v/%v", [concat("/", steps), key])
}

kinds(text) := {shown |
	is_string(text)
	contains(text, "replicas")
	yaml.is_valid(text)
	said := yaml.unmarshal(text)
	some kind, shown in {"mps": "MPS", "timeSlicing": "time-slicing"}
	resources := object.get(said, ["sharing", kind, "resources"], [])
	is_array(resources)
	some resource in resources
	replicas := object.get(resource, "replicas", 1)
	is_number(replicas)
	replicas > 1
}

# --- more than one tenant

names := {namespace.name |
	some namespace in tenants.namespaces
	is_string(namespace.name)
	namespace.name != ""
}

mixed if count(tenants.namespaces) > 1

named := concat(", ", sort(names)) if count(names) > 0

else := "of more than one namespace"
