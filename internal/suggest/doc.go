// Package suggest finds the known name that is most similar to a misspelt name, for "did you mean" in messages.
package suggest
