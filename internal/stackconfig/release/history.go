package release

import (
	"cmp"
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"strings"
	"sync"

	"sigs.k8s.io/yaml"
)

// retired is a part that earlier releases had and later releases do not have.
type retired struct {
	Removal `json:",inline"`
	// Since is the first release line to which Instead applies. Empty means the release line after Last. If several rows
	// for the same part apply to a line, the row with the latest Since takes precedence.
	Since string `json:"since,omitempty"`
}

// chronicle is data/history.yaml: facts that span several releases.
type chronicle struct {
	// DefaultLine is the release line that runs when the user does not name one.
	DefaultLine string `json:"defaultLine"`
	// Offered are the lines that users may request, ascending. Tests show that the servers of these lines start with
	// generated configs.
	Offered []string `json:"offered"`
	// APIs lists the APIs of all releases, with the first and the last release line that has each API.
	APIs []struct {
		Name  string `json:"name"`
		First string `json:"first"`
		Last  string `json:"last,omitempty"`
	} `json:"apis"`
	// Removed lists the parts that earlier releases had and later releases do not have.
	Removed []retired `json:"removed"`
}

var history = sync.OnceValue(func() chronicle {
	var c chronicle
	data, err := fs.ReadFile(embedded(), "data/history.yaml")
	if err == nil {
		err = yaml.UnmarshalStrict(data, &c)
	}
	if err != nil {
		panic(fmt.Sprintf("release: embedded history: %v", err)) // a test checks that the file is valid
	}
	return c
})

// Compare compares releases and lines by number: 0.9 comes before 0.10, and 0.10 before 0.10.1. The result has the same
// meaning as the result of [cmp.Compare].
func Compare(a, b string) int {
	return slices.CompareFunc(strings.Split(a, "."), strings.Split(b, "."), func(x, y string) int {
		m, _ := strconv.Atoi(x)
		n, _ := strconv.Atoi(y)
		return cmp.Compare(m, n)
	})
}

// removedBefore returns the parts that earlier lines had and the given line does not have, sorted by kind and name.
func removedBefore(line string) []Removal {
	newest := map[string]retired{}
	for _, row := range history().Removed {
		if Compare(row.Last, line) >= 0 || !covers(row.Since, "", line) {
			continue
		}
		thing := row.Kind + " " + row.Name
		if known, ok := newest[thing]; !ok || Compare(known.Since, row.Since) <= 0 {
			newest[thing] = row
		}
	}
	out := make([]Removal, 0, len(newest))
	for _, thing := range sortedKeys(newest) {
		out = append(out, newest[thing].Removal)
	}
	return out
}

// KnownAPI reports whether any release has an API with that name, written as in the config (`vector_io`) or as in a
// Kubernetes object (`vectorIo`). It distinguishes an API of another release from a misspelled name.
func KnownAPI(name string) bool {
	return slices.Contains(KnownAPIs(), SnakeCase(name))
}

// KnownAPIs returns the sorted names of the APIs of all releases, written as in the config.
func KnownAPIs() []string {
	apis := history().APIs
	names := make([]string, len(apis))
	for i := range apis {
		names[i] = apis[i].Name
	}
	slices.Sort(names)
	return names
}

// SnakeCase returns the name of an API as written in the config: vector_io for vectorIo. It does not change vector_io.
func SnakeCase(name string) string {
	var b strings.Builder
	for _, r := range name {
		if 'A' <= r && r <= 'Z' {
			if b.Len() > 0 {
				b.WriteByte('_')
			}
			r += 'a' - 'A'
		}
		b.WriteRune(r)
	}
	return b.String()
}

// CamelCase returns the name of an API as written in a Kubernetes object: vectorIo for vector_io.
func CamelCase(name string) string {
	words := strings.Split(name, "_")
	for i, word := range words[1:] {
		if word != "" {
			words[i+1] = strings.ToUpper(word[:1]) + word[1:]
		}
	}
	return strings.Join(words, "")
}
