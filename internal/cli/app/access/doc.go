// Package access has the flags for access to a registry, and the remedies for errors of a registry.
package access
