package credential

import (
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/envref"
)

// words lists, in lower case, the endings of keys whose value is always a credential.
var words = []string{
	"password", "passwd", "passphrase", "secret", "api_key", "api_keys", "apikey", "access_key", "secret_key",
	"private_key", "token",
}

// IsKey reports whether the value of a key in the server's configuration is always a credential. Examples are
// client_secret, api_keys and token.
func IsKey(key string) bool {
	key = strings.ToLower(strings.ReplaceAll(key, "-", "_"))
	return slices.ContainsFunc(words, func(word string) bool { return key == word || strings.HasSuffix(key, "_"+word) })
}

// IsClearText reports whether the value of a credential is text without a reference to a variable.
func IsClearText(value any) bool {
	text, ok := value.(string)
	return ok && text != "" && !envref.In(text)
}

// ClearText returns the paths of the credentials in clear text in a JSON value, sorted by key.
func ClearText(value any, path *field.Path) []*field.Path {
	var found []*field.Path
	switch v := value.(type) {
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			if IsKey(key) && holdsClearText(v[key]) {
				found = append(found, path.Child(key))
				continue
			}
			found = append(found, ClearText(v[key], path.Child(key))...)
		}
	case []any:
		for i, item := range v {
			found = append(found, ClearText(item, path.Index(i))...)
		}
	}
	return found
}

func holdsClearText(value any) bool {
	list, isList := value.([]any)
	return IsClearText(value) || isList && slices.ContainsFunc(list, IsClearText)
}
