// Package absorb turns a server configuration that a user wrote completely, in a ConfigMap, into fields of the spec. It
// reverses the engine of package stackconfig.
//
// It guesses the fields, runs the pipeline to generate a configuration from them, and compares that with the user's,
// value by value. The fields replace the ConfigMap only if the server reads the same from both. Otherwise nothing is
// replaced, and the result lists the parts of the configuration that stay, each with the reason. Nothing that looks
// like a credential in clear text is written into a field or a sentence.
package absorb
