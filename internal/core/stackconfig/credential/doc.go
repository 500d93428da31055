// Package credential finds the credentials in clear text in a configuration.
package credential
