//go:build tools

// Package metricsserver pins metrics-server. It is never compiled: its import keeps the module of the program in
// go.mod. It is a separate module because it requires newer versions of libraries that the API server also uses.
package metricsserver

import _ "sigs.k8s.io/metrics-server/cmd/metrics-server"
