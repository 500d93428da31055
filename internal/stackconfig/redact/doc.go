// Package redact hides the credentials of a configuration that is shown to people.
package redact
