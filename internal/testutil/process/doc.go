// Package process runs the operator's program as processes beside a control plane whose API server reaches their webhooks, for
// tests.
package process
