package gpuyard.lib.networks_test

import data.gpuyard.lib.networks

limits := {"limits": {"api": {"widest_ipv4": 24, "widest_ipv6": 64}}}

test_what_is_wider_than_the_limits_is_wide if {
	networks.wide("0.0.0.0/0") with input as limits
	networks.wide("203.0.112.0/23") with input as limits
	networks.wide("::/0") with input as limits
	networks.wide("10.0.0.0/7") with input as limits
}

test_small_and_private_networks_are_not_wide if {
	every network in ["203.0.113.0/24", "2001:db8::/64", "10.0.0.0/8", "fd00::/8", "fe80::/10", "everybody", "", 7, null] {
		not networks.wide(network) with input as limits
	}
}
