// Package compare lists the differences between two plans of one stack, with their origins. The command line shows them
// before an upgrade.
package compare
