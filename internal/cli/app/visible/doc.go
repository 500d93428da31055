// Package visible makes control characters and invisible characters visible in the output of a command. The names,
// messages and logs of other parties can contain sequences that change the state of a terminal.
package visible
