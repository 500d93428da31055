package cli

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha1"
	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/cli/dryrun"
	"github.com/llamastack/llama-stack-k8s-operator/internal/convert"
	"github.com/llamastack/llama-stack-k8s-operator/internal/names"
)

// inventory is the output of `migrate --dry-run`.
type inventory struct {
	Stacks []takeover `json:"stacks"`
	// Unseen lists what the caller may not read, and what is therefore not known.
	Unseen []string `json:"unseen,omitempty"`
}

// takeover describes one stack before and while this operator takes it over.
type takeover struct {
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	// File is the file of a stack that was not read from a cluster.
	File string `json:"file,omitempty"`
	// Version is the API version in which the stack was created.
	Version string `json:"version"`
	// ServerVersion is the version that the running server reported.
	ServerVersion string `json:"serverVersion,omitempty"`
	// Adopted lists the objects whose fields this operator owns. NotAdopted lists the objects whose fields still have
	// another owner.
	Adopted    []string `json:"adopted,omitempty"`
	NotAdopted []string `json:"notAdopted,omitempty"`
	// NextRollOut describes what changes when the pods are next replaced. Nothing changes before. Empty means no
	// change, or not known.
	NextRollOut string `json:"nextRollOut,omitempty"`
	// Refused lists errors. The stack keeps its pods, and changes of the stack have no effect.
	Refused []string `json:"refused,omitempty"`
	// ByHand lists everything else that needs a decision by a person.
	ByHand []string `json:"byHand,omitempty"`
	// Warnings lists fields without effect and points to check.
	Warnings []string `json:"warnings,omitempty"`
}

// newTakeover returns what the stack's manifest contains.
func newTakeover(s dryrun.Stack) takeover {
	t := takeover{Namespace: s.Object.Namespace, Name: s.Object.Name, File: s.File, Version: v1alpha2.GroupVersion.Version}
	if s.Older || names.Compat(s.Object.Annotations) {
		t.Version = v1alpha1.GroupVersion.Version
	}
	return t
}

// judge adds the results of the pipeline.
func (t *takeover) judge(found dryrun.Outcome) {
	t.Refused = append(t.Refused, found.Errors...)
	for _, warning := range slices.Concat(found.Warnings, found.Lost) {
		if strings.Contains(warning, dryrun.DroppedField) {
			t.ByHand = append(t.ByHand, warning)
		} else {
			t.Warnings = append(t.Warnings, warning)
		}
	}
}

// release reports an image whose release is not known. A stack with the user's own configuration needs no release, and
// a running server has reported its own.
func (t *takeover) release(s dryrun.Stack, found dryrun.Outcome) {
	if found.Plan == nil || found.Plan.Release() != "" || t.ServerVersion != "" || s.Object.Spec.OverrideConfig != nil {
		return
	}
	path := "spec.distribution.image"
	if s.Older {
		path = convert.OlderPaths(path)
	}
	t.ByHand = append(t.ByHand, fmt.Sprintf("%s: %q: this command cannot determine the release of the server in this "+
		"image, so it does not check the stack against the release; the operator reads the labels of the image; if they do "+
		"not contain the release, add it to the tag",
		path, s.Object.Spec.Distribution.Image))
}

// takeovers returns an inventory of the stacks in files. It does not include running objects.
func takeovers(m *dryrun.Manifests) inventory {
	found := inventory{Stacks: []takeover{}}
	for _, s := range m.Stacks {
		t := newTakeover(s)
		outcome := m.Plan(s)
		t.judge(outcome)
		t.release(s, outcome)
		found.Stacks = append(found.Stacks, t)
	}
	return found
}

// write prints an inventory, and returns a rejection if a stack is refused.
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
		return &rejection{summary: fmt.Sprintf("%d of %d stacks are rejected in their present form", refused, len(i.Stacks))}
	}
	return nil
}

// table prints an overview, followed by the details of each stack.
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

// details prints the entries that the overview counts.
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
