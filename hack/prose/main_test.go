package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Each rule reports the sentences in `found`, and accepts the sentences in `allowed`.
func TestRules(t *testing.T) {
	rows := map[string]struct{ found, allowed []string }{
		"headless clause": {
			[]string{"Who removes the annotation gets the default.", "The key is checked: what is refused stays."},
			[]string{"What is a provider?", "A user who removes the annotation gets the default."},
		},
		"no as an adjective": {
			[]string{"The entry is no certificate.", "These are no images."},
			[]string{"There is no certificate.", "The entry is no longer used.", "The entry is not a certificate."},
		},
		"nobody": {
			[]string{"Nobody reads it.", "Whoever reads it waits."},
			[]string{"No client reads it."},
		},
		"told": {
			[]string{"The user is told before.", "The table tells the release."},
			[]string{"You cannot tell two of them apart."},
		},
		"says that": {[]string{"The status says that the pods wait."}, []string{"The page says why."}},
		"a program that knows": {
			[]string{"The operator knows the release."},
			[]string{"The operator reads the release."},
		},
		"stands": {[]string{"The key stands in the Secret."}, []string{"An alias stands for an image."}},
		"lies":   {[]string{"The file lies below the folder."}, []string{"The file is in the folder."}},
		"translated verb": {
			[]string{"The condition goes away.", "The pod comes back."},
			[]string{"The condition ends."},
		},
		"translated word": {
			[]string{"It runs beside the server.", "Mend the field."},
			[]string{"It runs next to the server."},
		},
		"riddle": {
			[]string{"The list holds nothing but names."},
			[]string{"The list holds only names."},
		},
		"Latin": {
			[]string{"Set a value, e.g. 3.", "It runs via a proxy."},
			[]string{"Set a value, for example 3."},
		},
		"British spelling": {
			[]string{"The labelled image is new.", "The server initialises the store.", "Use lower-case letters."},
			[]string{"The labeled image is new.", "The status field catalogueImage is empty."},
		},
		"ID in lowercase": {
			[]string{"An id must be unique.", "Set the provider's id."},
			[]string{"An ID must be unique.", "Set a value in the field id."},
		},
		"filler":                      {[]string{"You simply set it."}, []string{"You set it."}},
		"value without a verb":        {[]string{"Zero: no limit."}, []string{"Zero means no limit."}},
		"godoc":                       {[]string{"name gives the name."}, []string{"name returns the name."}},
		"page outside the repository": {[]string{"See SERVER.md fact 14."}, []string{"See docs/configuration.md."}},
		"long sentence":               {[]string{strings.Repeat("word ", longest+1)}, []string{strings.Repeat("word ", longest)}},
	}
	for _, r := range rules {
		if _, found := rows[r.name]; !found && r.kinds == nil {
			t.Errorf("rule %q has no sentences", r.name)
		}
	}
	for name, row := range rows {
		for _, words := range row.found {
			if findings := check(text{kind: comment, words: words}); len(findings) != 1 ||
				!strings.HasPrefix(findings[0], name+": ") {
				t.Errorf("%q: got %q, want one finding of %q", words, findings, name)
			}
		}
		for _, words := range row.allowed {
			if findings := check(text{kind: comment, words: words}); len(findings) != 0 {
				t.Errorf("%q: got %q, want none", words, findings)
			}
		}
	}
}

// A rule for some kinds of text ignores all other kinds.
func TestKinds(t *testing.T) {
	const words = "We keep the pods."
	for k, want := range map[kind]int{comment: 0, message: 1, page: 1} {
		if findings := check(text{kind: k, words: words}); len(findings) != want {
			t.Errorf("kind %d: got %q, want %d findings", k, findings, want)
		}
	}
}

func TestTexts(t *testing.T) {
	for name, row := range map[string]struct {
		file, data string
		want       []text
	}{
		"comments and messages of Go": {
			"internal/a/a.go",
			"// Package a is short.\n//\n// It has two paragraphs,\n// of three lines.\n//\n//\tcode = of + an + example\npackage a\n\n" +
				"//go:generate some words that are code\nvar a = \"set the key \" + key + \" to another value\"\nvar b = \"too short\"\n",
			[]text{
				{comment, 1, "Package a is short."},
				{comment, 3, "It has two paragraphs, of three lines."},
				{message, 10, "set the key x to another value"},
			},
		},
		"strings of a test":    {"internal/a/a_test.go", "package a\n\nvar a = \"set the key to a value\"\n", nil},
		"strings of a tool":    {"hack/a/a.go", "package a\n\nvar a = \"set the key to a value\"\n", nil},
		"comments of a script": {"hack/run", "#!/bin/sh\n# It runs\n# the test.\nrun # it\n# Again.\n", []text{{comment, 2, "It runs the test."}, {comment, 5, "Again."}}},
		"a page": {
			"docs/a.md", "# Title\n\nA `code`\nof [a link](there.md).\n\n    sample\n\n| head | cell |\n|---|---|\n| one | two |\n\n- item\n",
			[]text{
				{page, 1, "Title"},
				{page, 3, "A code of a link."},
				{page, 8, "head"},
				{page, 8, "cell"},
				{page, 10, "one"},
				{page, 10, "two"},
				{page, 12, "item"},
			},
		},
		"an unknown type": {"docs/a.png", "words that are not read", nil},
	} {
		got, err := textsOf(row.file, []byte(row.data))
		if diff := cmp.Diff(row.want, got, cmp.AllowUnexported(text{})); diff != "" || err != nil {
			t.Errorf("%s: error %v, differs (-want +got):\n%s", name, err, diff)
		}
	}
	if _, err := textsOf("a.go", []byte("no Go")); err == nil {
		t.Error("there is no error for a file that is not Go code")
	}
}

// A finding contains the file, the line, the rule, the words and the advice. The command ignores generated files, the
// folders in `skipped`, and files that git does not track.
func TestRun(t *testing.T) {
	t.Chdir(t.TempDir())
	for name, data := range map[string]string{
		"a.md": "Good words.\n\nThe entry is no image.\n", "untracked.md": "The entry is no image.\n",
		"docs/reference/b.md": "It is no image.\n",
		"zz_generated.go":     "package a\n\n// The entry is no image.\n",
	} {
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(data), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, args := range [][]string{{"init", "-q"}, {"add", "a.md", "docs", "zz_generated.go"}} {
		if out, err := exec.CommandContext(t.Context(), "git", args...).CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
	var out bytes.Buffer
	found, err := run(nil, &out)
	const want = "a.md:3: no as an adjective: \"entry is no image\": write \"is not a …\" or \"has no …\"\n"
	if found != 1 || err != nil || out.String() != want {
		t.Errorf("got %d findings, error %v, output %q; want %q", found, err, &out, want)
	}
}
