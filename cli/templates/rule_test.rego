package gpuyard.rules.$group.${rule}_test

import data.gpuyard.rules.$group.$rule as rule

# Write here a value that is right, and one that is wrong. Until the rule knows the wrong one, the second test fails.
right := "RIGHT"

bad := "WRONG"

denied(value) := found if {
	body := $body
	found := {finding.path | some finding in rule.deny} with input as $given
}

test_what_is_right_is_allowed if denied(right) == set()

test_what_is_wrong_is_denied if denied(bad) == {$where}
