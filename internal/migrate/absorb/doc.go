// Package absorb converts the complete server configuration that a user wrote in a ConfigMap to fields of the spec. It
// is the inverse of package stackconfig, which generates a configuration from the fields.
//
// Package absorb derives the fields from the configuration, generates a configuration from the fields, and compares it
// with the user's, value by value. The fields replace the ConfigMap only if the server reads the same values from both
// configurations. Otherwise, nothing is replaced, and the result lists the parts that must remain in the ConfigMap,
// each with the reason. Fields and messages never contain a value that looks like a credential in clear text.
package absorb
