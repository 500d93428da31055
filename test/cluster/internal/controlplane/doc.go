// Package controlplane runs etcd, the API server and, if requested, the controller manager and the scheduler as
// children of this process. It creates keys and flags, starts the components in order, checks their health, and stops
// them. If a node is requested, the node starts and stops together with the components.
package controlplane
