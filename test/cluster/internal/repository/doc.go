// Package repository finds the work tree in which a command was started, so that the tool's default directories and the
// pinned component modules do not depend on the current directory or on the path of the tool's own binary.
package repository
