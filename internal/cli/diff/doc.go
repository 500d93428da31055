// Package diff implements the command diff. It compares stacks in files with those in a cluster or in other files.
package diff
