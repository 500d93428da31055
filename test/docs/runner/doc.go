// Package runner runs the script of a documentation page in a shell, and compares the output with the page.
package runner
