package visible_test

import (
	"bytes"
	"encoding/json"
	"io"
	"testing"
	"unicode"

	"sigs.k8s.io/yaml"

	"github.com/llamastack/llama-stack-k8s-operator/internal/cli/app/visible"
	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil"
)

func TestWriter(t *testing.T) {
	for text, want := range map[string]string{
		"":                      "",
		"plain, ünïcode 🦙\n\tb": "plain, ünïcode 🦙\n\tb",
		"\x1b[2J":               `\u001b[2J`,
		"a\rb":                  `a\u000db`,
		"a\r\nb":                "a\r\nb",
		"\u009b31m":             `\u009b31m`,
		"\x9b31m":               `\x9b31m`,
		"bell\a\x7f\x00":        `bell\u0007\u007f\u0000`,
		"�":                     "�",
		"a\u202eb\u2066c":       `a\u202eb\u2066c`,
		"zero\u200bwidth\ufeff": `zero\u200bwidth\ufeff`,
		"tag \U000e0041":        `tag \udb40\udc41`,
		"filler \u3164\u115f":   `filler \u3164\u115f`,
		"variation \ufe0f":      `variation \ufe0f`,
		"a soft\u00adhyphen":    `a soft\u00adhyphen`,
		"ümläut, ไทย, \u0600":   "ümläut, ไทย, \u0600",
	} {
		var whole, parts bytes.Buffer
		if _, err := io.WriteString(visible.New(&whole), text); err != nil {
			t.Fatal(err)
		}
		w := visible.New(&parts)
		for i := range len(text) {
			if n, err := w.Write([]byte{text[i]}); n != 1 || err != nil {
				t.Fatal(n, err)
			}
		}
		for name, got := range map[string]string{
			"whole": whole.String(), "parts": parts.String(), "text": visible.Text(text),
		} {
			if got != want {
				t.Errorf("%q, %s: %q, want %q", text, name, got, want)
			}
		}
	}
}

// The output of JSON and YAML encoders keeps its meaning.
func TestEncoded(t *testing.T) {
	var all []rune
	for r := rune(1); r < 0x200; r++ {
		if r != '\u00ad' { // see TestYAML
			all = append(all, r)
		}
	}
	for _, text := range []string{string(all), "\u0085", "a\u009bb\x7f", "tag \U000e0041"} {
		data, err := json.Marshal(map[string]string{"a": text})
		testutil.Must(t, err)
		asYAML, err := yaml.JSONToYAML([]byte(visible.Controls(string(data))))
		testutil.Must(t, err)
		var got map[string]string
		if err := json.Unmarshal([]byte(visible.Text(string(data))), &got); err != nil || got["a"] != text {
			t.Errorf("JSON %q: %v: %q", data, err, got["a"])
		}
		if got := visible.Text(string(asYAML)); got != string(asYAML) {
			t.Errorf("YAML %q became %q", asYAML, got)
		}
	}
}

// YAML with invisible characters keeps its meaning. Other YAML does not change.
func TestYAML(t *testing.T) {
	if same, err := visible.YAML([]byte("a:   b")); string(same) != "a:   b" || err != nil {
		t.Errorf("%q: %v", same, err)
	}
	const text = "---\n# \u202e\na: b \u202ec\n\u2066d:\n  - |\n    e\n    \u2069\n---\nf: g\u00ad\U000e0041\n"
	quoted, err := visible.YAML([]byte(text))
	testutil.Must(t, err)
	const want = `# \u202e` + "\n" + `a: "b \u202ec"` + "\n" + `"\u2066d":` + "\n" + `- "e\n\u2069\n"` +
		"\n---\n" + `f: "g\u00ad\U000E0041"` + "\n"
	if got := visible.Text(string(quoted)); got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
}

// In documents, zero-width characters do not change, because a shipped configuration contains one.
func TestDocuments(t *testing.T) {
	var page bytes.Buffer
	testutil.Must(t, visible.Documents(visible.New(&page), []byte("a: |\n  b\u200b\nc: d\u202e\n")))
	if want := "a: |\n  b\u200b\nc: \"d\\u202e\"\n"; page.String() != want {
		t.Errorf("%q, want %q", page.String(), want)
	}
}

func FuzzText(f *testing.F) {
	f.Add("a\x1b[31mb", 3)
	f.Fuzz(func(t *testing.T, text string, at int) {
		var page bytes.Buffer
		w := visible.New(&page)
		at = max(0, min(at, len(text)))
		_, _ = io.WriteString(w, text[:at])
		_, _ = io.WriteString(w, text[at:]+"\n")
		if got := visible.Text(text + "\n"); page.String() != got {
			t.Errorf("%q in two parts, %q in one", page.String(), got)
		}
		for _, r := range page.String() {
			if unicode.IsControl(r) && r != '\n' && r != '\t' && r != '\r' && r != '\u0085' || r == '\u202e' {
				t.Errorf("%q contains %q", page.String(), r)
			}
		}
	})
}
