package v1alpha2

// StateStorageSpec says where the server keeps its state (FR-008). What is not
// given stays as the base has it (FR-053).
type StateStorageSpec struct {
	// kv is the key-value store: registry, prompts, agents' state.
	// +optional
	KV *KVStorageSpec `json:"kv,omitempty"`

	// sql is the relational store: conversations, responses, files' metadata.
	// +optional
	SQL *SQLStorageSpec `json:"sql,omitempty"`
}

// StorageType is the kind of a state store.
// +kubebuilder:validation:Enum=sqlite;redis;postgres
type StorageType string

const (
	// StorageSQLite keeps state in a file below the data directory.
	StorageSQLite StorageType = "sqlite"
	// StorageRedis keeps key-value state in Redis.
	StorageRedis StorageType = "redis"
	// StoragePostgres keeps state in PostgreSQL.
	StoragePostgres StorageType = "postgres"
)

// KVStorageSpec is the key-value store (FR-050). A field that belongs to
// another type is refused.
type KVStorageSpec struct {
	// type is sqlite, redis or postgres. Unset: sqlite (FR-050b).
	// +optional
	Type StorageType `json:"type,omitempty"`

	// endpoint is host:port of Redis, or redis://host:port. Required for redis,
	// only for redis.
	// +optional
	Endpoint string `json:"endpoint,omitempty"`

	// password is the password of Redis. Only for redis.
	// +optional
	Password *SecretReference `json:"password,omitempty"`

	// connectionString is a PostgreSQL URL, postgresql://user:password@host:port/db.
	// Required for postgres, only for postgres.
	// +optional
	ConnectionString *SecretReference `json:"connectionString,omitempty"`
}

// SQLStorageSpec is the relational store (FR-051).
type SQLStorageSpec struct {
	// type is sqlite or postgres. Unset: sqlite (FR-051a).
	// +kubebuilder:validation:Enum=sqlite;postgres
	// +optional
	Type StorageType `json:"type,omitempty"`

	// connectionString is a PostgreSQL URL, postgresql://user:password@host:port/db
	// (FR-052). Required for postgres, only for postgres.
	// +optional
	ConnectionString *SecretReference `json:"connectionString,omitempty"`
}
