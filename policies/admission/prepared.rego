# One object that Gatekeeper is asked about, as rules read it: what review/evaluation/prepare.py makes of a program, made
# of `input.review.object`. A test holds the two against each other. Limits are the constraint's parameters; what is known
# of kinds comes from review/admission/kinds.py.
package gpuyard.admission.prepared

import data.gpuyard.admission.kinds

document := object.union(nothing, {
	"environment": input.parameters.environment,
	"limits": input.parameters.limits,
	"objects": {key: [object.union(common, {
		"path": "",
		"api": given.apiVersion,
		"patch": false,
		"provider": "",
		"references": {},
		"body": json.remove(given, [as_texts(pod.path) | some pod in carried; pod.whole == true]),
	})]},
	"pods": [read(pod) | some pod in carried],
})

# What no object of Kubernetes brings.
nothing := {"accelerated": [], "by_type": {}, "releases": []}

# A member that is null is left out: rules meet what is missing.
given := json.remove(input.review.object, [as_texts(path) |
	walk(input.review.object, [path, value])
	value == null
	count(path) > 0
	is_string(path[count(path) - 1])
])

# json.remove takes the number of an element as text.
as_texts(path) := [sprintf("%v", [step]) | some step in path]

key := given.kind if group == ""

else := sprintf("%v.%v", [given.kind, group])

# Both groups served these kinds once, with the same shape.
group := "networking.k8s.io" if {
	written == "extensions"
	given.kind == "NetworkPolicy"
} else := "apps" if written == "extensions"

else := written

written := split(given.apiVersion, "/")[0] if contains(given.apiVersion, "/")

else := ""

common := object.union({"urn": "object", "name": object.get(given, ["metadata", "name"], "")}, {"namespace": namespace}) if {
	namespace != ""
} else := {"urn": "object", "name": object.get(given, ["metadata", "name"], "")}

namespace := own if {
	own := given.metadata.namespace
	is_string(own)
} else := asked if {
	asked := object.get(input.review, "namespace", "")
	is_string(asked)
	asked != ""
} else := "default"

# --- pods, and containers that stand in no list of containers

carried contains {"path": way, "spec": spec, "labels": labels_above(way), "containers": listed(way, spec), "whole": true} if {
	way := kinds.own[key]
	spec := mapping_at(way)
}

carried contains {"path": path, "spec": spec, "labels": labels_above(path), "containers": all, "whole": whole(path)} if {
	some path in holders
	spec := mapping_at(path)
	all := array.concat(listed(path, spec), [one | some one in alone; above(one.path) == path])
}

whole(path) if {
	key in kinds.whole
	path in searched
	not path in holders_of_one
} else := false

holders := (searched | set_apart) | holders_of_one

holders_of_one := {above(one.path) | some one in alone}

# Another kind is searched for lists of containers; what is inside of one is the container's own.
searched contains path if {
	custom
	some path, value in mappings
	count(path) <= kinds.deepest
	some role in kinds.roles
	of_containers(object.get(value, role, []))
	every step in path {
		outside(step)
	}
}

custom if {
	others := object.keys(object.union(kinds.own, kinds.quotes))
	not key in others
}

outside(step) if {
	roles := kinds.roles
	not step in roles
}

of_containers(list) if {
	is_array(list)
	some one in list
	is_object(one)
	some name in ["image", "name"]
	name in object.keys(one)
}

set_apart contains path if {
	custom
	some way in object.get(kinds.settings, key, [])
	some path, _ in mappings
	leads(way, path)
}

alone contains {"role": "containers", "path": path, "container": container} if {
	custom
	some way in object.get(kinds.containers, key, [])
	some path, container in mappings
	leads(way, path)
}

# * in a way stands for any step.
leads(way, path) if {
	count(way) == count(path)
	every i, step in way {
		step in {"*", sprintf("%v", [path[i]])}
	}
}

mappings[path] := value if {
	walk(given, [path, value])
	is_object(value)
}

mapping_at(path) := object.get(mappings, [path], {})

above(path) := array.slice(path, 0, max([0, count(path) - 1]))

listed(path, spec) := [{"role": role, "path": array.concat(path, [role, i]), "container": container} |
	some role in kinds.roles
	list := object.get(spec, role, [])
	is_array(list)
	some i, container in list
	is_object(container)
]

labels_above(path) := labels_of(mapping_at(above(path)))

labels_of(value) := found if {
	found := object.get(value, ["metadata", "labels"], {})
	is_object(found)
} else := {}

# --- a pod as rules read it

read(pod) := object.union(common, {
	"accelerated": accelerated(pod),
	"containers": [entry(one) | some one in pod.containers],
	"kind": given.kind,
	"labels": labels_of(given),
	"object": "",
	"path": pointer(pod.path),
	"pod_labels": pod.labels,
	"provider": "",
	"spec": object.remove(pod.spec, array.concat(kinds.roles, [one.path[count(pod.path)] | some one in pod.containers])),
	"whole": pod.whole,
})

pointer(path) := concat("", [sprintf("/%v", [escaped(step)]) | some step in path])

escaped(step) := replace(replace(step, "~", "~0"), "/", "~1") if is_string(step)

else := step

entry(one) := object.union(plain(one), {"image": image(one.container.image)}) if {
	is_string(one.container.image)
	one.container.image != ""
} else := plain(one)

plain(one) := {"path": pointer(one.path), "role": one.role, "container": one.container}

accelerated(pod) if {
	some one in pod.containers
	some part in ["limits", "requests"]
	asked := object.get(one.container, ["resources", part], {})
	is_object(asked)
	some name in object.keys(asked)
	some prefix in kinds.accelerators
	startswith(name, prefix)
} else if {
	claims := object.get(pod.spec, "resourceClaims", [])
	none := [[], {}, "", 0, false]
	not claims in none
} else := false

# --- the parts of an image's name

image(reference) := {
	"reference": reference,
	"repository": repository(array.concat(array.slice(steps, 0, count(steps) - 1), [named[0]])),
	"tag": concat(":", array.slice(named, 1, count(named))),
	"digest": concat("@", array.slice(parts, 1, count(parts))),
	"chart": false,
} if {
	parts := split(reference, "@")
	steps := split(parts[0], "/")
	named := split(steps[count(steps) - 1], ":")
}

repository(steps) := sprintf("%v/library/%v", [kinds.hub, steps[0]]) if count(steps) == 1

else := sprintf("%v/%v", [kinds.hub, concat("/", steps)]) if {
	first := steps[0]
	not is_host(first)
}

else := sprintf("%v/library/%v", [kinds.hub, steps[1]]) if {
	host(steps[0]) == kinds.hub
	count(steps) == 2
}

else := sprintf("%v/%v", [host(steps[0]), concat("/", array.slice(steps, 1, count(steps)))])

is_host(first) if contains(first, ".")

is_host(first) if contains(first, ":")

is_host(first) if lower(first) == "localhost"

host(first) := kinds.hub if lower(first) in kinds.hub_aliases

else := lower(first)
