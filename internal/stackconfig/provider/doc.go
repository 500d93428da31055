// Package provider describes the provider types of a server release: the keys a type reads, which of them holds the
// endpoint and which the credential, what it needs of other APIs, and the values of required keys that a user cannot
// be expected to know. The facts are data (package release loads them); adding a key is a row there and no code here.
package provider
