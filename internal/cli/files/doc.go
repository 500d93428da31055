// Package files reads the documents of files, folders and standard input.
package files
