package absorb

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/envref"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/intent"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/release"
)

// addStorage adds the stores whose locations differ from the locations in the base.
func (c *candidate) addStorage() {
	if c.Distribution.Release.Storage.Inline {
		return // The later comparison reports the differences.
	}
	for _, family := range [][2]string{{release.KV, release.KVDefault}, {release.SQL, release.SQLDefault}} {
		field, name := family[0], family[1]
		theirs := objectAt(c.want, "storage", "backends", name)
		if len(theirs) == 0 || equal(theirs, at(c.base, "storage", "backends", name)) {
			continue
		}
		if store := c.store(theirs, "storage.backends."+name, field); store != nil {
			c.storage[field] = store
		}
	}
	c.keepRegistry()
}

// store returns a backend in the form that the spec uses, or nil if no field can hold it.
func (c *candidate) store(backend object, path, family string) object {
	kind := strings.TrimPrefix(textAt(backend, "type"), family+"_")
	switch kind {
	case "sqlite":
		return object{"type": "sqlite"}
	case "redis":
		return c.redis(backend)
	case "postgres":
		c.stay(path, "spec.storage."+family+" requires the whole connection string in one key of a Secret; "+
			"store the string in a Secret, and set spec.storage."+family+" yourself")
	}
	return nil
}

// redis returns a Redis backend in the form that the spec uses, with the password if it comes from a Secret. It returns
// nil if the endpoint field cannot hold the address.
func (c *candidate) redis(backend object) object {
	host := textAt(backend, "host")
	port, _ := backend["port"].(json.Number)
	if host == "" || envref.IsMeant(host) || strings.Contains(host, "@") || port == "" {
		return nil
	}
	store := object{"type": "redis", "endpoint": fmt.Sprintf("%s:%s", host, port)}
	kind, _ := c.Distribution.Release.Storage.Backend(release.KV + "_redis")
	if variable, secret, ok := c.fromSecret(backend[kind.CredentialKey]); ok && kind.CredentialKey != "" {
		store["password"] = secret.reference()
		c.commentSecret(variable, "spec", "storage", "kv", "password")
	}
	return store
}

// keepRegistry preserves the namespace of the server's registry if several stacks might share the registry's store.
// Without the variable names.EnvRegistry, a generated configuration derives the registry's namespace from the name and
// the namespace of the stack.
func (c *candidate) keepRegistry() {
	metadata := objectAt(c.want, "storage", "stores", "metadata")
	namespace := textAt(metadata, "namespace")
	kind := textAt(c.want, "storage", "backends", textAt(metadata, "backend"), "type")
	taken := slices.ContainsFunc(intent.Overrides(&c.Object.Spec).Env,
		func(v corev1.EnvVar) bool { return v.Name == names.EnvRegistry })
	if taken || kind == "" || kind == release.KV+"_sqlite" || namespace == "" || envref.IsMeant(namespace) {
		return
	}
	c.env = append(c.env, corev1.EnvVar{Name: names.EnvRegistry, Value: namespace})
}
