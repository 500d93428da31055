// Package typecheck compares a JSON value with the Go type that it is decoded into, and finds everything that does not
// fit: unknown fields and values of another type. A decoder stops at the first value that it cannot take, and names Go's
// types; here all are found at once, each with its path, in words for the person who wrote it.
package typecheck
