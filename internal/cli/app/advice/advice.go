package advice

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/suggest"
)

const (
	// longest is the maximum length of a list that is not cut, in bytes.
	longest = 80
	// kept is the number of names in a list that is cut.
	kept = 5
)

// verbs are the words that begin a remedy.
var verbs = []string{
	"add", "also", "begin", "change", "check", "choose", "close", "configure", "correct", "create", "delete", "did",
	"disable", "give", "install", "keep", "leave", "limit", "move", "name", "put", "reduce", "remove", "rename", "replace",
	"run", "select", "serve", "set", "shorten", "specify", "to", "use", "write",
}

// back matches a remedy that refers to the text before it.
var back = regexp.MustCompile(`^(also|\S+ (it|its|this|that|these|them|one of|the known)\b)`)

// Parts returns the remedy in a message, and the rest. The remedy is empty if the message has none. It is part of the
// rest if it refers to the text before it.
func Parts(message string) (remedy, rest string) {
	clauses := split(message)
	var remedies, others []string
	for i, clause := range clauses {
		word, _, _ := strings.Cut(clause, " ")
		if i > 0 && slices.Contains(verbs, word) && (len(remedies) > 0 || !back.MatchString(clause)) {
			remedies = append(remedies, clause)
		} else {
			others = append(others, clause)
		}
	}
	return strings.Join(remedies, "; "), strings.Join(others, "; ")
}

// split splits a message at semicolons outside of quotes and parentheses.
func split(message string) []string {
	var clauses []string
	start, depth, quoted, escaped := 0, 0, false, false
	for i, r := range message {
		switch {
		case escaped:
			escaped = false
		case r == '\\':
			escaped = true
		case r == '"':
			quoted = !quoted
		case quoted:
		case r == '(':
			depth++
		case r == ')':
			depth--
		case r == ';' && depth == 0 && strings.HasPrefix(message[i:], "; "):
			clauses = append(clauses, message[start:i])
			start = i + len("; ")
		}
	}
	return append(clauses, message[start:])
}

var (
	// list matches a list of at least eight words.
	list = regexp.MustCompile(`(?:[^\s,;]+, ){7,}(?:or |and )?[^\s,;]+`)
	// value matches a quoted value.
	value = regexp.MustCompile(`"([^"\\]+)"`)
)

// Cut cuts long lists in a message to the names that are most similar to the first quoted value, or to the first names.
func Cut(message string) string {
	meant := ""
	if found := value.FindStringSubmatch(message); found != nil {
		meant = found[1]
	}
	return list.ReplaceAllStringFunc(message, func(all string) string {
		if len(all) <= longest {
			return all
		}
		names := strings.Split(all, ", ")
		return fmt.Sprintf("%s and %d more", strings.Join(nearest(meant, names), ", "), len(names)-kept)
	})
}

// nearest returns the names that are most similar to a name, and then the first of the others.
func nearest(meant string, names []string) []string {
	var found []string
	names = slices.Clone(names)
	for len(found) < kept {
		i := max(0, slices.Index(names, suggest.Nearest(meant, names)))
		found = append(found, names[i])
		names = slices.Delete(names, i, i+1)
	}
	return found
}
