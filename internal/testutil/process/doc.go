// Package process runs replicas of the operator as separate processes, for tests. The API server of the control plane
// can call the webhooks of these processes.
package process
