package release

import (
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/provider"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/schema"
)

// These are the families of storage backends. A store needs a backend of the same family.
const (
	KV  = "kv"
	SQL = "sql"
)

// These are the names of the two backends in the server's defaults. With other names, a config would have to list every
// store.
const (
	KVDefault  = "kv_default"
	SQLDefault = "sql_default"
)

// Storage describes the `storage` section of a release.
type Storage struct {
	// Inline reports whether there is no `storage` section (up to 0.2). In these releases, the server's stores are
	// top-level keys. Each of these stores, and each store of a provider, is a whole backend and not a reference.
	Inline bool `json:"inline,omitempty"`
	// Required reports whether a config must have the section. Without the section, the server does not start, or stores
	// its data in an unexpected location.
	Required bool `json:"required,omitempty"`
	// Backends are the kinds of backend, sorted by Type.
	Backends []Backend `json:"backends,omitempty"`
	// Stores are the stores of the server, in the order of the server's source.
	Stores []Store `json:"stores,omitempty"`
}

// Backend is one kind of storage backend.
type Backend struct {
	// Type is the name of the kind, for example `kv_redis` or `sql_postgres`.
	Type string `json:"name"`
	// TypeValue is the value of `type` in a config. It is the same as Type or, up to 0.2, the part of Type after the
	// family, for example `redis`.
	TypeValue string `json:"type"`
	// Family is KV or SQL.
	Family string `json:"family"`
	// Class describes the backend's keys.
	Class *schema.Class `json:"class"`
	// NeedsDirectory reports whether the directory of `db_path` must exist, because the server does not create it.
	NeedsDirectory bool `json:"needs_directory,omitempty"`
	// CredentialKey is the key for the password. Empty means that the backend has no such key.
	CredentialKey string `json:"credential_key,omitempty"`
	// CredentialInHost reports whether the password can only be part of `host`, as `:<password>@<host>`, URL-encoded
	// (kv_redis has no password key in any release).
	CredentialInHost bool `json:"credential_in_host,omitempty"`
	// ConnectionStringKey is the key for a whole connection string. Empty means that the backend reads only the parts.
	ConnectionStringKey string `json:"connection_string_key,omitempty"`
	// EncodePassword reports whether the password must be URL-encoded, because the server inserts it into a URL.
	EncodePassword bool `json:"encode_password,omitempty"`
}

// Store is one store of the server: a reference to a backend or, when Storage.Inline is true, a whole backend.
type Store struct {
	// Name is the store's name, for example `metadata`.
	Name string `json:"name"`
	// Path is the store's path from the top level, for example `storage.stores.metadata`, or `metadata_store` when
	// Storage.Inline is true.
	Path string `json:"key"`
	// Family is the family of the backend that the store needs: KV or SQL.
	Family string `json:"family"`
	// Class describes the keys of the reference: `namespace` and `backend`, or `table_name` and `backend`. It is nil
	// when Storage.Inline is true, because then the keys are those of the backend.
	Class *schema.Class `json:"class,omitempty"`
	// Default is the reference for a config, with KVDefault or SQLDefault as the name of the backend. Nil means that the
	// store is optional and that the defaults do not include it. When Storage.Inline is true, Default is a whole backend.
	// The strings in Default can contain the placeholder {distribution}, which the method For replaces.
	Default provider.Fields `json:"default,omitempty"`
	// Required reports whether a server with a `storage` section needs the store to start.
	Required bool `json:"required,omitempty"`
	// RequiredWith lists settings, such as `server.auth.access_policy` and `server.tenancy.mode=multi`. If any of them is
	// set and RequiredBy has an enabled provider, the server requires the store.
	RequiredWith []string `json:"required_with,omitempty"`
	// RequiredBy is the API, for example `vector_io`, whose providers need the store when one of the settings in
	// RequiredWith is set. If RequiredWith is empty, a server that serves the API, for example `inference`, does not start
	// without the store (server fact 49).
	RequiredBy string `json:"required_by,omitempty"`
	// ListOf is the API, for example `vector_io`, whose resources the server looks up in the store on each request (server
	// fact 52). Without the store, a pod finds only the resources that it created itself and those that existed when it
	// started.
	ListOf string `json:"list_of,omitempty"`
}

// For returns the default for a distribution with the given name, or nil when there is none.
func (s *Store) For(distribution string) provider.Fields {
	if s.Default == nil {
		return nil
	}
	fields, _ := provider.Fill(s.Default, s.Name, distribution).(provider.Fields)
	return fields
}

// NeededByAPI reports whether a server that serves the API in RequiredBy needs the store, whatever its settings are.
func (s *Store) NeededByAPI() bool { return s.RequiredBy != "" && len(s.RequiredWith) == 0 }

// Backend returns a kind of backend by its Type.
func (s *Storage) Backend(backendType string) (Backend, bool) {
	return first(s.Backends, func(b Backend) bool { return b.Type == backendType })
}

// Store returns a store by name.
func (s *Storage) Store(name string) (Store, bool) {
	return first(s.Stores, func(st Store) bool { return st.Name == name })
}

// Lists returns the store in which the server looks up the resources of an API on each request.
func (s *Storage) Lists(api string) (Store, bool) {
	return first(s.Stores, func(st Store) bool { return st.ListOf == api })
}
