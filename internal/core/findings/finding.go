package findings

import "strings"

// These constants are the levels of a finding, with the names that SARIF uses.
const (
	Error   = "error"
	Warning = "warning"
	Note    = "note"
)

// These constants are the rules of findings.
const (
	RuleInvalid = "manifest-invalid"
	RuleWarning = "manifest-warning"
	RuleData    = "data-left-behind"
	RuleNote    = "manifest-note"
)

// Finding is one result of a check.
type Finding struct {
	// Level is Error, Warning or Note.
	Level string `json:"level"`
	// Rule is one of the rules of this package.
	Rule string `json:"rule"`
	// File, Line and Column are empty for generated text that is not in a file. Origin then contains the source of the
	// text.
	File   string `json:"file,omitempty"`
	Line   int    `json:"line,omitempty"`
	Column int    `json:"column,omitempty"`
	// Origin is the source of generated text: "standard input", "kustomize DIR" or "Helm template PATH".
	Origin string `json:"origin,omitempty"`
	// Document is the position of the document in its file, for example "document 2".
	Document string `json:"document,omitempty"`
	// Stack and Namespace identify the object. They are empty if the text cannot be read.
	Stack     string `json:"stack,omitempty"`
	Namespace string `json:"namespace,omitempty"`
	// Path is the field path. Message is the problem and its remedy, without the path.
	Path    string `json:"path,omitempty"`
	Message string `json:"message"`
}

// Text returns the path and the message.
func (f *Finding) Text() string {
	if f.Path == "" {
		return f.Message
	}
	return f.Path + ": " + f.Message
}

// Sentence returns the text with the name of the stack. For a document without a file, it adds the origin.
func (f *Finding) Sentence() string {
	text := f.Text()
	if f.Stack != "" {
		text = f.Stack + ": " + text
	}
	if f.File == "" && f.Origin != "" {
		text += " (" + strings.TrimSuffix(f.Origin+", "+f.Document, ", ") + ")"
	}
	return text
}

// Object is a checked object.
type Object struct {
	File      string `json:"file,omitempty"`
	Origin    string `json:"origin,omitempty"`
	Stack     string `json:"stack,omitempty"`
	Namespace string `json:"namespace,omitempty"`
	Valid     bool   `json:"valid"`
}

// Report is the result of one run.
type Report struct {
	// Invalid is the number of objects that are not valid.
	Invalid  int       `json:"invalid"`
	Stacks   []Object  `json:"stacks"`
	Findings []Finding `json:"findings"`
}

// fields are the top-level fields of an object. A field path begins with one of them.
var fields = []string{"apiVersion", "kind", "metadata", "spec", "status"}

// Split splits a message into the field path and the rest. The path is empty if the message does not begin with one.
func Split(text string) (path, message string) {
	depth := 0
	for i, r := range text {
		switch {
		case r == '[':
			depth++
		case r == ']':
			depth--
		case r == ':' && depth == 0 && strings.HasPrefix(text[i:], ": ") && isPath(text[:i]):
			return text[:i], text[i+2:]
		case r == ' ' && depth == 0:
			return "", text
		}
	}
	return "", text
}

func isPath(text string) bool {
	for _, field := range fields {
		if rest, ok := strings.CutPrefix(text, field); ok && (rest == "" || rest[0] == '.' || rest[0] == '[') {
			return true
		}
	}
	return false
}
