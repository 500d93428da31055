package playground

import (
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/dryrun"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/plan"
)

// Line is a line of the configuration.
type Line struct {
	Text string `json:"text"`
	// Origin is the source of the value, for example a field of the manifest. It is empty for a line without a value.
	Origin string `json:"origin,omitempty"`
	// Line is the line of the field in the manifest. 0 means that the origin is not a field.
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
	for i := range values {
		if line := &lines[at[i]-1]; line.Origin == "" { // a list on one line has several values
			line.Origin = values[i].Origin
		}
	}
	setLines(s, lines)
	return lines
}

// setLines sets the lines of the fields that are origins.
func setLines(s *dryrun.Stack, lines []Line) {
	var paths []string
	index := map[string]int{}
	for i := range lines {
		path := fieldOf(lines[i].Origin)
		if _, known := index[path]; path != "" && !known {
			index[path] = len(paths)
			paths = append(paths, path)
		}
	}
	written := s.Lines(paths)
	for i := range lines {
		if path := fieldOf(lines[i].Origin); path != "" {
			lines[i].Line = written[index[path]]
		}
	}
}

// leaves returns the lines of all scalars and empty collections, in the order of dryrun.Stack.Explain.
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

// fieldOf returns the field path in an origin, or "" if the origin is not a field. For the origin
// "spec.providers.inference (default)", it returns spec.providers.inference.
func fieldOf(origin string) string {
	path, _, _ := strings.Cut(origin, " ")
	if path == "spec" || strings.HasPrefix(path, "spec.") || strings.HasPrefix(path, "metadata.") {
		return path
	}
	return ""
}
