package registry

import (
	"strings"
	"testing"
)

// The error about a pull Secret contains no part of the Secret, not even the name of a registry, because a user can
// write the password there.
func TestKeychainErrorsShowNothing(t *testing.T) {
	for _, content := range []string{
		`{"https://u:cAnArY@example.com": "cAnArY"}`, `{"cAnArY": 1}`, `cAnArY`, `{"a": {"auth": 7, "cAnArY": 1}}`,
	} {
		for name, add := range map[string]func(*Keychain) error{
			"dockercfg":        func(k *Keychain) error { return k.AddOlder([]byte(content)) },
			"dockerconfigjson": func(k *Keychain) error { return k.Add([]byte(`{"auths": ` + content + `}`)) },
		} {
			if err := add(&Keychain{}); err == nil || strings.Contains(err.Error(), "cAnArY") {
				t.Errorf("%s %s: %v", name, content, err)
			}
		}
	}
}
