// The Kubernetes provider of Pulumi. Its own command needs generated files that its module does not carry, so this one
// serves the provider with an empty schema: the engine asks for a schema only to convert programs.
package main

import "github.com/pulumi/pulumi-kubernetes/provider/v4/pkg/provider"

// version is that of the module below, as its Python SDK names it; the linker sets it.
var version string

func main() {
	provider.Serve("kubernetes", version, []byte("{}"), []byte("{}"))
}
