// Package planted makes stacks with marked values, one in each field of the definition, for tests that search for these
// values in places where they must not be.
package planted
