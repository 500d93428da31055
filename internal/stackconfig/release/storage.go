package release

import (
	"github.com/llamastack/llama-stack-k8s-operator/internal/stackconfig/provider"
	"github.com/llamastack/llama-stack-k8s-operator/internal/stackconfig/schema"
)

// The families of storage backends: a store needs a backend of its family.
const (
	KV  = "kv"
	SQL = "sql"
)

// The names of the two backends that the server's defaults point at. Others would force every store to be listed.
const (
	KVDefault  = "kv_default"
	SQLDefault = "sql_default"
)

// Storage describes the section `storage` of a release.
type Storage struct {
	// Inline says that there is no section `storage` (up to 0.2): the server's stores are keys of the top level, and
	// each of them, as each store of a provider, is a whole backend of its own and no reference.
	Inline bool
	// Required says that a config has to have the section: without it the server does not start, or puts its data in
	// a place that nobody means.
	Required bool
	// Backends are the kinds of backend by `type`, sorted.
	Backends []Backend
	// Stores are the stores the server has, in the order of its source.
	Stores []Store
}

// Backend is one kind of storage backend.
type Backend struct {
	// Type names the kind: `kv_redis`, `sql_postgres`.
	Type string
	// TypeValue is what stands under `type` in a config: Type, or up to 0.2 the part behind the family, `redis`.
	TypeValue string
	// Family is KV or SQL.
	Family string
	// Class has the backend's keys.
	Class *schema.Class
	// NeedsDirectory says that the directory of `db_path` has to exist: the server does not make it.
	NeedsDirectory bool
	// CredentialKey is the key of the password, empty when the backend has none.
	CredentialKey string
	// CredentialInHost says that the password can only be given inside `host`, as `:<password>@<host>`, URL-encoded
	// (kv_redis has no password key in any release).
	CredentialInHost bool
	// ConnectionStringKey is the key that takes a whole connection string, empty when only its parts are read.
	ConnectionStringKey string
	// EncodePassword says that the server pastes the password into a URL as it is, so that it has to be given
	// URL-encoded.
	EncodePassword bool
}

// Store is one store of the server: a reference to a backend.
type Store struct {
	// Name is the store's name: `metadata`.
	Name string
	// Path leads to it from the top level: `storage.stores.metadata`, or where Storage.Inline is set `metadata_store`.
	Path string
	// Family is KV or SQL: the family of the backend that is needed.
	Family string
	// Class has the keys of the reference: `namespace` and `backend`, or `table_name` and `backend`. It is nil where
	// Storage.Inline is set: there the keys are those of the backend.
	Class *schema.Class
	// Default is the reference that belongs in a config, with the names KVDefault and SQLDefault for the backend; nil
	// when the store is optional and off by default. Where Storage.Inline is set it is a whole backend. Its strings may
	// hold the placeholder {distribution}; For fills it.
	Default provider.Fields
	// Required says that the server does not start without the store when `storage` is given.
	Required bool
	// RequiredWith are settings with which the server does not start without the store, as soon as RequiredBy has a
	// provider: `server.auth.access_policy`, `server.tenancy.mode=multi`.
	RequiredWith []string
	// RequiredBy is the API whose providers need the store then: `vector_io`.
	RequiredBy string
	// ListOf is the API whose resources the server looks up in the store at each request: `vector_io`. Without the store a
	// pod finds those that it made itself, and those that were there when it started.
	ListOf string
}

// For returns the default for a distribution of the given name, nil when there is none.
func (s *Store) For(distribution string) provider.Fields {
	if s.Default == nil {
		return nil
	}
	fields, _ := provider.Fill(s.Default, s.Name, distribution).(provider.Fields)
	return fields
}

// Backend returns a kind of backend by its `type`.
func (s *Storage) Backend(backendType string) (Backend, bool) {
	for _, b := range s.Backends {
		if b.Type == backendType {
			return b, true
		}
	}
	return Backend{}, false
}

// Store returns a store by name.
func (s *Storage) Store(name string) (Store, bool) {
	for _, st := range s.Stores {
		if st.Name == name {
			return st, true
		}
	}
	return Store{}, false
}

// Lists returns the store in which the server looks up the resources of an API at each request.
func (s *Storage) Lists(api string) (Store, bool) {
	for _, st := range s.Stores {
		if st.ListOf == api {
			return st, true
		}
	}
	return Store{}, false
}
