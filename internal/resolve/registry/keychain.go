package registry

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/google/go-containerregistry/pkg/authn"

	"github.com/llamastack/llama-stack-k8s-operator/internal/imagename"
)

// Keychain holds the credentials of pull Secrets.
type Keychain struct{ entries []keychainEntry }

type keychainEntry struct {
	// target is a registry, or a repository below a registry.
	target string
	config authn.AuthConfig
}

// createAgain is the remedy for a pull Secret that cannot be read.
const createAgain = "create the Secret again with kubectl create secret docker-registry"

// Add adds the credentials in the value of a .dockerconfigjson key. Errors do not contain credentials.
func (k *Keychain) Add(content []byte) error {
	var document struct {
		Auths map[string]json.RawMessage `json:"auths"`
	}
	if err := json.Unmarshal(content, &document); err != nil {
		return errors.New("does not contain valid JSON; " + createAgain)
	}
	for target, raw := range document.Auths {
		var config authn.AuthConfig
		if err := json.Unmarshal(raw, &config); err != nil {
			return fmt.Errorf("has no usable credentials for %q; %s", target, createAgain)
		}
		k.entries = append(k.entries, keychainEntry{target: withoutVersion(target), config: config})
	}
	return nil
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
	best := -1
	for i := range k.entries {
		if imagename.HasPrefix(resource.String(), k.entries[i].target) &&
			(best < 0 || len(k.entries[i].target) > len(k.entries[best].target)) {
			best = i
		}
	}
	if best < 0 {
		return authn.Anonymous, nil
	}
	return authn.FromConfig(k.entries[best].config), nil
}
