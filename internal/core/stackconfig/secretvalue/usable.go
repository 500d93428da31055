package secretvalue

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/envref"
)

var errLineBreak = errors.New("ends with a line break; create the Secret from a file without a line break at the end, or with --from-literal")

// These expressions match the numbers that Python's int() and float() accept, including those with underscores between
// digits and those with digits in any script.
var (
	pythonInt   = regexp.MustCompile(`^[+-]?\p{Nd}+(?:_\p{Nd}+)*$`)
	pythonFloat = regexp.MustCompile(`(?i)^[+-]?(?:(?:\p{Nd}+(?:_\p{Nd}+)*\.?(?:\p{Nd}+(?:_\p{Nd}+)*)?|\.\p{Nd}+(?:_\p{Nd}+)*)(?:e[+-]?\p{Nd}+(?:_\p{Nd}+)*)?|inf(?:inity)?|nan)$`)
)

// IsInteger reports whether the server reads a string as a whole number. The string must have no surrounding spaces.
func IsInteger(text string) bool { return pythonInt.MatchString(text) }

// IsFloat reports whether the server reads a string as a number. The string must have no surrounding spaces.
func IsFloat(text string) bool { return pythonFloat.MatchString(text) }

// Usable returns the reason why the server would not read a value unchanged, or nil. The server converts the values of
// variables. For example, every release converts the token 12345 to a number and then rejects it. Quotes do not prevent
// the conversion (server fact 5). The error never contains the value.
func Usable(value string) error {
	trimmed := strings.TrimSpace(value)
	switch {
	case trimmed == "":
		return errors.New("is empty; set a value")
	case !utf8.ValidString(value):
		return errors.New("is not valid UTF-8 text; use another value")
	case strings.TrimRight(value, "\r\n") != value:
		return errLineBreak
	case strings.ContainsFunc(value, isForbiddenControl):
		return errors.New("contains a control character; use another value")
	case strings.EqualFold(value, "true") || strings.EqualFold(value, "false"):
		return errors.New("looks like a boolean, so the server converts and then rejects the value; use another value")
	case IsInteger(trimmed) || IsFloat(trimmed):
		return errors.New("looks like a number, so the server converts and then rejects the value; use another value")
	case value == "~" || strings.HasPrefix(value, "~/"):
		return errors.New("begins with ~, which the server replaces with its home directory; use another value")
	case envref.In(value):
		// From 1.2 on, the server's command-line program replaces references, and the workers then replace references in the
		// result (server fact 6).
		return errors.New("contains a reference such as ${env.NAME}, which server releases from 1.2 on replace; use another value")
	}
	return nil
}

// MaxVariable is the size in bytes of the longest environment variable that Linux accepts, with its name, an equals
// sign and a zero byte.
const MaxVariable = 128 << 10

// Environment returns the reason why a variable cannot have a value, or why the server would not read it unchanged, or
// nil. The parameter text reports whether the server requires text. The error never contains the value.
func Environment(variable string, value []byte, text bool) error {
	longest := MaxVariable - len(variable) - 2
	switch {
	case len(value) == 0:
		return errors.New("is empty; set a value")
	case len(value) > longest:
		return fmt.Errorf("is longer than the %d bytes that an environment variable can contain; shorten the value", longest)
	case bytes.IndexByte(value, 0) >= 0:
		return errors.New("contains a zero byte, which an environment variable cannot contain; use another value")
	case text:
		return Usable(string(value))
	}
	return nil
}

func isForbiddenControl(r rune) bool {
	return unicode.IsControl(r) && !strings.ContainsRune("\t\n\r", r)
}
