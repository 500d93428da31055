package redact

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"slices"
	"strings"
)

// shortest is the minimum length in bytes of a known value that Text replaces. Shorter values are often ordinary words.
const shortest = 8

// Known is a set of values that are known to be secret. Its methods replace these values everywhere in text.
type Known struct {
	values   map[string]bool
	replacer *strings.Replacer
}

// Add adds a value, its base64 form, and each of its lines. If the value is a JSON object, such as registry credentials
// or a cloud key, Add also adds the credentials in the object. Add ignores values shorter than the constant shortest,
// and lines that are only a reference to a variable.
func (k *Known) Add(value string) {
	k.replacer = nil
	if k.values == nil {
		k.values = map[string]bool{}
	}
	for line := range strings.Lines(value) {
		k.add(strings.TrimSpace(line))
	}
	if len(value) >= shortest {
		k.values[base64.StdEncoding.EncodeToString([]byte(value))] = true
	}
	k.add(strings.TrimSpace(value))
	var object map[string]any
	if json.Unmarshal([]byte(value), &object) == nil {
		k.addCredentials(object)
	}
}

// addCredentials adds each string in an object that is the value of a key with credentials (see IsKey).
func (k *Known) addCredentials(object map[string]any) {
	for key, item := range object {
		switch item := item.(type) {
		case map[string]any:
			k.addCredentials(item)
		case string:
			if IsKey(key) {
				k.Add(item)
			}
		}
	}
}

func (k *Known) add(value string) {
	if len(value) >= shortest && value != Mark && !isReference(value) {
		k.values[value] = true
	}
}

// Text replaces the known values in a string, and the secrets that the Text function of this package recognizes.
func (k *Known) Text(text string) string {
	if k.replacer == nil {
		// If one value is a prefix of another, the longer one must come first.
		var values []string
		for value := range k.values {
			values = append(values, value)
		}
		slices.SortFunc(values, func(a, b string) int { return cmp.Or(cmp.Compare(len(b), len(a)), cmp.Compare(a, b)) })
		var pairs []string
		for _, value := range values {
			pairs = append(pairs, value, Mark)
		}
		k.replacer = strings.NewReplacer(pairs...)
	}
	return Text(k.replacer.Replace(text))
}
