// Package files reads the documents in files, in folders and on standard input, and replaces files.
package files
