// Package absorb turns a server's configuration that a user wrote whole, in a ConfigMap, into fields of the spec: what the
// engine of package stackconfig does, in reverse.
//
// It guesses the fields, has the pipeline make a configuration of them, and compares that with the user's, value by value.
// The fields replace the ConfigMap only where the server reads the same from both. Otherwise nothing is replaced, and the
// answer says which parts of the configuration stay, each with the reason. Nothing that looks like a credential in clear text
// goes into a field or into a sentence.
package absorb
