// Package pki creates the keys and certificates of a control plane: certificate authorities, client and serving
// certificates, and the key that signs service account tokens. It returns keys and certificates in PEM format, and does
// not write files.
package pki
