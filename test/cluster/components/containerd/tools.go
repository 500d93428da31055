//go:build tools

// Package containerd pins the container runtime and its tools. It is never
// compiled: its imports are what holds the programs' modules in go.mod. It is a
// module of its own because it raises libraries that the API server links too.
package containerd

import (
	_ "github.com/containerd/containerd/v2/cmd/containerd"
	_ "github.com/containerd/containerd/v2/cmd/containerd-shim-runc-v2"
	_ "github.com/containerd/containerd/v2/cmd/ctr"
)
