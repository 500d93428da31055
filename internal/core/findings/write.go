package findings

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/url"
	"path"
	"strconv"
	"strings"
)

// These constants are the output formats of a report.
const (
	FormText   = "text"
	FormJSON   = "json"
	FormSARIF  = "sarif"
	FormGitHub = "github"
)

// Forms returns the output formats of a report.
func Forms() []string { return []string{FormText, FormJSON, FormSARIF, FormGitHub} }

// Write writes the report in a machine-readable format. `version` is the version of the command.
func (r *Report) Write(page *bytes.Buffer, form, version string) error {
	switch form {
	case FormGitHub:
		r.github(page)
		return nil
	case FormSARIF:
		return encode(page, r.sarif(version))
	default:
		return encode(page, r)
	}
}

func encode(page *bytes.Buffer, value any) error {
	encoder := json.NewEncoder(page)
	encoder.SetIndent("", "  ")
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		return fmt.Errorf("print findings: %w", err)
	}
	return nil
}

// In GitHub workflow commands, the first set of characters must be escaped in messages, and the second set in
// properties. See https://github.com/actions/toolkit/blob/main/packages/core/src/command.ts.
var (
	messageEscapes  = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A")
	propertyEscapes = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C")
)

// github writes each finding as a workflow command, which GitHub shows at the line in the file.
func (r *Report) github(page *bytes.Buffer) {
	commands := map[string]string{Error: "error", Warning: "warning", Note: "notice"}
	for i := range r.Findings {
		f := &r.Findings[i]
		var properties []string
		if f.File != "" {
			properties = append(properties, "file="+propertyEscapes.Replace(slashed(f.File)))
		}
		if f.File != "" && f.Line > 0 {
			properties = append(properties, "line="+strconv.Itoa(f.Line), "col="+strconv.Itoa(max(1, f.Column)))
		}
		properties = append(properties, "title="+propertyEscapes.Replace(f.Rule))
		fmt.Fprintf(page, "::%s %s::%s\n", commands[f.Level], strings.Join(properties, ","), messageEscapes.Replace(f.Sentence()))
	}
}

// slashed returns the shortest equivalent of a path, with slashes in place of backslashes.
func slashed(file string) string { return path.Clean(strings.ReplaceAll(file, `\`, "/")) }

// uri returns a file as the URI of a SARIF artifact.
func uri(file string) string {
	file = slashed(file)
	switch {
	case strings.HasPrefix(file, "/"):
		return (&url.URL{Scheme: "file", Path: file}).String()
	case len(file) > 2 && file[1] == ':' && file[2] == '/': // the path begins with a Windows drive letter
		return (&url.URL{Scheme: "file", Path: "/" + file}).String()
	default:
		return (&url.URL{Path: file}).EscapedPath()
	}
}
