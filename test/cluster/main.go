// Command cluster builds and runs a real Kubernetes control plane on one Linux
// machine, without root and without a container engine. See README.md.
package main

import (
	"os"

	"github.com/llamastack/llama-stack-k8s-operator/test/cluster/internal/cli"
)

func main() {
	os.Exit(cli.Main(os.Args[1:]))
}
