// Package provider describes the provider types of a server release. For each type, it states the keys that the type
// reads, the keys for the endpoint and for the credential, the APIs that the type needs, and values for required keys
// that a user cannot be expected to supply. The facts are data, which package release loads. A new key requires no
// code.
package provider
