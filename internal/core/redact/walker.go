package redact

import (
	"encoding/base64"
	"maps"
	"slices"
	"strings"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/envref"
)

// walker copies a JSON value with the text at known-good places.
type walker struct {
	known *Known
	// hide receives each text that the walker withholds. Nil means that the walker does not collect text.
	hide func(string)
}

// value copies the value at a place.
func (w walker) value(at Place, value any) any {
	switch v := value.(type) {
	case map[string]any:
		return w.object(at, v)
	case []any:
		return w.list(at, v)
	case string:
		return w.text(at, v)
	case bool, nil:
		return v
	default:
		return w.number(at, v)
	}
}

// text returns the part of a text that is shown at a place.
func (w walker) text(at Place, text string) string {
	if at.form == name && hasPassword(text) {
		at.form = address
	}
	switch at.form {
	case name:
		if w.hide != nil {
			w.known.keep(text)
		}
		return text
	case plain:
		return w.shown(text)
	case address:
		kept := inAddress(text)
		if kept != text && w.hide != nil {
			w.hide(text)
			for _, part := range userParts(text) {
				w.hide(part)
			}
		}
		return w.shown(kept)
	case program:
		return w.argument(text)
	default:
		return w.withheld(text)
	}
}

// shown returns a text at a known-good place, without the secrets that Known.Text recognizes.
func (w walker) shown(text string) string {
	if w.hide != nil {
		return text
	}
	return w.known.Text(text)
}

// number returns a number at a place. The numbers in a Kubernetes object have a type that cannot hold a credential.
func (w walker) number(at Place, number any) any {
	isListed := at.form == name || at.form == plain || at.form == address
	if !isListed && (at.config || at == Place{form: withheld}) {
		return Mark
	}
	return number
}

// withheld returns the replacement for a text, and collects the text.
func (w walker) withheld(text string) string {
	switch {
	case text == "" || isReference(text) || text == "true" || text == "false":
		return text
	case w.hide != nil:
		w.hide(text)
	}
	if envref.In(text) {
		return withoutDefaults(text)
	}
	return Mark
}

func (w walker) object(at Place, object map[string]any) any {
	kept := make(map[string]any, len(object))
	for key, value := range object {
		if key == "managedFields" && at.field == "metadata" || slices.Contains(dropped, key) {
			continue
		}
		kept[w.shown(key)] = w.value(at.At(key), value)
	}
	return kept
}

func (w walker) list(at Place, list []any) any {
	kept := make([]any, len(list))
	for i, item := range list {
		kept[i] = w.value(at.Item(item), item)
	}
	return kept
}

// argument returns the part of a program's argument that is shown: a known word, or a known flag with its value.
func (w walker) argument(text string) string {
	flag, value, assigned := strings.Cut(text, "=")
	switch {
	case slices.Contains(programs, text), slices.Contains(flags, text):
		return text
	case assigned && slices.Contains(flags, flag):
		return flag + "=" + w.text(Place{form: address}, value)
	default:
		return w.withheld(text)
	}
}

// decoded returns the values of a Secret, except for certificates, which are not secret.
func decoded(object map[string]any) []string {
	var values []string
	data, _ := object["data"].(map[string]any)
	for _, key := range slices.Sorted(maps.Keys(data)) {
		if key == "tls.crt" || key == "ca.crt" {
			continue
		}
		text, _ := data[key].(string)
		if plain, err := base64.StdEncoding.DecodeString(text); err == nil {
			values = append(values, string(plain))
		}
	}
	plain, _ := object["stringData"].(map[string]any)
	for _, value := range plain {
		if text, is := value.(string); is {
			values = append(values, text)
		}
	}
	return values
}
