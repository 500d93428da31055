package migrate

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha1"
	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/cli/app"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/dryrun"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/profile"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/retention"
	"github.com/llamastack/llama-stack-k8s-operator/internal/migrate/convert"
)

// inventory is the output of `migrate --dry-run`.
type inventory struct {
	Stacks []takeover `json:"stacks"`
	// Unseen lists the objects that the caller cannot read, and the facts that are not known for that reason.
	Unseen []string `json:"unseen,omitempty"`
}

// takeover describes how this operator takes over one stack.
type takeover struct {
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	// File is the file that contains the stack. It is empty for a stack in a cluster.
	File string `json:"file,omitempty"`
	// Version is the API version in which the stack was created.
	Version string `json:"version"`
	// ServerVersion is the version that the running server reported.
	ServerVersion string `json:"serverVersion,omitempty"`
	// Adopted lists the objects whose fields this operator owns. NotAdopted lists the objects whose fields have a
	// different owner.
	Adopted    []string `json:"adopted,omitempty"`
	NotAdopted []string `json:"notAdopted,omitempty"`
	// NextRollOut describes the changes that the next replacement of the pods makes. Empty means that there are none, or
	// that they are not known.
	NextRollOut string `json:"nextRollOut,omitempty"`
	// Refused lists the errors of the stack. The operator keeps the pods of a stack with errors, and applies no changes.
	Refused []string `json:"refused,omitempty"`
	// ByHand lists all other problems that a user has to solve.
	ByHand []string `json:"byHand,omitempty"`
	// Warnings lists warnings, for example about fields without effect.
	Warnings []string `json:"warnings,omitempty"`
}

// newTakeover returns the facts in the manifest of a stack.
func newTakeover(s dryrun.Stack) takeover {
	t := takeover{Namespace: s.Object.Namespace, Name: s.Object.Name, File: s.File, Version: v1alpha2.GroupVersion.Version}
	if s.Older || profile.Of(s.Object.Annotations).V1alpha1 {
		t.Version = v1alpha1.GroupVersion.Version
	}
	return t
}

// judge adds the errors and warnings from the pipeline.
func (t *takeover) judge(found dryrun.Outcome) {
	t.Refused = append(t.Refused, found.Errors...)
	for _, warning := range slices.Concat(found.Warnings, found.Lost) {
		if strings.Contains(warning, dryrun.DroppedField) || strings.Contains(warning, retention.Deleted) {
			t.ByHand = append(t.ByHand, warning)
		} else {
			t.Warnings = append(t.Warnings, warning)
		}
	}
}

// release adds a problem if the release of the server in an image is not known. A stack with overrideConfig needs no
// release, and a running server reports its release.
func (t *takeover) release(s dryrun.Stack, found dryrun.Outcome) {
	if found.Plan == nil || found.Plan.Release() != "" || t.ServerVersion != "" || s.Object.Spec.OverrideConfig != nil {
		return
	}
	path := "spec.distribution.image"
	if s.Older {
		path = convert.OlderPaths(path)
	}
	t.ByHand = append(t.ByHand, fmt.Sprintf("%s: %q: this command cannot determine the release of the server in this "+
		"image, so the command does not check the stack against a release; the operator reads the labels of the image; "+
		"if the labels do not contain the release, add the release to the tag", path, s.Object.Spec.Distribution.Image))
}

// takeovers returns an inventory of the stacks in files. The inventory contains no facts about running objects.
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

// write writes the inventory to the page. It returns a rejection if a stack has errors.
func (i inventory) write(page *bytes.Buffer, form string) error {
	if err := app.WriteForm(page, form, i, i.table); err != nil {
		return err
	}
	refused := 0
	for _, t := range i.Stacks {
		if len(t.Refused) > 0 {
			refused++
		}
	}
	if refused > 0 {
		return &app.Rejection{Summary: fmt.Sprintf("the operator rejects %d of %d stacks in their present form", refused, len(i.Stacks))}
	}
	return nil
}

// table writes a table of all stacks, and then the details of each stack.
func (i inventory) table(page *bytes.Buffer) {
	rows := [][]string{{"NAMESPACE", "NAME", "VERSION", "ADOPTED", "NEXT ROLLOUT", "BY HAND"}}
	for _, t := range i.Stacks {
		rows = append(rows, []string{t.Namespace, t.Name, t.Version, t.adopted(), t.nextRollOut(), t.byHand()})
	}
	app.WriteTable(page, rows)
	for _, t := range i.Stacks {
		t.details(page)
	}
}

func (t takeover) adopted() string {
	switch all := len(t.Adopted) + len(t.NotAdopted); {
	case all == 0:
		return app.Dash("")
	case len(t.NotAdopted) == 0:
		return "yes"
	default:
		return fmt.Sprintf("%d of %d", len(t.Adopted), all)
	}
}

func (t takeover) nextRollOut() string {
	if t.NextRollOut == "" {
		return app.Dash("")
	}
	return "differs"
}

func (t takeover) byHand() string {
	if count := len(t.Refused) + len(t.ByHand); count > 0 {
		return strconv.Itoa(count)
	}
	return app.Dash("")
}

// details writes the problems that the table counts, the warnings, the changes in the next rollout, and the objects
// that are not adopted.
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
		rows = append(rows, []string{"rollout", t.NextRollOut})
	}
	if len(t.NotAdopted) > 0 {
		rows = append(rows, []string{"not adopted", strings.Join(t.NotAdopted, ", ")})
	}
	if len(rows) > 0 {
		fmt.Fprintf(page, "\n%s/%s\n", t.Namespace, t.Name)
		app.WriteTable(page, rows)
	}
}
