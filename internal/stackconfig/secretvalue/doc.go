// Package secretvalue judges and derives the values of Secrets: which of them reach the server as they are, and the parts
// of a connection string that its configuration takes one by one. No error holds anything of a value.
package secretvalue
