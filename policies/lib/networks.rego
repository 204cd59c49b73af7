# Networks, and how much of the internet is in one.
package gpuyard.lib.networks

# Whether a network lets in more of the internet than the limits allow. What is no network is left to the cloud.
wide(network) if {
	is_string(network)
	net.cidr_is_valid(network)
	prefix(network) < widest(network)
	written := sprintf("%v/%v", [split(network, "/")[0], prefix(network)])
	not inside(written)
}

# The engines take a length with leading zeros for one, and not for a number.
prefix(network) := 0 if digits(network) == ""

else := to_number(digits(network))

digits(network) := trim_left(split(network, "/")[1], "0")

widest(network) := input.limits.api.widest_ipv6 if contains(network, ":")

else := input.limits.api.widest_ipv4

# Networks that are nobody's on the internet: private use (RFC 1918, RFC 4193), carriers' shared space (RFC 6598), and
# what stays on its link or its machine (RFC 3927, RFC 4291, RFC 1122).
inside(network) if {
	some private in [
		"10.0.0.0/8",
		"100.64.0.0/10",
		"127.0.0.0/8",
		"169.254.0.0/16",
		"172.16.0.0/12",
		"192.168.0.0/16",
		"fc00::/7",
		"fe80::/10",
	]
	net.cidr_contains(private, network)
}
