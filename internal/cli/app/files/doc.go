// Package files reads the documents in files, in folders and on standard input.
package files
