// Package jsontext finds the bytes of a JSON string that have a special meaning: quotes, backslashes and control
// characters. It reads eight bytes at a time.
package jsontext
