// Package schema describes the configuration classes of a server release and checks YAML against them: the keys of a
// class, their types, and which of them are required or hold secrets. The package contains no classes. They are in the
// release data. A check accepts and rejects the same values as the server's own parser (pydantic in its lax mode, over
// a YAML 1.1 reader), so a value that is rejected here would always keep the pod from starting (server fact 3).
package schema
