// Package process runs the operator as separate processes next to a control plane whose API server reaches their
// webhooks, for tests.
package process
