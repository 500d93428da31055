// Package secretvalue checks whether the server reads the value of a Secret unchanged, and derives the parts of a
// connection string that are separate keys of the server's configuration. No error contains a credential from a value.
package secretvalue
