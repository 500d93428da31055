package playground

import (
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/llamastack/llama-stack-k8s-operator/internal/cli/dryrun"
	"github.com/llamastack/llama-stack-k8s-operator/internal/plan"
)

// Line is a line of the configuration.
type Line struct {
	Text string `json:"text"`
	// Origin is the field of the manifest, or another source, that set the value. It is empty on lines without a value.
	Origin string `json:"origin,omitempty"`
	// Line is the line of that field in the manifest. 0 means that the origin is not a field.
	Line int `json:"line,omitempty"`
}

// configOf returns the configuration of a plan, with the origin of each value on the line where the value begins.
func configOf(s *dryrun.Stack, built *plan.Plan) []Line {
	text := strings.TrimSuffix(string(s.Config(built)), "\n")
	var lines []Line
	for line := range strings.SplitSeq(text, "\n") {
		lines = append(lines, Line{Text: line})
	}
	values := s.Explain(built)
	var root yaml.Node
	if len(values) == 0 || yaml.Unmarshal([]byte(text), &root) != nil || len(root.Content) == 0 {
		return lines
	}
	at := leaves(root.Content[0], nil)
	if len(at) != len(values) {
		return lines
	}
	var paths []string
	index := map[string]int{}
	for i := range values {
		line := &lines[at[i]-1]
		if line.Origin != "" { // a list in one line
			continue
		}
		line.Origin = values[i].Origin
		if path := fieldOf(line.Origin); path != "" {
			if _, known := index[path]; !known {
				index[path] = len(paths)
				paths = append(paths, path)
			}
		}
	}
	written := s.Lines(paths)
	for i := range lines {
		if path := fieldOf(lines[i].Origin); path != "" {
			lines[i].Line = written[index[path]]
		}
	}
	return lines
}

// leaves returns the lines of all scalars and empty collections, in the order of the report of a plan.
func leaves(node *yaml.Node, lines []int) []int {
	if len(node.Content) == 0 {
		return append(lines, node.Line)
	}
	first, step := 0, 1
	if node.Kind == yaml.MappingNode {
		first, step = 1, 2
	}
	for i := first; i < len(node.Content); i += step {
		lines = leaves(node.Content[i], lines)
	}
	return lines
}

// fieldOf returns the field path of an origin: spec.providers.inference of "spec.providers.inference (default)". It
// returns "" if the origin is not a field.
func fieldOf(origin string) string {
	path, _, _ := strings.Cut(origin, " ")
	if path == "spec" || strings.HasPrefix(path, "spec.") || strings.HasPrefix(path, "metadata.") {
		return path
	}
	return ""
}
