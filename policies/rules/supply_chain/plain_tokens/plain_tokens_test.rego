package gpuyard.rules.supply_chain.plain_tokens_test

import data.gpuyard.rules.supply_chain.plain_tokens

messages(secrets) := found if {
	found := {finding.message | some finding in plain_tokens.deny} with input as {"plain_secrets": secrets}
}

test_a_stack_without_secrets_in_plain_text_is_allowed if messages([]) == set()

test_a_token_is_denied_by_its_place_and_kind if {
	secret := {"urn": "u", "path": "/p", "place": "environment variable", "name": "HF_TOKEN", "kind": "Hugging Face token"}
	messages([secret]) == {"environment variable HF_TOKEN holds a secret (Hugging Face token) in plain text"}
}

test_a_value_that_the_program_marks_secret_is_denied if {
	secret := {"urn": "u", "path": "/p", "place": "user data", "name": "", "kind": "marked"}
	messages([secret]) == {"user data holds a value that the program marks secret in plain text"}
}

test_what_is_found_is_certain if {
	secret := {"urn": "u", "path": "/p", "place": "argument", "name": "", "kind": "GitHub token"}
	found := {finding.rests_on | some finding in plain_tokens.deny} with input as {"plain_secrets": [secret]}
	found == {[]}
}
