// Package suggest finds the name that a misspelt name most likely stands for, for "did you mean" in messages.
package suggest
