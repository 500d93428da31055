package storage

import (
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/envref"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/intent"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/draft"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/release"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/secretvalue"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/yamlnode"
)

// backendWriter writes a backend that is a separate server.
type backendWriter struct {
	*storageWriter
	kind  release.Backend
	store *intent.Store
	node  *yaml.Node
	// id is the prefix of the backend's variable names: storage-kv or storage-sql.
	id string
}

func (b *backendWriter) put(key string, value *yaml.Node, path *field.Path) {
	b.Write(draft.Under(b.node, key), value, draft.From(path))
}

// redis writes a Redis backend. If the server's class has no key for a password, redis writes the URL-encoded password
// in front of the host, because the server inserts the host and the port into a URL (server fact 43).
func (b *backendWriter) redis() {
	path := b.store.Path.Child("endpoint")
	host := b.store.Host
	if password := b.store.Password; password != nil {
		if b.kind.CredentialInHost {
			host = ":" + b.part(names.FieldPassword, secretvalue.PartEncoded, password) + "@" + host
			path = password.Path
		} else {
			b.put(b.kind.CredentialKey, yamlnode.String(b.SecretVariable(password)), password.Path)
		}
	}
	b.put("host", yamlnode.String(host), path)
	b.put("port", yamlnode.Int(int64(b.store.Port)), b.store.Path.Child("endpoint"))
}

// sslMode is the key with which a PostgreSQL backend is configured to use TLS.
const sslMode = "ssl_mode"

// postgres writes the connection string in parts, because every release reads the parts (FR-052). Not every release
// reads a whole string, and those that do reject libpq's keyword form (server fact 44, server fact 45).
func (b *backendWriter) postgres() {
	if b.store.ConnectionString == nil {
		return
	}
	host, password := secretvalue.PartHost, secretvalue.PartPassword
	if _, known := b.kind.Class.Key(sslMode); !known {
		host = secretvalue.PartHostPlain
	}
	if b.kind.EncodePassword {
		password = secretvalue.PartPasswordEncoded
	}
	b.putPart("host", host)
	b.putPart("port", secretvalue.PartPort)
	b.putPart("db", secretvalue.PartDB)
	b.putPart("user", secretvalue.PartUser)
	b.putPart(b.kind.CredentialKey, password)
	b.putPart(sslMode, secretvalue.PartSSLMode)
}

// putPart writes a part of the connection string, if the backend has a key for it.
func (b *backendWriter) putPart(key string, part secretvalue.Part) {
	if _, known := b.kind.Class.Key(key); known {
		b.put(key, yamlnode.String(b.part(key, part, b.store.ConnectionString)), b.store.ConnectionString.Path)
	}
}

// part adds an entry to the Secret <name>-storage. The entry is derived from the Secret in ref. part returns a
// reference to the variable that holds the entry.
func (b *backendWriter) part(key string, part secretvalue.Part, ref *intent.SecretRef) string {
	variable := names.EnvVar(b.id, key)
	value := secretvalue.Derived{
		Key:    b.kind.Family + "-" + strings.ReplaceAll(key, "_", "-"), // for example kv-password or sql-ssl-mode
		Secret: ref.Name, SecretKey: ref.Key, Part: part, FieldPath: ref.Path.String(),
	}
	if part == secretvalue.PartHostPlain {
		value.TLSFrom = release.LineWithBackendKey(b.Release.Line, b.kind.Type, sslMode)
	}
	if !slices.Contains(b.derived, value) {
		b.derived = append(b.derived, value)
	}
	b.AddEnv(draft.EnvVar{
		Name: variable, SecretName: names.StorageSecret(b.Intent.Name), SecretKey: value.Key, FieldPath: value.FieldPath,
	})
	return envref.To(variable)
}
