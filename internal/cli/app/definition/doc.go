// Package definition checks a stack as an API server does: with the schema, the list types and the CEL rules of the
// CustomResourceDefinition, with strict field names, and with the admission policy. Its messages are those of the API
// server. Checks with better messages come first, and this package finds what they miss.
package definition
