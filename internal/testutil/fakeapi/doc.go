// Package fakeapi serves objects and forwarded ports as an API server does, for tests of commands.
package fakeapi
