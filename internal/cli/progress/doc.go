// Package progress shows the progress of a long command on one line of a terminal. The next text replaces the line.
package progress
