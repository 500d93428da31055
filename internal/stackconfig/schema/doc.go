// Package schema describes the configuration classes of a server release and checks YAML against them: which keys a
// class reads, of which type, which are required, which hold secrets. It knows no class itself; the release data does.
// A check accepts what the server's own parser (pydantic in its lax mode, over a YAML 1.1 reader) accepts and refuses
// what that parser refuses, so that a refusal here always means a pod that would not have started.
package schema
