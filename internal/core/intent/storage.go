package intent

import (
	"cmp"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
)

// DefaultRedisPort is the Redis port if the endpoint does not contain a port.
const DefaultRedisPort int32 = 6379

func decodeStorage(spec *v1alpha2.StateStorageSpec, path *field.Path, errs *Errors) Storage {
	var storage Storage
	if spec == nil {
		return storage
	}
	if kv := spec.KV; kv != nil {
		storage.KV = decodeStore(kv, path.Child("kv"), errs, SQLite, Redis, Postgres)
	}
	if sql := spec.SQL; sql != nil {
		asKV := &v1alpha2.KVStorageSpec{Type: sql.Type, ConnectionString: sql.ConnectionString}
		storage.SQL = decodeStore(asKV, path.Child("sql"), errs, SQLite, Postgres)
	}
	return storage
}

// decodeStore reads a store. The default type is SQLite (FR-050b, FR-051a).
func decodeStore(spec *v1alpha2.KVStorageSpec, path *field.Path, errs *Errors, types ...string) *Store {
	store := &Store{Type: cmp.Or(string(spec.Type), SQLite), Path: path}
	s := storeChecks{Errors: errs, store: store}
	known := s.known(types)
	s.only(Redis, "endpoint", spec.Endpoint != "")
	s.only(Redis, "password", spec.Password != nil)
	s.only(Postgres, "connectionString", spec.ConnectionString != nil)
	switch {
	case !known:
	case store.Type == Redis:
		s.endpoint(spec.Endpoint)
		store.Password = Secret(spec.Password, path.Child("password"), errs)
	case store.Type == Postgres:
		s.connectionString(spec.ConnectionString)
	}
	return store
}

type storeChecks struct {
	*Errors
	store *Store
}

func (s storeChecks) known(types []string) bool {
	known := slices.Contains(types, s.store.Type)
	if !known {
		s.InvalidText(s.store.Path.Child("type"), s.store.Type, "is not a valid type for this store; known types: %s", strings.Join(types, ", "))
	}
	return known
}

// The method `only` rejects a field that is set but applies only to a different type of store.
func (s storeChecks) only(storeType, name string, given bool) {
	if given && s.store.Type != storeType {
		s.Forbidden(s.store.Path.Child(name),
			"applies only to type %s, but type is %s; set type: %s or remove the field", storeType, s.store.Type, storeType)
	}
}

func (s storeChecks) connectionString(ref *v1alpha2.SecretReference) {
	path := s.store.Path.Child("connectionString")
	if ref == nil {
		s.Required(path, "required for type postgres: write %s", secretShape)
		return
	}
	s.store.ConnectionString = Secret(ref, path, s.Errors)
}

// endpoint reads host:port or redis://host:port. The server builds the URL of Redis only from the host and the port, so
// the endpoint cannot contain a user or a database number, and cannot enable TLS.
func (s storeChecks) endpoint(text string) {
	path := s.store.Path.Child("endpoint")
	if text == "" {
		s.Required(path, "required for type redis: set the host and the port of the Redis server, as host:port")
		return
	}
	host, port, err := parseRedis(text)
	if err != nil {
		s.Invalid(path, withoutUser(text), "%v", err)
		return
	}
	s.store.Host, s.store.Port = host, port
}

func parseRedis(text string) (string, int32, error) {
	u, err := redisURL(text)
	if err != nil {
		return "", 0, err
	}
	host := u.Hostname()
	if strings.Contains(host, ":") {
		host = "[" + host + "]"
	}
	if u.Port() == "" {
		return host, DefaultRedisPort, nil
	}
	port, err := strconv.ParseUint(u.Port(), 10, 16)
	if err != nil || port == 0 {
		return "", 0, fmt.Errorf("%q has a port that is not between 1 and 65535; correct the port", withoutUser(text))
	}
	return host, int32(port), nil
}

// redisURL parses an endpoint, and rejects parts other than a host and a port.
func redisURL(text string) (*url.URL, error) {
	redacted := withoutUser(text)
	if !strings.Contains(text, "://") {
		text = "redis://" + text
	}
	u, err := url.Parse(text)
	switch {
	case err != nil || u.Hostname() == "" || strings.ContainsAny(text, " ${}"):
		return nil, fmt.Errorf("%q is not the address of a Redis server: write host:port or redis://host:port", redacted)
	case u.Scheme == "rediss":
		return nil, fmt.Errorf("%q requires TLS, but the server connects to Redis without TLS; write redis://", redacted)
	case u.Scheme != "redis":
		return nil, fmt.Errorf("%q is not the address of a Redis server: write host:port or redis://host:port", redacted)
	case u.User != nil:
		return nil, fmt.Errorf("%q contains a user name or password; put the password in a Secret, and set password.secretKeyRef", redacted)
	case u.RawQuery != "" || u.Fragment != "" || (u.Path != "" && u.Path != "/" && u.Path != "/0"):
		return nil, fmt.Errorf("%q contains more than a host and a port, but the server reads only the host and the port; write host:port", redacted)
	default:
		return u, nil
	}
}
