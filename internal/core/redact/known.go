package redact

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// shortest is the minimum length in bytes of a known value that Text replaces. Shorter values are often ordinary words.
const shortest = 8

// mostValues is the maximum number of values in a Known. The author of a stack chooses the Secrets and ConfigMaps that
// are read, and a megabyte can have 100,000 lines.
const mostValues = 200_000

// Known is a set of values that are known to be secret. Its methods replace these values everywhere in text.
type Known struct {
	values map[string]bool
	// withheld contains values that are not known to be secret, but are not at a known-good place. Text replaces them
	// unless they are also the name of an object, which names contains.
	withheld, names map[string]bool
	replacer        *strings.Replacer
}

// Add adds a value, its base64 form, and each of its lines. If the value is a JSON object, such as registry credentials
// or a cloud key, Add also adds the credentials in the object. Add ignores values shorter than the constant shortest,
// and lines that are only a reference to a variable.
func (k *Known) Add(value string) {
	if k.IsFull() {
		return
	}
	k.replacer = nil
	if k.values == nil {
		k.values = map[string]bool{}
	}
	for line := range strings.Lines(value) {
		k.add(strings.TrimSpace(line))
	}
	if len(value) >= shortest {
		k.values[base64.StdEncoding.EncodeToString([]byte(value))] = true
	}
	k.add(strings.TrimSpace(value))
	var object map[string]any
	if json.Unmarshal([]byte(value), &object) == nil {
		k.addCredentials(object)
	}
}

// withhold adds a value, and each of its lines, to the values that are not at a known-good place.
func (k *Known) withhold(value string) {
	if k.IsFull() {
		return
	}
	k.replacer = nil
	if k.withheld == nil {
		k.withheld = map[string]bool{}
	}
	for line := range strings.Lines(value) {
		k.withheld[strings.TrimSpace(line)] = true
	}
	k.withheld[strings.TrimSpace(value)] = true
}

// keep adds the name of an object, which the package never replaces.
func (k *Known) keep(name string) {
	if k.names == nil {
		k.names = map[string]bool{}
	}
	k.names[name] = true
}

// addCredentials adds each string in an object that is the value of a key with credentials (see IsKey).
func (k *Known) addCredentials(object map[string]any) {
	for key, item := range object {
		switch item := item.(type) {
		case map[string]any:
			k.addCredentials(item)
		case string:
			if IsKey(key) {
				k.Add(item)
			}
		}
	}
}

// add adds a value, and the password in a URL.
func (k *Known) add(value string) {
	if !isLong(value) {
		return
	}
	k.values[value] = true
	if parts := userParts(value); len(parts) == 2 {
		k.add(parts[1])
		if plain, err := url.PathUnescape(parts[1]); err == nil && isLong(plain) {
			k.values[plain] = true
		}
	}
}

func isLong(value string) bool { return len(value) >= shortest && value != Mark && !isReference(value) }

// IsFull reports whether there are too many values. Text then replaces the whole text, because it cannot know all
// secrets.
func (k *Known) IsFull() bool { return len(k.values)+len(k.withheld) >= mostValues }

// Text replaces the known values in a string, and the secrets that the Text function of this package recognizes.
func (k *Known) Text(text string) string {
	if k == nil {
		return Text(text)
	}
	if k.IsFull() {
		return Mark
	}
	if k.replacer == nil {
		// If one value is a prefix of another, the longer one must come first.
		var values []string
		for value := range k.values {
			values = append(append(values, written(value)...), encoded(value)...)
		}
		for value := range k.withheld {
			if isLong(value) && !k.names[value] && !k.values[value] {
				values = append(values, written(value)...)
			}
		}
		slices.SortFunc(values, func(a, b string) int { return cmp.Or(cmp.Compare(len(b), len(a)), cmp.Compare(a, b)) })
		var pairs []string
		for _, value := range values {
			pairs = append(pairs, value, Mark)
		}
		k.replacer = strings.NewReplacer(pairs...)
	}
	return Text(k.replacer.Replace(text))
}

// encoded returns the parts of the base64 forms of a longer text that show a value, at each of the three positions that
// the value can have in it.
func encoded(value string) []string {
	var forms []string
	for before := range 3 {
		text := base64.StdEncoding.EncodeToString(append(make([]byte, before), value...))
		first, last := (before*8+5)/6, (before+len(value))*8/6 // other characters also depend on the text around
		forms = append(forms, text[first:last], strings.NewReplacer("+", "-", "/", "_").Replace(text[first:last]))
	}
	slices.Sort(forms)
	return slices.Compact(forms)
}

// written returns a value, and the value as programs write it into JSON, into a quoted text and into a URL.
func written(value string) []string {
	forms := []string{value, url.QueryEscape(value), url.PathEscape(value)}
	quoted := []string{strconv.Quote(value)}
	if data, err := json.Marshal(value); err == nil {
		quoted = append(quoted, string(data)) // unlike the others, it escapes <, > and &
	}
	for _, text := range quoted {
		forms = append(forms, text[1:len(text)-1])
	}
	slices.Sort(forms)
	return slices.Compact(forms)
}
