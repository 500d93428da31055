// Package suggest finds the known name that is most similar to a misspelled name, for "did you mean" in messages.
package suggest
