// Package redact removes secret values from text, objects and configurations that leave a cluster. It recognizes them
// by their place (such as a literal environment variable), by the name of their key, by their form (such as a bearer
// token), and by comparison with values that are known to be secret.
package redact
