package redact

import (
	"regexp"
	"strings"
)

// Mark replaces a secret value.
const Mark = "<redacted>"

// forms are secrets that are recognized by their form. The replacement keeps the text that is not secret.
var forms = []struct {
	pattern     *regexp.Regexp
	replacement string
}{
	{regexp.MustCompile(`(?s)-----BEGIN [A-Z0-9 ]*PRIVATE KEY-----.*?(-----END [A-Z0-9 ]*PRIVATE KEY-----|$)`), Mark},
	{regexp.MustCompile(`://[^/\s@'"<>]*@`), "://" + Mark + "@"},
	{regexp.MustCompile(`(?i)\b(bearer|basic)\s+[A-Za-z0-9._~+/=-]{6,}`), "$1 " + Mark},
	{regexp.MustCompile(`\beyJ[A-Za-z0-9_-]{6,}\.[A-Za-z0-9_-]+\.?[A-Za-z0-9_-]*`), Mark},
	{regexp.MustCompile(`\b(sk|pk|rk|gsk|hf|nvapi|tgp|r8|xai|pplx|csk|fw|esecret|glpat|gh[opsru]|github_pat|xox[abeoprs]|dapi|tvly|BSA)[-_][A-Za-z0-9_-]{8,}`), Mark},
	{regexp.MustCompile(`\b(AKIA|ASIA)[0-9A-Z]{12,}`), Mark},
	{regexp.MustCompile(`\bAIza[A-Za-z0-9_-]{16,}`), Mark},
	{regexp.MustCompile(`\bsha256~[A-Za-z0-9_-]{8,}`), Mark},
}

const (
	// credentialName is the end of a name that holds a credential.
	credentialName = `[\w.-]*(?:password|passwd|passphrase|secret|token|api[_-]?key|access[_-]?key|private[_-]?key|credential|` +
		`authorization|cookie)s?`
	// someValue is a value with or without quotes. The closing quote may be cut off.
	someValue = `(\\?"(?:[^"\\]|\\[^"])*\\?"|'[^']*'|\\?["']?[^\s"',;&]+)`
)

// assignments are names that hold a credential, with a value: password=x, "api_key": "x", --token x.
var assignments = []*regexp.Regexp{
	regexp.MustCompile(`(?i)(` + credentialName + `\\?["']?\s*[:=]\s*(?:\\?["']?(?:bearer|basic)\s+)?)` + someValue),
	regexp.MustCompile(`(?i)(\B--?` + credentialName + `\s+)` + someValue),
}

// Text returns a text without the secrets that are recognized by their form or by a name before them.
func Text(text string) string {
	for _, form := range forms {
		text = form.pattern.ReplaceAllString(text, form.replacement)
	}
	for _, assignment := range assignments {
		text = assignment.ReplaceAllStringFunc(text, func(found string) string {
			parts := assignment.FindStringSubmatch(found)
			value := strings.Trim(parts[2], `\"'`)
			if isReference(value) || isPlain(value) || strings.HasPrefix(value, Mark) {
				return found
			}
			return parts[1] + Mark
		})
	}
	return text
}

// plain are values that are not secret whatever their name.
var plain = regexp.MustCompile(`^(|[0-9]{1,6}|true|false|null|None|` + regexp.QuoteMeta(Mark) + `)$`)

func isPlain(value string) bool { return plain.MatchString(value) }

// reference matches a value that is only a reference to a variable, without a default.
var reference = regexp.MustCompile(`^\$\{env\.[A-Za-z0-9_]+\}?$`)

func isReference(value string) bool { return reference.MatchString(value) }
