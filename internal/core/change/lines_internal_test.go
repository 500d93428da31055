package change

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestUnified(t *testing.T) {
	lines := func(from, to int) string {
		var b strings.Builder
		for i := from; i <= to; i++ {
			fmt.Fprintln(&b, i)
		}
		return b.String()
	}
	for name, tc := range map[string]struct{ before, after, want string }{
		"equal":    {lines(1, 9), lines(1, 9), ""},
		"added":    {"", "a\nb\n", "@@ -0,0 +1,2 @@\n+a\n+b\n"},
		"removed":  {"a\n", "", "@@ -1,1 +0,0 @@\n-a\n"},
		"one line": {lines(1, 9), strings.Replace(lines(1, 9), "5\n", "five\n", 1), "@@ -2,7 +2,7 @@\n 2\n 3\n 4\n-5\n+five\n 6\n 7\n 8\n"},
		"two hunks": {
			lines(1, 12), "0\n" + lines(1, 11),
			"@@ -1,3 +1,4 @@\n+0\n 1\n 2\n 3\n@@ -9,4 +10,3 @@\n 9\n 10\n 11\n-12\n",
		},
	} {
		t.Run(name, func(t *testing.T) {
			want := tc.want
			if want != "" {
				want = "--- a\n+++ b\n" + want
			}
			if diff := cmp.Diff(want, unified("a", "b", tc.before, tc.after)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// The equal and removed lines form the first text, and the equal and added lines form the second text.
func TestEdits(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	text := func() []string {
		lines := make([]string, random.IntN(12))
		for i := range lines {
			lines[i] = string(rune('a' + random.IntN(3)))
		}
		return lines
	}
	for range 2000 {
		a, b := text(), text()
		before, after := []string{}, []string{}
		for _, e := range edits(a, b) {
			if e.mark != '+' {
				before = append(before, e.text)
			}
			if e.mark != '-' {
				after = append(after, e.text)
			}
		}
		if diff := cmp.Diff([][]string{a, b}, [][]string{before, after}); diff != "" {
			t.Fatalf("(-want +got):\n%s", diff)
		}
	}
}

func TestCompareFields(t *testing.T) {
	type fields = map[string]any
	container := func(name, image string) fields { return fields{"name": name, "image": image} }
	for name, tc := range map[string]struct {
		before, after fields
		want          []Field
	}{
		"no difference": {fields{"a": 1}, fields{"a": 1}, nil},
		"a value": {
			fields{"spec": fields{"type": "x"}},
			fields{"spec": fields{"type": "y"}},
			[]Field{{"spec.type", "x", "y"}},
		},
		"the name":     {fields{"metadata": fields{"name": "a"}}, fields{"metadata": fields{"name": "b"}}, nil},
		"a new object": {fields{}, fields{"spec": fields{"port": 1}}, []Field{{"spec", "", `{"port":1}`}}},
		"a key with a dot": {
			fields{"limits": fields{}},
			fields{"limits": fields{"a/b": "1"}},
			[]Field{{"limits[a/b]", "", "1"}},
		},
		"entries by name": {
			fields{"containers": []any{container("a", "1"), container("b", "1")}},
			fields{"containers": []any{container("b", "2"), container("a", "1")}},
			[]Field{{"containers[b].image", "1", "2"}},
		},
		"a list of texts": {
			fields{"accessModes": []any{"a"}},
			fields{"accessModes": []any{"a", "b"}},
			[]Field{{"accessModes", `["a"]`, `["a","b"]`}},
		},
		"a file": {
			fields{"kind": "ConfigMap", "data": fields{"f": "a"}},
			fields{"kind": "ConfigMap", "data": fields{"f": "b"}},
			[]Field{{"data.f", "1 bytes (before)", "1 bytes (after)"}},
		},
		"a new field": {
			fields{"spec": fields{"new": fields{"name": "a"}}},
			fields{"spec": fields{"new": fields{"name": "b"}}},
			[]Field{{"spec.new.name", "<redacted> (before)", "<redacted> (after)"}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, compare(tc.before, tc.after)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// For long values that differ near their end, only the ends are shown.
func TestArrowOfLongValues(t *testing.T) {
	same := strings.Repeat("a", 100)
	if got, want := arrow(same+"-one", same+"-two"), "…aaaaaaaaaaa-one -> …aaaaaaaaaaa-two"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got, want := arrow(same, same), strings.Repeat("a", 59)+"… -> "+strings.Repeat("a", 59)+"…"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
