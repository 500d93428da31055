// Package runner runs the script of a page of the documentation in a shell, and compares the output with the page.
package runner
