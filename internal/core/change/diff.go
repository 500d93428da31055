package change

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/pmezard/go-difflib/difflib"
	"sigs.k8s.io/yaml"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/redact"
)

// WriteDiff writes the objects of the change as a unified diff of their YAML. Only the text at known-good places is
// shown (see package redact). The length replaces the content of files that are not YAML, and a fixed text replaces the
// values of Secrets.
func (c *Change) WriteDiff(page *bytes.Buffer) error {
	for i := range c.Objects {
		object := &c.Objects[i]
		if object.Action == Kept {
			fmt.Fprintf(page, "# the stack no longer uses %s/%s, which the operator keeps\n", object.Kind, object.Name)
			continue
		}
		before, err := text(object.before, object.after, " (before)")
		if err != nil {
			return fmt.Errorf("print %s: %w", object.title(), err)
		}
		after, err := text(object.after, object.before, " (after)")
		if err != nil {
			return fmt.Errorf("print %s: %w", object.title(), err)
		}
		was, is := slices.Collect(strings.Lines(before)), slices.Collect(strings.Lines(after))
		if len(was)*len(is) > maxPairs && before != after {
			fmt.Fprintf(page, "# %s/%s has too many lines to compare: %d before, %d after\n",
				object.Kind, object.Name, len(was), len(is))
			continue
		}
		err = difflib.WriteUnifiedDiff(page, difflib.UnifiedDiff{
			FromFile: c.file("live", object.before), ToFile: c.file("edited", object.after),
			Context: context, A: was, B: is,
		})
		if err != nil {
			return fmt.Errorf("print %s: %w", object.title(), err)
		}
	}
	return nil
}

// context is the number of equal lines before and after a difference.
const context = 3

// maxPairs bounds the pairs of lines in a comparison, whose time grows with them: 20,000 lines on both sides take a few
// seconds.
const maxPairs = 20_000 * 20_000

// file returns the name of one side of an object for the header of a diff.
func (c *Change) file(side string, object map[string]any) string {
	if object == nil {
		return "/dev/null"
	}
	metadata, _ := object["metadata"].(map[string]any)
	return fmt.Sprintf("%s/%s/%v/%v", side, c.Namespace, object["kind"], metadata["name"])
}

// text returns an object as YAML with the text at known-good places. It adds the given mark to each withheld text that
// differs from the text on the other side.
func text(object, other map[string]any, mark string) (string, error) {
	if object == nil {
		return "", nil
	}
	shown, _ := redactTree(redact.Root(), withFiles(object), withFiles(other), mark).(map[string]any)
	for _, field := range []string{"data", "binaryData", "stringData"} {
		files, _ := shown[field].(map[string]any)
		for name, file := range files {
			if tree, ok := file.(map[string]any); ok {
				data, err := yaml.Marshal(tree)
				if err != nil {
					return "", err
				}
				files[name] = string(data)
			}
		}
	}
	data, err := yaml.Marshal(shown)
	return string(data), err
}

// withFiles returns a ConfigMap with parsed files, a Secret with a fixed text in place of each value, and any other
// object unchanged. In a ConfigMap, a summary replaces a file that is not a YAML mapping.
func withFiles(object map[string]any) map[string]any {
	if kind := object["kind"]; kind != "ConfigMap" && kind != "Secret" {
		return object
	}
	copied := maps.Clone(object)
	for _, field := range []string{"data", "binaryData", "stringData"} {
		files, ok := object[field].(map[string]any)
		if !ok {
			continue
		}
		parsed := make(map[string]any, len(files))
		for name, file := range files {
			parsed[name] = parse(object["kind"], file)
		}
		copied[field] = parsed
	}
	return copied
}

func parse(kind, file any) any {
	content, ok := file.(string)
	var tree map[string]any
	switch {
	case !ok || kind == "Secret":
		return "(not read)"
	case yaml.Unmarshal([]byte(content), &tree) == nil && tree != nil:
		return tree
	default:
		return summary(content)
	}
}
