// Package envref reads the references to environment variables in a server configuration.
//
// The server replaces these references in the values of its configuration, anywhere in a string and any number of
// times:
//
//	${env.NAME}         the value of the variable; the server does not start when the variable is unset or empty
//	${env.NAME:=text}   the value of the variable, or the text when the variable is unset or empty
//	${env.NAME:+text}   the text when the variable is set and not empty, or nothing otherwise
//
// A name contains only uppercase letters, digits and underscores. The text ends at the first closing brace, so a
// reference cannot contain another reference. The pattern is the same in every release generation, from 0.2 to 1.5:
//
//	\${env\.([A-Z0-9_]+)(?::([=+])([^}]*))?}
//
// This package does not cover how the server processes the result. In every generation, an empty string becomes null,
// and a string in the form of a boolean or a number becomes a boolean or a number. From 1.2 on, the workers replace
// references a second time, in the configuration that the server's command-line program has resolved (server fact 5,
// server fact 6).
//
// The server neither changes nor reports text that does not match the pattern (server fact 4). The Lookalike grammar
// also finds text that only has the form of a reference.
package envref
