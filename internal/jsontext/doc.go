// Package jsontext finds, eight bytes at a time, where a JSON text says something else than its bytes.
package jsontext
