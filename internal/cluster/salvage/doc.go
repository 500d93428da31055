// Package salvage lets the operator and the CLI read stacks of which some cannot be decoded. A decoder that fails at
// one object of a list fails for the whole list, so one stack of one tenant would stop the operator for every other
// tenant. The package removes, from the answers of an API server, only the values that a decoder would reject or could
// not decode within a reasonable time, and marks the objects from which it removed something.
package salvage
