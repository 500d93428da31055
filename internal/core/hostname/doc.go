// Package hostname decides which of several stacks is exposed with a host name. The others are not exposed, so that
// they do not receive traffic for the owner of the host name.
package hostname
