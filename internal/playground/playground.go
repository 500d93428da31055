package playground

import (
	"bytes"
	"fmt"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/change"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/document"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/dryrun"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/findings"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/plan"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/release"
)

// These limits ensure that a run on the playground page takes less than a second.
const (
	// MaxManifestBytes is the maximum size of a manifest in bytes. It equals the maximum size of a ConfigMap, and is four
	// times the limit for a spec (validate.MaxSpecBytes).
	MaxManifestBytes = 1 << 20
	// MaxStacks is the maximum number of stacks in a result.
	MaxStacks = 20
	// MaxFindings is the maximum number of findings in a result. A note about omitted findings may follow them.
	MaxFindings = 200
	// MaxOutputBytes is the total size of configurations and objects after which no further stack is added to a result.
	MaxOutputBytes = 4 << 20
)

// file is the file name of the manifest in positions. Results do not contain it.
const file = "manifest"

// Releases lists the release lines of the server that a stack can use.
type Releases struct {
	// Lines are the release lines from the oldest to the newest, for example 0.7 and 1.0.
	Lines []string `json:"lines"`
	// Default is the release line of a stack without spec.distribution.version.
	Default string `json:"default"`
}

// Known returns the release lines whose data is embedded in the binary.
func Known() Releases { return Releases{Lines: release.Offered(), Default: release.DefaultLine()} }

// Result is the result for a manifest. Its lists are never nil.
type Result struct {
	// Stacks are the valid and invalid stacks, in the order of the manifest.
	Stacks []Stack `json:"stacks"`
	// Findings are the errors, warnings and notes about the manifest and its stacks.
	Findings []findings.Finding `json:"findings"`
}

// Stack is one stack of a manifest.
type Stack struct {
	Name      string `json:"name"`
	Namespace string `json:"namespace"`
	Valid     bool   `json:"valid"`
	// Release and Image are the release and the image of the server. They are empty if the stack is invalid.
	Release string `json:"release"`
	Image   string `json:"image"`
	// Config is the configuration of the server. It is empty if the stack is invalid.
	Config []Line `json:"config"`
	// Objects are the objects that the operator applies. The list is empty unless Options.Objects is set.
	Objects []Object `json:"objects"`
	// Changes describes the effects of the edit since Options.Earlier. It is empty without an earlier version, or if the
	// stack is invalid.
	Changes string `json:"changes"`
}

// Object is an object that the operator applies, as YAML.
type Object struct {
	Kind string `json:"kind"`
	Name string `json:"name"`
	Text string `json:"text"`
}

// Options are the options of a run.
type Options struct {
	// Release replaces the release of the stacks. Empty means that the releases do not change.
	Release string
	// Objects adds the objects to the result. Printing an object for the first time can double the duration of a run.
	Objects bool
	// Earlier adds the effects of an edit to the result. Nil means that there is no earlier version.
	Earlier *Version
}

// Version is an earlier version of the manifest. Its Release is like Options.Release.
type Version struct{ Manifest, Release string }

// Playground runs manifests. It keeps the text of the last run's objects, because most of the objects do not change
// while a user edits a manifest. The zero value is ready to use. A Playground must not be used concurrently.
type Playground struct {
	printer dryrun.Printer
}

// Run plans the stacks of a manifest until the result reaches its limits. The result depends only on the arguments.
func (p *Playground) Run(manifest string, options Options) Result {
	p.printer.NextRound()
	r := run{
		Options: options, printer: &p.printer, output: MaxOutputBytes,
		result: Result{Stacks: []Stack{}, Findings: []findings.Finding{}},
	}
	if len(manifest) > MaxManifestBytes {
		r.problem(fmt.Sprintf("the manifest is larger than %d KiB, the limit of the playground; remove part of the manifest, or use kubectl llamastack render", MaxManifestBytes>>10))
		return r.result
	}
	found := gather(manifest)
	r.earlier(options.Earlier)
	if len(found.Stacks) == 0 {
		r.problem(found.Nothing("the manifest"))
	}
	for i := range found.Stacks {
		if i == MaxStacks || r.output <= 0 {
			r.note(fmt.Sprintf("stacks not shown: %d; to see all stacks, use kubectl llamastack render", len(found.Stacks)-i))
			break
		}
		r.stack(found, &found.Stacks[i])
	}
	return r.result
}

func gather(manifest string) *dryrun.Manifests {
	found := dryrun.Gather(document.Parse(file, []byte(manifest), false), dryrun.DefaultNamespace)
	found.Pasted = true
	return found
}

// run collects a result.
type run struct {
	Options
	// previous are the stacks of the earlier version. Nil means that there is none.
	previous *dryrun.Manifests
	printer  *dryrun.Printer
	result   Result
	// output is the remaining number of bytes for configurations and objects.
	output int
	// omitted reports whether the result contains the note about omitted findings.
	omitted bool
}

func (r *run) problem(message string) {
	r.add(findings.Finding{Level: findings.Error, Message: message})
}

func (r *run) note(message string) { r.add(findings.Finding{Level: findings.Note, Message: message}) }

// add adds a finding. If the list is full, add omits the finding, and adds a note the first time.
func (r *run) add(finding findings.Finding) {
	switch {
	case len(r.result.Findings) < MaxFindings:
		r.result.Findings = append(r.result.Findings, finding)
	case !r.omitted:
		r.omitted = true
		r.result.Findings = append(r.result.Findings, findings.Finding{
			Level: findings.Note, Message: fmt.Sprintf("only the first %d findings are shown; correct these findings first", MaxFindings),
		})
	}
}

// earlier reads the earlier version. A version that is too large counts as none.
func (r *run) earlier(version *Version) {
	if version == nil || len(version.Manifest) > MaxManifestBytes {
		return
	}
	r.previous = gather(version.Manifest)
	for i := range r.previous.Stacks {
		setRelease(&r.previous.Stacks[i], version.Release)
	}
}

// setRelease replaces the release of a stack, unless the release is empty.
func setRelease(s *dryrun.Stack, release string) {
	if release == "" || !s.Decoded {
		return
	}
	changed, err := dryrun.WithRelease(s.Object, release)
	if err != nil {
		s.Errors = append(s.Errors, err.Error())
		return
	}
	s.Object = changed
}

// stack plans one stack, and adds it to the result.
func (r *run) stack(all *dryrun.Manifests, s *dryrun.Stack) {
	setRelease(s, r.Release)
	outcome := all.Plan(*s)
	list, valid := dryrun.Reported(s, &outcome, false)
	for i := range list {
		list[i].File = ""
		r.add(list[i])
	}
	shown := Stack{
		Name: s.Object.Name, Namespace: s.Object.Namespace, Valid: valid, Config: []Line{}, Objects: []Object{},
	}
	if outcome.Plan != nil && valid {
		shown.Release, shown.Image = outcome.Plan.Release(), outcome.Plan.Image()
		shown.Config = configOf(s, outcome.Plan)
		shown.Objects = r.objects(outcome.Plan)
		shown.Changes = r.changes(all, s)
	}
	r.output -= shown.size()
	r.result.Stacks = append(r.result.Stacks, shown)
}

// changes returns the effects of an edit, as kubectl llamastack diff prints them.
func (r *run) changes(all *dryrun.Manifests, s *dryrun.Stack) string {
	if r.previous == nil {
		return ""
	}
	sides := change.Since(r.previous, all, *s)
	if sides.Input.Exists && sides.Before.Plan == nil {
		return "The earlier version of the stack has errors, so it cannot be compared.\n"
	}
	found, err := sides.Change(*s, nil)
	if err != nil {
		r.problem(err.Error())
		return ""
	}
	var page bytes.Buffer
	found.Write(&page, file)
	return page.String()
}

// objects returns the objects of a plan, or an empty list unless Options.Objects is set.
func (r *run) objects(built *plan.Plan) []Object {
	shown := []Object{}
	if !r.Objects {
		return shown
	}
	objects, err := r.printer.Objects(built)
	if err != nil {
		r.problem(err.Error())
	}
	for _, object := range objects {
		shown = append(shown, Object{Kind: object.Kind, Name: object.Name, Text: string(object.Text)})
	}
	return shown
}

// size returns the size of the output in bytes.
func (s *Stack) size() int {
	size := len(s.Changes)
	for i := range s.Config {
		size += len(s.Config[i].Text) + len(s.Config[i].Origin)
	}
	for i := range s.Objects {
		size += len(s.Objects[i].Text)
	}
	return size
}
