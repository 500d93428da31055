// Package cloud runs the operator's program with an identity of AWS, behind a proxy that leads to a stand-in of it:
// what it reads by that identity, what it does not, and that no token is anywhere but where it belongs.
package cloud
