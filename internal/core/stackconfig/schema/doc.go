// Package schema describes the configuration classes of a server release (the keys of a class, their types, and which
// of them are required or hold secrets) and checks YAML against them. The classes themselves are in the release data. A
// check accepts the same values as the server's own parser (Pydantic in its lax mode, on the result of a YAML 1.1
// reader). The server never starts with a value that a check rejects (server fact 3).
package schema
