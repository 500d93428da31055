//go:build tools

// Package containerd pins the container runtime and its tools. It is never compiled: its imports keep the modules of
// the programs in go.mod. It is a separate module because it requires newer versions of libraries that the API server
// also uses.
package containerd

import (
	_ "github.com/containerd/containerd/v2/cmd/containerd"
	_ "github.com/containerd/containerd/v2/cmd/containerd-shim-runc-v2"
	_ "github.com/containerd/containerd/v2/cmd/ctr"
)
