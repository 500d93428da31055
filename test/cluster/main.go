// Command cluster builds and runs a real Kubernetes cluster on one Linux machine without a container engine: a control
// plane, which does not require root, and optionally a node. See README.md.
package main

import (
	"os"

	"github.com/llamastack/llama-stack-k8s-operator/test/cluster/internal/cli"
)

func main() {
	os.Exit(cli.Main(os.Args[1:]))
}
