// Package render implements the command render. It plans stacks in files, and prints the objects, the configuration or
// the environment of each.
package render
