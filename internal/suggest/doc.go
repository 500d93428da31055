// Package suggest finds what a mistyped name most likely means, for "did you mean" in messages.
package suggest
