// Package contract holds what stacks of v1alpha1 have today against what this
// operator makes of them. Its table of differences is the only place where the
// two may part, each with its reason.
package contract
