package stackconfig

import (
	"bytes"
	"encoding/json"
	"math"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/llamastack/llama-stack-k8s-operator/internal/envref"
	"github.com/llamastack/llama-stack-k8s-operator/internal/stackconfig/yamlnode"
)

// ProviderKey tells the providers of a configuration apart.
type ProviderKey struct{ API, ID, Type string }

const (
	// maxShown bounds the settings of all providers together, in bytes: they are kept
	// in an object's status.
	maxShown = 64 << 10
	// hidden stands for a credential, as the server itself writes it.
	hidden = "********"
)

// RedactedSettings are the settings of the providers of a configuration, as JSON, for
// everybody to read. They are those of the file: a variable is shown as it is
// written, so that no value of the server's environment, and of no Secret, can be
// among them. What looks like a credential in clear text is replaced. Nil when the
// configuration cannot be read; what would be too much is left out.
func RedactedSettings(config []byte) map[ProviderKey][]byte {
	base, err := parseBase(config)
	if err != nil {
		return nil
	}
	all, size := map[ProviderKey][]byte{}, 0
	providers := yamlnode.Get(base.root, "providers")
	for _, api := range yamlnode.Keys(providers) {
		for _, item := range yamlnode.Items(yamlnode.Get(providers, api)) {
			id, _ := resolveID(yamlnode.Text(item, "provider_id"))
			settings := yamlnode.Get(item, "config")
			if yamlnode.Len(settings) == 0 {
				continue
			}
			data, err := encodeShown(shown(settings))
			if size += len(data); err != nil || size > maxShown {
				return all
			}
			all[ProviderKey{API: api, ID: id, Type: yamlnode.Text(item, "provider_type")}] = data
		}
	}
	return all
}

// encodeShown leaves <, > and & as they are: the text is for people.
func encodeShown(value any) ([]byte, error) {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	err := encoder.Encode(value)
	return bytes.TrimSpace(b.Bytes()), err
}

// shown is a value with its credentials hidden.
func shown(node *yaml.Node) any {
	switch node.Kind {
	case yaml.MappingNode:
		fields := map[string]any{}
		for _, key := range yamlnode.Keys(node) {
			value := yamlnode.Get(node, key)
			if mayHide(key, value) {
				fields[key] = hide(value)
			} else {
				fields[key] = shown(value)
			}
		}
		return fields
	case yaml.SequenceNode:
		items := []any{}
		for _, item := range node.Content {
			items = append(items, shown(item))
		}
		return items
	default:
		return shownScalar(node)
	}
}

func shownScalar(node *yaml.Node) any {
	switch node.ShortTag() {
	case "!!null":
		return nil
	case "!!bool":
		var b bool
		if node.Decode(&b) == nil {
			return b
		}
	case "!!int":
		var n int64
		if node.Decode(&n) == nil {
			return n
		}
	case "!!float":
		var f float64
		if node.Decode(&f) == nil && !math.IsNaN(f) && !math.IsInf(f, 0) {
			return f
		}
	}
	return shownText(node.Value)
}

// Words in the names of keys that hold credentials, and those that such names end
// with, in lower case and without separators.
var (
	hidingWords = []string{
		"password", "passwd", "passphrase", "pwd", "secret", "credential", "apikey", "accesskey", "privatekey", "authorization",
		"bearer", "cookie", "header", "dsn", "connectionstring", "signature",
	}
	hidingEnds = []string{"token", "tokens", "key", "keys", "auth"}
)

// mayHide says that the value of a key may be a credential. A number of tokens is
// none.
func mayHide(key string, value *yaml.Node) bool {
	name := strings.ToLower(strings.NewReplacer("_", "", "-", "", ".", "", " ", "").Replace(key))
	if name != "tokens" && strings.HasSuffix(name, "tokens") && amount.MatchString(literalOf(value.Value)) {
		return false
	}
	return slices.ContainsFunc(hidingWords, func(word string) bool { return strings.Contains(name, word) }) ||
		slices.ContainsFunc(hidingEnds, func(word string) bool { return strings.HasSuffix(name, word) })
}

// amount is a number that nobody would take for a credential.
var amount = regexp.MustCompile(`^[0-9]{0,7}$`)

// hide leaves nothing of a value but the names of variables, and that it is empty
// or a switch.
func hide(node *yaml.Node) any {
	switch {
	case node.Kind != yaml.ScalarNode:
		return hidden
	case node.Value == "", node.ShortTag() == "!!null", node.ShortTag() == "!!bool":
		return shownScalar(node)
	case envref.Prefixed.Replace(node.Value, func(envref.Reference) string { return "" }, nil) != "":
		return hidden
	default:
		return envref.Prefixed.Replace(node.Value, hideDefault, nil)
	}
}

func hideDefault(reference envref.Reference) string {
	if reference.Text != "" {
		reference.Text = hidden
	}
	return reference.String()
}

// What credentials in a text of any key look like: in an address, in parameters, by
// the beginnings that services give their tokens, or as long random text.
var credentialForms = []*regexp.Regexp{
	regexp.MustCompile(`://[^/?#\s]*[^/?#\s:@][^/?#\s]*@`),
	regexp.MustCompile(`^[^/@\s]*:[^/@\s]+@`),
	regexp.MustCompile(`(?i)(pass(word|wd)?|pwd|secret|token|key|credentials?|sig(nature)?|auth(orization)?)["']?\s*[=:]\s*\S`),
	regexp.MustCompile(`(?i)\b(bearer|basic)\s+\S`),
	regexp.MustCompile(`\b(sk|pk|rk|hf|gh[pousr]|github_pat|glpat|gsk|xox[abposr]|nvapi|tvly|fw|pplx|csk|r8)[-_][A-Za-z0-9_-]{8,}`),
	regexp.MustCompile(`\b(AKIA|ASIA|AIza|eyJ)[A-Za-z0-9_-]{12,}`),
	regexp.MustCompile(`-----BEGIN `),
}

// literalOf is a text with the defaults of its variables in their place.
func literalOf(text string) string {
	return envref.Prefixed.Replace(text, func(reference envref.Reference) string { return reference.Text }, nil)
}

// longWord is text without the separators that names have.
var longWord = regexp.MustCompile(`[A-Za-z0-9+=]{24,}`)

// shownText hides a text that looks like a credential, wherever it stands. What is
// in variables is not part of it, their defaults are.
func shownText(text string) string {
	literal := literalOf(text)
	looks := func(form *regexp.Regexp) bool { return form.MatchString(literal) }
	if slices.ContainsFunc(credentialForms, looks) || slices.ContainsFunc(longWord.FindAllString(literal, -1), isRandom) {
		return hidden
	}
	return text
}

// isRandom says that a long word has letters and digits mixed.
func isRandom(word string) bool {
	return strings.ContainsAny(word, "0123456789") && strings.ContainsFunc(word, func(r rune) bool { return r > '9' })
}
