// Package providers implements the command providers. It lists the provider types of a server release, and the keys of
// a type.
package providers
