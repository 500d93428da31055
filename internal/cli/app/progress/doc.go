// Package progress shows the progress of a long command on one line of a terminal. Each new text replaces the previous
// one.
package progress
