//go:build tools

// Package metricsserver pins metrics-server. It is never compiled: its import
// is what holds the program's module in go.mod. It is a module of its own
// because it raises libraries that the API server links too.
package metricsserver

import _ "sigs.k8s.io/metrics-server/cmd/metrics-server"
