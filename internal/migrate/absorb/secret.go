package absorb

import (
	"fmt"
	"regexp"
	"strings"

	"k8s.io/utils/ptr"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/envref"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/intent"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/credential"
)

// secretKey is a key of a Secret.
type secretKey struct{ name, key string }

func (k secretKey) reference() object {
	return object{"secretKeyRef": object{"name": k.name, "key": k.key}}
}

// secretsOf returns the variables of a stack's container that a Secret must provide. It leaves out optional variables,
// because a reference in the spec makes the Secret required.
func secretsOf(stack *v1alpha2.LlamaStackDistribution) map[string]secretKey {
	found := make(map[string]secretKey)
	for name, ref := range stack.Spec.SecretEnv {
		found[name] = secretKey{ref.SecretKeyRef.Name, ref.SecretKeyRef.Key}
	}
	env := intent.Overrides(&stack.Spec).Env
	for i := range env {
		delete(found, env[i].Name) // If several variables have the same name, the last one takes effect.
		source := env[i].ValueFrom
		if source == nil || source.SecretKeyRef == nil || ptr.Deref(source.SecretKeyRef.Optional, false) {
			continue
		}
		found[env[i].Name] = secretKey{source.SecretKeyRef.Name, source.SecretKeyRef.Key}
	}
	return found
}

// fromSecret returns the variable and the key of a Secret that provide a complete value. It does not accept a reference
// with a default, because the default takes effect if the Secret's value is empty.
func (b *builder) fromSecret(value any) (variable string, key secretKey, ok bool) {
	text, _ := value.(string)
	found, isWhole := envref.Server.Whole(text)
	if !isWhole || found.Operator != "" {
		return "", secretKey{}, false
	}
	key, ok = b.secrets[found.Name]
	return found.Name, key, ok
}

// userInURL matches a URL with a password.
var userInURL = regexp.MustCompile(`://[^/@\s]*:([^/@\s]+)@`)

// hasPassword reports whether a string is a URL with a literal password.
func hasPassword(text string) bool {
	found := userInURL.FindStringSubmatch(text)
	return found != nil && !harmless(found[1])
}

// clearText returns a reason for each possible credential in a value, if a manifest would contain the credential in
// clear text.
func (b *builder) clearText(path, key string, value any, isCredential bool) []Reason {
	isCredential = isCredential || credential.IsKey(key) || strings.EqualFold(key, "authorization")
	var stays []Reason
	switch v := value.(type) {
	case object:
		for _, inner := range sortedKeys(v) {
			stays = append(stays, b.clearText(path+"."+inner, inner, v[inner], isCredential)...)
		}
	case []any:
		for i, item := range v {
			stays = append(stays, b.clearText(fmt.Sprintf("%s[%d]", path, i), key, item, isCredential)...)
		}
	case nil, bool:
	case string:
		if !b.shown[v] && (hasPassword(v) || isCredential && !harmless(v)) {
			stays = append(stays, Reason{path, inClearText})
		}
	default:
		if isCredential {
			stays = append(stays, Reason{path, inClearText})
		}
	}
	return stays
}

const inClearText = "might be a credential in clear text, so this command does not write the value to a manifest; " +
	"store the value in a Secret, set a variable from the Secret in spec.secretEnv, and use ${env.NAME} in the configuration"

// harmless reports whether a credential is empty or a variable without a default.
func harmless(text string) bool {
	found, isWhole := envref.Server.Whole(text)
	return text == "" || isWhole && found.Text == ""
}
