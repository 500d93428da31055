package registry

import (
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/google/go-containerregistry/pkg/authn"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/imagename"
)

// Keychain holds the credentials of pull Secrets.
type Keychain struct {
	// Repositories lists the repositories that will be read, as their full names. The Keychain keeps only the entry that
	// matches each of them best, because pull Secrets can hold megabytes of other entries. Nil means that it keeps every
	// entry.
	Repositories []string

	entries []*keychainEntry
	best    map[string]*keychainEntry // by repository
	// covers lists the repositories that an entry with a target matches. Secrets can have half a million entries, and a
	// stack can have a thousand repositories.
	covers map[string][]string
}

type keychainEntry struct {
	// target is a registry, or a repository below a registry.
	target string
	config authn.AuthConfig
}

// size returns the size, in bytes, of the credentials in an entry.
func (e *keychainEntry) size() int {
	return len(e.target) + len(e.config.Username) + len(e.config.Password) + len(e.config.Auth) +
		len(e.config.IdentityToken) + len(e.config.RegistryToken)
}

// createAgain is the remedy for a pull Secret that cannot be read.
const createAgain = "create the Secret again with kubectl create secret docker-registry"

var (
	errNotJSON = errors.New("does not contain valid JSON; " + createAgain)
	// errUnusable does not name the registry, because its name is a part of the Secret, and can contain a password.
	errUnusable = errors.New("contains an entry without usable credentials; " + createAgain)
)

// Add adds the credentials in the value of a .dockerconfigjson key. Errors do not contain credentials.
func (k *Keychain) Add(content []byte) error {
	var document struct {
		Auths map[string]json.RawMessage `json:"auths"`
	}
	if err := json.Unmarshal(content, &document); err != nil {
		return errNotJSON
	}
	return k.addAll(document.Auths)
}

// AddOlder adds the credentials in the value of a .dockercfg key.
func (k *Keychain) AddOlder(content []byte) error {
	var auths map[string]json.RawMessage
	if err := json.Unmarshal(content, &auths); err != nil {
		return errNotJSON
	}
	return k.addAll(auths)
}

// addAll adds entries in the order of their targets, because different targets can be the same without their version.
func (k *Keychain) addAll(auths map[string]json.RawMessage) error {
	for _, target := range slices.Sorted(maps.Keys(auths)) {
		entry := &keychainEntry{target: withoutVersion(target)}
		if err := json.Unmarshal(auths[target], &entry.config); err != nil {
			return errUnusable
		}
		k.keep(entry)
	}
	return nil
}

// keep keeps an entry if it is the best one so far for a repository.
func (k *Keychain) keep(entry *keychainEntry) {
	if k.Repositories == nil {
		k.entries = append(k.entries, entry)
		return
	}
	if k.covers == nil {
		k.covers = map[string][]string{}
		for _, repository := range k.Repositories {
			for target, more := repository, true; more; target, more = parent(target) {
				k.covers[target] = append(k.covers[target], repository)
			}
		}
	}
	for _, repository := range k.covers[entry.target] {
		if best := k.best[repository]; best != nil && len(best.target) >= len(entry.target) {
			continue
		}
		if k.best == nil {
			k.best = map[string]*keychainEntry{}
		}
		k.best[repository] = entry
	}
}

// parent returns the longest other prefix of a repository (see imagename.HasPrefix).
func parent(repository string) (string, bool) {
	i := strings.LastIndexByte(repository, '/')
	return repository[:max(i, 0)], i > 0
}

// finish drops what only Add needs, and returns the size, in bytes, of what is kept.
func (k *Keychain) finish() int {
	k.Repositories, k.covers = nil, nil
	total, counted := 0, map[*keychainEntry]bool{}
	for repository, entry := range k.best {
		total += len(repository)
		if !counted[entry] {
			counted[entry] = true
			total += entry.size()
		}
	}
	for _, entry := range k.entries {
		total += entry.size()
	}
	return total
}

// withoutVersion returns a target without the scheme and the API version that older programs write, as in
// https://index.docker.io/v1/.
func withoutVersion(target string) string {
	target = strings.TrimPrefix(strings.TrimPrefix(target, "https://"), "http://")
	host, path, _ := strings.Cut(target, "/")
	if first, rest, _ := strings.Cut(path, "/"); first == "v1" || first == "v2" {
		path = rest
	}
	return strings.TrimSuffix(imagename.Registry(host)+"/"+path, "/")
}

// Resolve returns the credentials for a registry or a repository. If several entries match, it returns the credentials
// of the entry with the longest name. If no entry matches, it returns anonymous credentials, as the kubelet does.
func (k *Keychain) Resolve(resource authn.Resource) (authn.Authenticator, error) {
	best := k.best[resource.String()]
	for _, entry := range k.entries {
		if imagename.HasPrefix(resource.String(), entry.target) && (best == nil || len(entry.target) > len(best.target)) {
			best = entry
		}
	}
	if best == nil {
		return authn.Anonymous, nil
	}
	return authn.FromConfig(best.config), nil
}
