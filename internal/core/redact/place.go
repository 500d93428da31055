package redact

import (
	"slices"
	"strings"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
)

// form determines which part of the text at a place is shown.
type form int

const (
	// withheld is the form of every place that the tables do not list: nothing is shown, except references to variables.
	withheld form = iota
	// inner means that the tables list the fields inside.
	inner
	// enter means that the value is a part of the server's configuration, so that the table settings applies inside.
	enter
	// name means an identifier, whose text is shown unchanged.
	name
	// plain means text that is shown, except for the secrets that Known.Text recognizes.
	plain
	// address means a URL, host or path, of which the user information, the query and unusual text are not shown.
	address
	// program means a list of a program and its arguments, of which only known words are shown.
	program
)

// Place is the position of a value in an object or a configuration. The text at the zero place, and at every place
// inside it, is withheld.
type Place struct {
	// field is the name of the field in the tables.
	field string
	form  form
	// config means that the table settings applies, and not the table objects.
	config bool
}

// root is the place of a Kubernetes object. configRoot is the place of a configuration.
var (
	root       = Place{form: inner}
	configRoot = Place{form: inner, config: true}
)

// file returns the place of a file in a ConfigMap. In the ConfigMap of the operator, the name of the file is the key of
// the settings in it.
func file(configMap map[string]any, key string) Place {
	place := configRoot
	metadata, _ := configMap["metadata"].(map[string]any)
	if metadata["name"] == names.OperatorConfigMap {
		place.field = key
	}
	return place
}

// Root returns the place of a Kubernetes object.
func Root() Place { return root }

// Value returns the part of a text, a number or a boolean that is shown at a place.
func (p Place) Value(value any) any { return walker{}.value(p, value) }

// Item returns the place of an item of the list at a place. An environment variable of the operator has its own place.
func (p Place) Item(item any) Place {
	fields, is := item.(map[string]any)
	if !is || p.form != inner || p.config || p.field != "env" {
		return p
	}
	if variable, _ := fields["name"].(string); isOurs(variable) {
		p.field = "ourEnv"
	}
	return p
}

// At returns the place of a field inside this place.
func (p Place) At(key string) Place {
	if p.form != inner {
		return Place{}
	}
	table := objectPlaces
	if p.config {
		table = settingPlaces
	}
	found, listed := table[p.field+"."+key]
	if !listed && slices.Contains(closed, p.field) {
		return Place{}
	}
	if !listed {
		found, listed = table[p.field+".*"]
	}
	if !listed {
		found = table[key]
	}
	inside := Place{field: key, form: found, config: p.config}
	if as, is := aliases[key]; is {
		inside.field = as
	}
	if found == enter {
		inside.form, inside.config = inner, true
	}
	if p.field == "data" {
		inside.field = "" // the name of a file is not the name of a field
	}
	return inside
}

// compiled returns a table with an entry for each word.
func compiled(table map[form]string, more ...string) map[string]form {
	places := map[string]form{}
	for as, words := range table {
		for word := range strings.FieldsSeq(words) {
			if _, twice := places[word]; twice {
				panic("redact: the table lists the place " + word + " twice") // Every start and every test would show this.
			}
			places[word] = as
		}
	}
	for _, word := range more {
		places[word] = plain
	}
	return places
}

// below returns the names of the fields inside another field.
func below(field string, keys []string) []string {
	fields := make([]string, len(keys))
	for i, key := range keys {
		fields[i] = field + "." + key
	}
	return fields
}
