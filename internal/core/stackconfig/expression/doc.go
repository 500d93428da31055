// Package expression compiles the regular expressions that a configuration or the metadata of an image contains. It
// bounds their size, because an expression of 250 bytes can need more than a megabyte of memory and many milliseconds,
// and a configuration can have thousands of them.
package expression
