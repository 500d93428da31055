// Package starter writes the first manifest of a stack from a few answers: it checks each answer, names the flag, the
// value and the allowed values of a wrong one, and writes the manifest with comments.
package starter
