// Package repository finds the work tree that a command was started in, so
// that the tool's default folders and the pinned component modules do not
// depend on the current folder or on where the tool's own binary lies.
package repository
