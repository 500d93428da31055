// Package cloud runs the operator binary with an AWS identity, and with a proxy that forwards requests to a stand-in
// for AWS. It checks which images the operator reads with this identity, and that tokens do not appear in logs or
// objects.
package cloud
