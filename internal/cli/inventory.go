package cli

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha1"
	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/convert"
	"github.com/llamastack/llama-stack-k8s-operator/internal/names"
)

// inventory is what `migrate --dry-run` tells.
type inventory struct {
	Stacks []takeover `json:"stacks"`
	// Unseen says what the caller may not read, and what is not known for that.
	Unseen []string `json:"unseen,omitempty"`
}

// takeover is what there is to know of one stack before this operator takes it over, and while it does.
type takeover struct {
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	// File is where a stack of no cluster was read from.
	File string `json:"file,omitempty"`
	// Version is the one that the stack was made as.
	Version string `json:"version"`
	// ServerVersion is the release that the running server told.
	ServerVersion string `json:"serverVersion,omitempty"`
	// Adopted are the objects whose fields are this operator's, NotAdopted those whose fields are still another's.
	Adopted    []string `json:"adopted,omitempty"`
	NotAdopted []string `json:"notAdopted,omitempty"`
	// NextRollOut says what changes when the pods are replaced next, and that nothing does before. Empty: nothing, or it is
	// not known.
	NextRollOut string `json:"nextRollOut,omitempty"`
	// Refused are mistakes: the stack keeps its pods, and no change of it takes effect.
	Refused []string `json:"refused,omitempty"`
	// ByHand is what else needs somebody who decides.
	ByHand []string `json:"byHand,omitempty"`
	// Warnings are what has no effect or deserves a look.
	Warnings []string `json:"warnings,omitempty"`
}

// newTakeover is what a stack itself says.
func newTakeover(s stack) takeover {
	t := takeover{Namespace: s.object.Namespace, Name: s.object.Name, File: s.file, Version: v1alpha2.GroupVersion.Version}
	if s.older || names.Compat(s.object.Annotations) {
		t.Version = v1alpha1.GroupVersion.Version
	}
	return t
}

// judge notes what the pipeline says of the stack.
func (t *takeover) judge(found outcome) {
	t.Refused = append(t.Refused, found.errs...)
	for _, warning := range slices.Concat(found.warnings, found.lost) {
		if strings.Contains(warning, droppedField) {
			t.ByHand = append(t.ByHand, warning)
		} else {
			t.Warnings = append(t.Warnings, warning)
		}
	}
}

// release notes an image whose release nobody knows. A configuration of the user's own needs none, and a server that runs
// has told its own.
func (t *takeover) release(s stack, found outcome) {
	if found.plan == nil || found.plan.Release() != "" || t.ServerVersion != "" || s.object.Spec.OverrideConfig != nil {
		return
	}
	path := "spec.distribution.image"
	if s.older {
		path = convert.OlderPaths(path)
	}
	t.ByHand = append(t.ByHand, fmt.Sprintf("%s: %q: the release of its server is not known here, so that nothing is checked "+
		"against it; the operator reads the labels of the image: where they do not tell it, put the release into the tag",
		path, s.object.Spec.Distribution.Image))
}

// droppedField is said of a field that no version has.
const droppedField = "; the API server drops it"

// takeovers are those of the stacks of files. Nothing is known of what runs.
func (m *manifests) takeovers() inventory {
	found := inventory{Stacks: []takeover{}}
	for _, s := range m.stacks {
		t := newTakeover(s)
		outcome := m.offline(s)
		t.judge(outcome)
		t.release(s, outcome)
		found.Stacks = append(found.Stacks, t)
	}
	return found
}

// write prints an inventory, and returns a rejection when a stack is refused.
func (i inventory) write(page *bytes.Buffer, form string) error {
	if form != formTable {
		if err := writeData(page, form, i); err != nil {
			return err
		}
	} else {
		i.table(page)
	}
	refused := 0
	for _, t := range i.Stacks {
		if len(t.Refused) > 0 {
			refused++
		}
	}
	if refused > 0 {
		return &rejection{summary: fmt.Sprintf("%d of %d stacks are refused as they are", refused, len(i.Stacks))}
	}
	return nil
}

// table is an overview, and below it what there is to say of each stack.
func (i inventory) table(page *bytes.Buffer) {
	rows := [][]string{{"NAMESPACE", "NAME", "VERSION", "ADOPTED", "NEXT ROLL-OUT", "BY HAND"}}
	for _, t := range i.Stacks {
		rows = append(rows, []string{t.Namespace, t.Name, t.Version, t.adopted(), t.nextRollOut(), t.byHand()})
	}
	writeTable(page, rows)
	for _, t := range i.Stacks {
		t.details(page)
	}
}

func (t takeover) adopted() string {
	switch all := len(t.Adopted) + len(t.NotAdopted); {
	case all == 0:
		return dash("")
	case len(t.NotAdopted) == 0:
		return "yes"
	default:
		return fmt.Sprintf("%d of %d", len(t.Adopted), all)
	}
}

func (t takeover) nextRollOut() string {
	if t.NextRollOut == "" {
		return dash("")
	}
	return "differs"
}

func (t takeover) byHand() string {
	if count := len(t.Refused) + len(t.ByHand); count > 0 {
		return strconv.Itoa(count)
	}
	return dash("")
}

// details prints what the overview only counts.
func (t takeover) details(page *bytes.Buffer) {
	var rows [][]string
	for _, found := range []struct {
		kind  string
		texts []string
	}{{"refused", t.Refused}, {"by hand", t.ByHand}, {"warning", t.Warnings}} {
		for _, text := range found.texts {
			rows = append(rows, []string{found.kind, text})
		}
	}
	if t.NextRollOut != "" {
		rows = append(rows, []string{"roll-out", t.NextRollOut})
	}
	if len(t.NotAdopted) > 0 {
		rows = append(rows, []string{"not adopted", strings.Join(t.NotAdopted, ", ")})
	}
	if len(rows) > 0 {
		fmt.Fprintf(page, "\n%s/%s\n", t.Namespace, t.Name)
		writeTable(page, rows)
	}
}
