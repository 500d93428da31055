package storage

import (
	"slices"

	"go.yaml.in/yaml/v3"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/llamastack/llama-stack-k8s-operator/internal/envref"
	"github.com/llamastack/llama-stack-k8s-operator/internal/intent"
	"github.com/llamastack/llama-stack-k8s-operator/internal/names"
	"github.com/llamastack/llama-stack-k8s-operator/internal/stackconfig/draft"
	"github.com/llamastack/llama-stack-k8s-operator/internal/stackconfig/release"
	"github.com/llamastack/llama-stack-k8s-operator/internal/stackconfig/secretvalue"
	"github.com/llamastack/llama-stack-k8s-operator/internal/stackconfig/yamlnode"
)

// backendWriter writes a backend with its own server.
type backendWriter struct {
	*storageWriter
	kind  release.Backend
	store *intent.Store
	node  *yaml.Node
	// id is the prefix of the names of its variables: storage-kv, storage-sql.
	id string
}

func (b *backendWriter) put(key string, value *yaml.Node, path *field.Path) {
	b.Write(draft.Under(b.node, key), value, draft.From(path))
}

// redis writes a Redis backend. The server's class has no key for a password, so it is written before the host,
// URL-encoded, because the server inserts host and port into a URL (server fact 43).
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

// postgres writes the parts of the connection string, which every release reads (FR-052). Releases that take the whole
// string reject libpq's keyword form (server fact 44, server fact 45).
func (b *backendWriter) postgres() {
	ref := b.store.ConnectionString
	if ref == nil {
		return
	}
	host, password := secretvalue.PartHost, secretvalue.PartPassword
	if _, known := b.kind.Class.Key("ssl_mode"); !known {
		host = secretvalue.PartHostPlain
	}
	if b.kind.EncodePassword {
		password = secretvalue.PartPasswordEncoded
	}
	for _, part := range []struct {
		key  string
		part secretvalue.Part
	}{
		{"host", host},
		{"port", secretvalue.PartPort},
		{"db", secretvalue.PartDB},
		{"user", secretvalue.PartUser},
		{b.kind.CredentialKey, password},
		{"ssl_mode", secretvalue.PartSSLMode},
	} {
		if _, known := b.kind.Class.Key(part.key); known {
			b.put(part.key, yamlnode.String(b.part(part.key, part.part, ref)), ref.Path)
		}
	}
}

// part derives a value from a Secret's into the Secret <name>-storage, and returns the text that stands for it.
func (b *backendWriter) part(key string, part secretvalue.Part, ref *intent.SecretRef) string {
	variable := names.EnvVar(b.id, key)
	value := secretvalue.Derived{
		Key: derivedKey(b.kind.Family, key), Secret: ref.Name, SecretKey: ref.Key, Part: part, FieldPath: ref.Path.String(),
	}
	if !slices.Contains(b.derived, value) {
		b.derived = append(b.derived, value)
	}
	b.AddEnv(draft.EnvVar{
		Name: variable, SecretName: names.StorageSecret(b.Intent.Name), SecretKey: value.Key, FieldPath: value.FieldPath,
	})
	return envref.To(variable)
}

// derivedKey returns the key in the Secret: kv-password, sql-ssl-mode.
func derivedKey(family, key string) string {
	out := []byte(family + "-" + key)
	for i, c := range out {
		if c == '_' {
			out[i] = '-'
		}
	}
	return string(out)
}
