# What belongs to tenants: everything outside the namespaces that the limits call the platform's own.
package gpuyard.lib.tenants

import data.gpuyard.lib.match

# A pod whose namespace is not known may be a tenant's: a rule says that it rests on the namespace.
pods := [pod |
	some pod in input.pods
	not of_the_platform(pod)
]

# Namespaces that the program makes. A patch changes one that somebody else has made.
namespaces := [namespace |
	some namespace in input.objects.Namespace
	namespace.patch == false
	not reserved(namespace)
]

of_the_platform(where) if reserved_name(where.namespace)

reserved(namespace) if reserved_name(namespace.name)

reserved_name(name) if {
	is_string(name)
	match.one_of(input.limits.namespaces.system, name)
}

reserved_name(name) if {
	is_string(name)
	match.one_of(input.limits.namespaces.privileged, name)
}

# Where the finding says its namespace.
namespace_of(pod) := sprintf("%v/metadata/namespace", [pod.object])
