// Package starter implements the command init, because Go allows no package with this name. It writes the first
// manifest of a stack from a few answers. It checks each answer, and writes the manifest with comments. The error for
// an invalid answer names the flag, the problem and the remedy.
package starter
