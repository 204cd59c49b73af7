# Names and patterns, as limits write them.
package gpuyard.lib.match

# Whether a name matches one of the patterns, in which * stands for any characters. The delimiter is a character that no
# name has: without one, * would stop at a dot.
one_of(patterns, name) if {
	some pattern in patterns
	glob.match(pattern, ["/"], name)
}
