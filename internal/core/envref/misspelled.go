package envref

import (
	"regexp"
	"strings"
)

// meantForm matches text that was meant as a reference: ${env.NAME} with any name and any operator, ${NAME} and $NAME.
var meantForm = regexp.MustCompile(`\$\{\s*(?:(?i:env)\.([^:}]+)|([A-Za-z_][A-Za-z0-9_]*))(?:(:?[-=+?]|:)([^}]*))?\}|` +
	`(?:^|[/:@=,\s])\$([A-Z][A-Z0-9_]{2,})\b`)

// otherName matches the characters that the name of a variable cannot contain.
var otherName = regexp.MustCompile(`[^A-Z0-9_]+`)

// Misspelled is text that was meant as a reference and that the server does not replace. An ellipsis takes the place of
// the default, which can be a credential.
type Misspelled struct{ Written, Right string }

// FindMisspelled returns the text in a string that was meant as a reference and that the server does not replace.
func FindMisspelled(text string) []Misspelled {
	if !strings.Contains(text, "$") {
		return nil
	}
	var found []Misspelled
	Server.Replace(text, func(Reference) string { return "" }, func(literal string) string {
		for _, part := range meantForm.FindAllStringSubmatch(literal, -1) {
			found = append(found, misspelled(part))
		}
		return ""
	})
	return found
}

func misspelled(part []string) Misspelled {
	right := Reference{Name: otherName.ReplaceAllString(strings.ToUpper(strings.TrimSpace(part[1]+part[2]+part[5])), "_")}
	written := strings.TrimLeft(part[0], "/:@=, \t\r\n")
	if operator := part[3]; operator != "" {
		text := "…"
		if part[4] == "" {
			text = ""
		}
		written = written[:strings.Index(written, operator)+len(operator)] + text + "}"
		right.Operator, right.Text = Default, text
		if strings.Contains(operator, "+") {
			right.Operator = Alternative
		}
	}
	return Misspelled{Written: written, Right: right.String()}
}
