// Package progress shows how far a long command is, on one line of a terminal that the next text replaces.
package progress
