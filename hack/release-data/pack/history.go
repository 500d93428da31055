package main

import (
	"fmt"
	"io/fs"
	"maps"
	"slices"

	"sigs.k8s.io/yaml"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/release"
)

// history is the file history.yaml: facts that span several releases.
type history struct {
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

// retired is a part that earlier releases had and later releases do not have.
type retired struct {
	release.Removal `json:",inline"`
	// Since is the first release line to which Instead applies. Empty means the release line after Last. If several rows
	// for the same part apply to a line, the row with the latest Since takes precedence.
	Since string `json:"since,omitempty"`
}

func readHistory(data fs.FS) (*history, error) {
	var h history
	text, err := fs.ReadFile(data, "history.yaml")
	if err == nil {
		err = yaml.UnmarshalStrict(text, &h)
	}
	if err != nil {
		return nil, fmt.Errorf("read history.yaml: %w", err)
	}
	return &h, nil
}

// index returns the facts that the product needs before it loads a line.
func (h *history) index(lines []string) release.Index {
	index := release.Index{Lines: lines, DefaultLine: h.DefaultLine, Offered: h.Offered}
	for i := range h.APIs {
		index.APIs = append(index.APIs, h.APIs[i].Name)
	}
	slices.Sort(index.APIs)
	return index
}

// removedBefore returns the parts that earlier lines had and the given line does not have, sorted by kind and name.
func (h *history) removedBefore(line string) []release.Removal {
	newest := map[string]retired{}
	for _, row := range h.Removed {
		if release.Compare(row.Last, line) >= 0 || !covers(row.Since, "", line) {
			continue
		}
		thing := row.Kind + " " + row.Name
		if known, ok := newest[thing]; !ok || release.Compare(known.Since, row.Since) <= 0 {
			newest[thing] = row
		}
	}
	out := make([]release.Removal, 0, len(newest))
	for _, thing := range slices.Sorted(maps.Keys(newest)) {
		out = append(out, newest[thing].Removal)
	}
	return out
}
