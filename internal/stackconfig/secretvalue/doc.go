// Package secretvalue checks and derives the values of Secrets: which values reach the server unchanged, and the parts
// of a connection string that the server's configuration takes separately. No error contains any part of a value
// (decision 0011).
package secretvalue
