package redact

import (
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/llamastack/llama-stack-k8s-operator/internal/envref"
)

// credentialWord is a part of the names of keys that hold credentials, in lower case.
type credentialWord struct {
	text string
	// certain says that a key which ends with the word holds a credential and nothing else.
	certain bool
	// atEnd says that the word hides a value only at the end of a key.
	atEnd bool
}

var credentialWords = []credentialWord{
	{text: "password", certain: true},
	{text: "passwd", certain: true},
	{text: "passphrase", certain: true},
	{text: "pwd"},
	{text: "secret", certain: true},
	{text: "credential"},
	{text: "api_key", certain: true},
	{text: "api_keys", certain: true},
	{text: "apikey", certain: true},
	{text: "access_key", certain: true},
	{text: "secret_key", certain: true},
	{text: "private_key", certain: true},
	{text: "authorization"},
	{text: "bearer"},
	{text: "cookie"},
	{text: "header"},
	{text: "dsn"},
	{text: "connection_string"},
	{text: "signature"},
	{text: "token", certain: true, atEnd: true},
	{text: "tokens", atEnd: true},
	{text: "key", atEnd: true},
	{text: "keys", atEnd: true},
	{text: "auth", atEnd: true},
}

// NamesCredential reports whether a key of the server's configuration is sure to hold a credential: client_secret, api_keys,
// token.
func NamesCredential(key string) bool {
	key = strings.ToLower(strings.ReplaceAll(key, "-", "_"))
	return slices.ContainsFunc(credentialWords, func(word credentialWord) bool {
		return word.certain && (key == word.text || strings.HasSuffix(key, "_"+word.text))
	})
}

// IsClearText reports whether the value of a credential is a text that is no reference to a variable.
func IsClearText(value any) bool {
	text, ok := value.(string)
	return ok && text != "" && !envref.In(text)
}

// withoutSeparators makes names alike that differ in their separators only.
var withoutSeparators = strings.NewReplacer("_", "", "-", "", ".", "", " ", "")

// mayHide reports whether the value of a key may be a credential. A number of tokens is none.
func mayHide(key string, value *yaml.Node) bool {
	name := strings.ToLower(withoutSeparators.Replace(key))
	if name != "tokens" && strings.HasSuffix(name, "tokens") && amount.MatchString(literalOf(value.Value)) {
		return false
	}
	return slices.ContainsFunc(credentialWords, func(word credentialWord) bool {
		text := withoutSeparators.Replace(word.text)
		return strings.HasSuffix(name, text) || !word.atEnd && strings.Contains(name, text)
	})
}

// amount is a number that nobody would take for a credential.
var amount = regexp.MustCompile(`^[0-9]{0,7}$`)

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

// longWord is text without the separators that names have.
var longWord = regexp.MustCompile(`[A-Za-z0-9+=]{24,}`)

// isRandom says that a long word has letters and digits mixed.
func isRandom(word string) bool {
	return strings.ContainsAny(word, "0123456789") && strings.ContainsFunc(word, func(r rune) bool { return r > '9' })
}
