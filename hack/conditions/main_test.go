package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/llamastack/llama-stack-k8s-operator/hack/internal/entries"
)

const constants = `package v1alpha2

// Condition types.
const (
	// ConditionReady is True if the
	// server runs.
	ConditionReady = "Ready"
)

// Reasons of Ready.
const (
	// ReasonServing means that pods serve. Status: True.
	ReasonServing = "Serving"
	// ReasonHidden means that work is in progress. This reason never appears in the status.
	ReasonHidden = "Hidden"
)

// Reasons of several conditions.
const (
	// ReasonWaiting means that an earlier condition comes first. Status: False or Unknown.
	ReasonWaiting = "Waiting"
)

// Event reasons on a stack.
const (
	// EventMoved means that a tag moved. Event: Normal.
	EventMoved = "Moved"
)
`

func parsed(t *testing.T, text string) ([]block, error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "conditions.go")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return read(path)
}

func TestPages(t *testing.T) {
	blocks, err := parsed(t, constants)
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]entries.Entry{}
	for _, reason := range []string{"Serving", "Waiting", "Moved"} {
		found[reason] = entries.Entry{Page: "page.md", Anchor: strings.ToLower(reason)}
	}
	for _, tc := range []struct {
		write  func([]block, map[string]entries.Entry) (string, error)
		wanted []string
	}{
		{conditions, []string{
			"\n## `Ready`\n\n`Ready` is True if the server runs.\n",
			"| [`Serving`](../troubleshooting/page.md#serving) | True | Pods serve. |\n",
			"\n## Reasons that several conditions share\n",
			"| [`Waiting`](../troubleshooting/page.md#waiting) | False or Unknown | An earlier condition comes first. |\n",
		}},
		{events, []string{"\n## Events on a stack\n", "| [`Moved`](../troubleshooting/page.md#moved) | Normal | A tag moved. |\n"}},
	} {
		got, err := tc.write(blocks, found)
		if err != nil {
			t.Fatal(err)
		}
		for _, want := range tc.wanted {
			if !strings.Contains(got, want) {
				t.Errorf("%q is missing in\n%s", want, got)
			}
		}
		if strings.Contains(got, "Hidden") {
			t.Errorf("the text has a reason that the status never shows:\n%s", got)
		}
	}
	delete(found, "Serving")
	if _, err := conditions(blocks, found); err == nil || !strings.Contains(err.Error(), `an entry for "Serving"`) {
		t.Errorf("the error for a reason without an entry is %v", err)
	}
}

// A constant without a complete comment causes an error, and so does a constant whose value is not a string.
func TestCommentsAreComplete(t *testing.T) {
	for text, want := range map[string]string{
		strings.Replace(constants, " Status: True.", "", 1):                    "neither a status nor an event type",
		strings.Replace(constants, "\t// EventMoved means that", "\t// It", 1): "EventMoved has no comment",
		strings.Replace(constants, `"Serving"`, "3", 1):                        "ReasonServing: invalid syntax",
		strings.Replace(constants, `"Serving"`, "other", 1):                    "ReasonServing is not a string",
	} {
		if _, err := parsed(t, text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
}
