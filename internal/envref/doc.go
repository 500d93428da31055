// Package envref reads the references to environment variables in a configuration of the server.
//
// The server replaces them in the values of its configuration, anywhere in a text and any number of times:
//
//	${env.NAME}         the value of the variable; the server does not start when it is unset or empty
//	${env.NAME:=text}   the value of the variable, or the text when the variable is unset or empty
//	${env.NAME:+text}   the text when the variable is set, or nothing when it is unset or empty
//
// A name has upper-case letters, digits and underscores only. A text ends at the first closing brace, so that no reference
// stands within another. The pattern is the same in every release generation, from 0.2 to 1.5:
//
//	\${env\.([A-Z0-9_]+)(?::([=+])([^}]*))?}
//
// The generations differ in what follows a replacement, which is not the subject of this package: a text that became empty
// is null, what reads as a boolean or a number is one, and from 1.2 on the workers replace once more what the command line
// has replaced.
//
// What does not fit the pattern stays as it is, without a word. A wider grammar finds the texts that a person takes for
// references all the same: see Grammar.
package envref
