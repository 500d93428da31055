// Package cloud runs the operator's program with an identity of AWS, behind a proxy that leads to a stand-in for AWS.
// It checks what the operator reads by that identity, what it does not read, and that no token is anywhere except where
// it belongs.
package cloud
