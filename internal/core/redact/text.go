package redact

import (
	"regexp"
	"slices"
	"strings"
)

// Mark replaces a secret value.
const Mark = "<redacted>"

// privateKey matches a private key in PEM format, even if its end is missing.
var privateKey = regexp.MustCompile(
	`(?s)-----BEGIN [A-Z0-9 ]*PRIVATE KEY-----.*?(-----END [A-Z0-9 ]*PRIVATE KEY-----|$)`,
)

// forms are the patterns of secrets that Text recognizes by their form. The replacement keeps the text that is not
// secret.
var forms = []struct {
	pattern     *regexp.Regexp
	replacement string
}{
	{regexp.MustCompile(`(?i)((?:proxy-)?authorization|(?:set-)?cookie):\s*[^\s"'\\][^"'\\\r\n]*`), "$1: " + Mark},
	{regexp.MustCompile(`(?i)\b(bearer|basic)\s+[A-Za-z0-9._~+/=-]{6,}`), "$1 " + Mark},
	{regexp.MustCompile(`\beyJ[A-Za-z0-9._-]{10,}`), Mark},
	{regexp.MustCompile(`\bdapi[A-Za-z0-9]{10,}`), Mark},
	{
		regexp.MustCompile(
			`\b(sk|pk|rk|gsk|hf|nvapi|tgp|r8|xai|pplx|csk|fw|esecret|glpat|gh[opsru]|github_pat|xox[abeoprs]|dapi|tvly|BSA)` +
				`[-_][A-Za-z0-9_-]{8,}`,
		),
		Mark,
	},
	{regexp.MustCompile(`\b(AKIA|ASIA)[0-9A-Z]{12,}`), Mark},
	{regexp.MustCompile(`\bAIza[A-Za-z0-9_-]{10,}`), Mark},
	{regexp.MustCompile(`\bsha256~[A-Za-z0-9_-]{8,}`), Mark},
}

const (
	// credentialName matches a name that ends with a word for a credential.
	credentialName = `[\w.-]*(?:password|passwd|passphrase|passcode|\bpass|\bpwd|\bpsw|\bpin|\bsig|signature|\bsas|secret|token|api[_-]?key|access[_-]?key|private[_-]?key|` +
		`credential|authorization|cookie)s?`
	// someValue matches a value with or without quotes. The closing quote can be missing.
	someValue = `(\\?"(?:[^"\\]|\\[^"])*\\?"|'[^']*'|\\?["']?[^\s"',;&]+)`
)

// assignments match a name that holds a credential, with its value, for example password=x, "api_key": "x", --token x.
var assignments = []*regexp.Regexp{
	regexp.MustCompile(`(?i)(` + credentialName + `\\?["']?\s*[:=]\s*(?:\\?["']?(?:bearer|basic)\s+)?)` + someValue),
	regexp.MustCompile(`(?i)(\B--?` + credentialName + `\s+)` + someValue),
}

// triggers lists strings in lower case. Every line with a secret that Text recognizes contains one of them. Text skips
// all other lines, which saves time for long logs.
var triggers = []string{
	"://", "pass", "pwd", "psw", "pin", "sig", "sas", "secret", "token", "key", "credential", "authorization", "cookie",
	"bearer",
	"basic", "eyj", "akia", "asia", "aiza", "sha256~", "sk", "pk", "rk", "hf", "nvapi", "tgp", "r8", "xai", "pplx", "fw",
	"glpat", "gh", "xox", "dapi", "tvly", "bsa",
}

// Text returns a string without the secrets that it recognizes by their form or by a name before them.
func Text(text string) string {
	if strings.Contains(text, "PRIVATE KEY-----") {
		text = privateKey.ReplaceAllString(text, Mark)
	}
	var kept strings.Builder
	for line := range strings.Lines(text) {
		folded := strings.ToLower(line)
		if slices.ContainsFunc(triggers, func(trigger string) bool { return strings.Contains(folded, trigger) }) {
			line = textOfLine(line)
		}
		kept.WriteString(line)
	}
	return kept.String()
}

// userInfo matches the user and the password in a URL, up to the last @, because a password can contain any character.
var userInfo = regexp.MustCompile(`://([^\s'"<>]*)@`)

func textOfLine(line string) string {
	line = userInfo.ReplaceAllStringFunc(line, func(found string) string {
		_, password, _ := strings.Cut(strings.TrimSuffix(strings.TrimPrefix(found, "://"), "@"), ":")
		if isReference(password) {
			return found
		}
		return "://" + Mark + "@"
	})
	for _, form := range forms {
		line = form.pattern.ReplaceAllString(line, form.replacement)
	}
	for _, assignment := range assignments {
		line = assignment.ReplaceAllStringFunc(line, func(found string) string {
			parts := assignment.FindStringSubmatch(found)
			if isSecretValue(parts[1], strings.Trim(parts[2], `\"'`)) {
				return parts[1] + Mark
			}
			return found
		})
	}
	return line
}

// isSecretValue reports whether the value after a name is secret. The name can begin a reference: ${env.NAME:+value} or
// ${env.NAME:=default}.
func isSecretValue(name, value string) bool {
	if strings.HasPrefix(name, "env.") {
		if strings.HasPrefix(value, "+") {
			return false
		}
		value = strings.TrimSuffix(strings.TrimPrefix(value, "="), "}")
	}
	return !isReference(value) && !plainValue.MatchString(value) && !strings.HasPrefix(value, Mark)
}

// plainValue matches values that are not secret, regardless of their name.
var plainValue = regexp.MustCompile(`^(|[0-9]{1,6}|true|false|null|None|` + regexp.QuoteMeta(Mark) + `)$`)

// reference matches a value that is only a reference to a variable, without a default.
var reference = regexp.MustCompile(`^\$\{env\.[A-Za-z0-9_]+\}?$`)

func isReference(value string) bool { return reference.MatchString(value) }
