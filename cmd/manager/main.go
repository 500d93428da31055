// Command manager runs the operator.
package main

import (
	"os"

	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/llamastack/llama-stack-k8s-operator/internal/operator/manager"
)

// version is set at build time: -ldflags "-X main.version=v0.10.0".
var version string

func main() {
	os.Exit(manager.Run(ctrl.SetupSignalHandler(), os.Args[1:], version, os.Getenv, os.Stderr))
}
