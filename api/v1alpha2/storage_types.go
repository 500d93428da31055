package v1alpha2

// StateStorageSpec sets where the server keeps its state (FR-008). If a store is unset, the server uses the store of
// the base configuration (FR-053).
type StateStorageSpec struct {
	// kv is the key-value store. It holds the registry, prompts and agent state.
	// +optional
	KV *KVStorageSpec `json:"kv,omitempty"`

	// sql is the relational store. It holds conversations, responses and file metadata.
	// +optional
	SQL *SQLStorageSpec `json:"sql,omitempty"`
}

// StorageType is a type of state store.
type StorageType string

const (
	// StorageSQLite keeps state in a file under the data directory.
	StorageSQLite StorageType = "sqlite"
	// StorageRedis keeps key-value state in Redis.
	StorageRedis StorageType = "redis"
	// StoragePostgres keeps state in PostgreSQL.
	StoragePostgres StorageType = "postgres"
)

// KVStorageSpec is the key-value store (FR-050). A field that applies only to a different type of store is rejected.
//
// The rule for endpoint is a rule on the object, not on the field. If a rule on a field fails, the API server's error
// contains the value of the field, which can include a password.
//
// +kubebuilder:validation:XValidation:rule=`!has(self.endpoint) || self.endpoint.matches('^(redis://)?([a-zA-Z0-9._-]+|[[][0-9a-fA-F:.]+[]])(:[0-9]{1,5})?(/0?)?$')`,message=`must be host:port or redis://host:port`,messageExpression=`self.endpoint.contains('@') ? '"…' + self.endpoint.substring(self.endpoint.lastIndexOf('@')) + '" contains a user name or password: put the password in a Secret, and set password.secretKeyRef' : '"' + self.endpoint + '" is not the address of a Redis server: write host:port or redis://host:port'`,fieldPath=`.endpoint`,reason=FieldValueInvalid
// +kubebuilder:validation:XValidation:rule=`!has(self.endpoint) || (has(self.type) && self.type == 'redis')`,message=`applies only to type redis: set type: redis or remove the field`,messageExpression=`'applies only to type redis, but type is ' + (has(self.type) ? self.type : 'sqlite') + '; set type: redis or remove the field'`,fieldPath=`.endpoint`,reason=FieldValueForbidden
// +kubebuilder:validation:XValidation:rule=`!has(self.password) || (has(self.type) && self.type == 'redis')`,message=`applies only to type redis: set type: redis or remove the field`,messageExpression=`'applies only to type redis, but type is ' + (has(self.type) ? self.type : 'sqlite') + '; set type: redis or remove the field'`,fieldPath=`.password`,reason=FieldValueForbidden
// +kubebuilder:validation:XValidation:rule=`!has(self.connectionString) || (has(self.type) && self.type == 'postgres')`,message=`applies only to type postgres: set type: postgres or remove the field`,messageExpression=`'applies only to type postgres, but type is ' + (has(self.type) ? self.type : 'sqlite') + '; set type: postgres or remove the field'`,fieldPath=`.connectionString`,reason=FieldValueForbidden
// +kubebuilder:validation:XValidation:rule=`has(self.endpoint) || !has(self.type) || self.type != 'redis'`,message=`required for type redis: set the host and the port of the Redis server, as host:port`,fieldPath=`.endpoint`,reason=FieldValueRequired
// +kubebuilder:validation:XValidation:rule=`has(self.connectionString) || !has(self.type) || self.type != 'postgres'`,message=`required for type postgres: write {secretKeyRef: {name: <Secret>, key: <key>}}`,fieldPath=`.connectionString`,reason=FieldValueRequired
type KVStorageSpec struct {
	// type is sqlite, redis or postgres. Defaults to sqlite (FR-050b).
	// +kubebuilder:validation:Enum=sqlite;redis;postgres
	// +optional
	Type StorageType `json:"type,omitempty"`

	// endpoint is the address of the Redis server, as host:port or redis://host:port. It is required for redis, and must
	// be unset otherwise.
	// +kubebuilder:validation:MaxLength=320
	// +optional
	Endpoint string `json:"endpoint,omitempty"`

	// password is the Redis password. It must be unset for types other than redis.
	// +optional
	Password *SecretReference `json:"password,omitempty"`

	// connectionString is a PostgreSQL URL, postgresql://user:password@host:port/db. It is required for postgres, and
	// must be unset otherwise.
	// +optional
	ConnectionString *SecretReference `json:"connectionString,omitempty"`
}

// SQLStorageSpec is the relational store (FR-051).
//
// +kubebuilder:validation:XValidation:rule=`!has(self.connectionString) || (has(self.type) && self.type == 'postgres')`,message=`applies only to type postgres: set type: postgres or remove the field`,messageExpression=`'applies only to type postgres, but type is ' + (has(self.type) ? self.type : 'sqlite') + '; set type: postgres or remove the field'`,fieldPath=`.connectionString`,reason=FieldValueForbidden
// +kubebuilder:validation:XValidation:rule=`has(self.connectionString) || !has(self.type) || self.type != 'postgres'`,message=`required for type postgres: write {secretKeyRef: {name: <Secret>, key: <key>}}`,fieldPath=`.connectionString`,reason=FieldValueRequired
type SQLStorageSpec struct {
	// type is sqlite or postgres. Defaults to sqlite (FR-051a).
	// +kubebuilder:validation:Enum=sqlite;postgres
	// +optional
	Type StorageType `json:"type,omitempty"`

	// connectionString is a PostgreSQL URL, postgresql://user:password@host:port/db (FR-052). It is required for
	// postgres, and must be unset otherwise.
	// +optional
	ConnectionString *SecretReference `json:"connectionString,omitempty"`
}
