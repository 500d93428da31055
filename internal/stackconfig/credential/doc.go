// Package credential tells which values of a configuration are credentials in clear text.
package credential
