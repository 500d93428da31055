// Package jsontext finds the bytes of a JSON string that do not stand for themselves. It reads eight bytes at a time.
package jsontext
