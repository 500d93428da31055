package convert

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha1"
	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/cli/app"
	"github.com/llamastack/llama-stack-k8s-operator/internal/cli/app/manifests"
	"github.com/llamastack/llama-stack-k8s-operator/internal/cli/app/visible"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/document"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/dryrun"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/intent"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/typecheck"
	"github.com/llamastack/llama-stack-k8s-operator/internal/migrate/manifest"
	"github.com/llamastack/llama-stack-k8s-operator/internal/migrate/ogxserver"
)

type convertOptions struct {
	manifests.Sources
	to     string
	absorb bool
}

const (
	convertHelp = `Write every LlamaStackDistribution in the files as a manifest in the version that
--to specifies. Write every OGXServer (ogx.io/v1beta1) of the ogx-k8s-operator as a
LlamaStackDistribution in v1alpha2. Documents of other kinds are written unchanged,
so that the output can replace the files.

Applying a converted manifest creates the same object as applying its source. Your
comments stay with their fields. Additional comments state where the meaning of a
field changes, which v1alpha1 behavior the annotation llamastack.io/compat keeps, and
which values the version cannot express. The command also prints a warning for each of
these values. Fields that a cluster adds to an object, such as the status, the uid
and the managed fields, are left out.

With --absorb-config, the config.yaml that a stack mounts from a ConfigMap in the
files becomes fields of the spec, if the operator generates exactly the same
configuration from these fields. Otherwise, overrideConfig does not change, and a
warning gives the reason for each part that the fields cannot express.

For an OGXServer, a comment above the spec lists each field that a stack does not
have, with the reason and the alternative. The command also prints a warning for each
of these fields, and for each field that makes the stack's server behave
differently. A stack cannot be converted back to an OGXServer. The command does not
migrate the data and the objects of the OGXServer.`

	convertExample = `  kubectl llamastack convert -f stack.yaml > stack-v1alpha2.yaml

  # convert a stack from a cluster
  kubectl get llsd my-stack -o yaml | kubectl llamastack convert -f -

  # write the configuration as fields of the spec instead of a ConfigMap
  kubectl llamastack convert -f stack.yaml -f configmap.yaml --absorb-config

  # convert the servers of the ogx-k8s-operator
  kubectl get ogxservers -A -o yaml | kubectl llamastack convert -f -

  # convert back to v1alpha1
  kubectl llamastack convert -f stack-v1alpha2.yaml --to v1alpha1`
)

// Command returns the command convert.
func Command(streams app.Streams) *cobra.Command {
	options := convertOptions{}
	command := &cobra.Command{
		Use:     "convert -f FILE",
		Short:   "Convert manifests to another version, with comments on the changes",
		Long:    convertHelp,
		Example: convertExample,
		Args:    manifests.NoArguments,
		RunE: func(command *cobra.Command, _ []string) error {
			return runConvert(command.InOrStdin(), streams, options)
		},
	}
	options.AddFlags(command)
	flags := command.Flags()
	flags.BoolVar(&options.absorb, "absorb-config", false,
		"write the configuration from overrideConfig (userConfig) as fields of the spec, if they produce exactly the same "+
			"configuration")
	flags.StringVar(&options.to, "to", v1alpha2.GroupVersion.Version,
		"version to write: "+strings.Join(app.APIVersions, " or "))
	app.CompleteFixed(command, "to", app.APIVersions)
	return command
}

func runConvert(stdin io.Reader, streams app.Streams, options convertOptions) error {
	if !slices.Contains(app.APIVersions, options.to) {
		return app.UnknownValue("--to", options.to, app.APIVersions)
	}
	if options.absorb && options.to != v1alpha2.GroupVersion.Version {
		return fmt.Errorf("--absorb-config: the fields that replace overrideConfig exist only in %s; remove --to %s",
			v1alpha2.GroupVersion.Version, options.to)
	}
	documents, err := options.Documents(stdin)
	if err != nil {
		return err
	}
	c := converter{to: v1alpha2.GroupVersion.Group + "/" + options.to}
	p := app.NewPrinter(streams)
	if options.absorb {
		if c.absorber, err = newAbsorber(documents, options.Sources, stdin, p); err != nil {
			return err
		}
	}
	for _, doc := range documents {
		if err := c.add(doc); err != nil {
			return err
		}
	}
	return c.finish(p, streams.Out, options.Names())
}

// converter writes documents, and converts stacks to a different version.
type converter struct {
	// to is the apiVersion to convert to.
	to   string
	page bytes.Buffer
	// stacks counts the stacks and the OGXServers in the documents.
	stacks             int
	problems, warnings []string
	notes              []string
	// others lists the kinds that the converter writes unchanged.
	others []string
	// absorber replaces overrideConfig with fields. Nil means that --absorb-config is not set.
	absorber *absorber
}

// finish prints the output if all documents are valid. It never prints only a part of the documents, because a command
// that reads the output, such as kubectl apply, would apply that part.
func (c *converter) finish(p app.Printer, out io.Writer, files []string) error {
	for _, warning := range c.warnings {
		p.Warning(warning)
	}
	for _, note := range c.notes {
		p.Note(note)
	}
	if c.stacks == 0 && len(c.problems) == 0 {
		c.problems = []string{c.nothing(files)}
	}
	if len(c.problems) > 0 {
		return &app.Rejection{Problems: c.problems, Summary: "nothing was converted"}
	}
	return visible.Documents(out, c.page.Bytes())
}

// nothing returns the problem with files that contain no object to convert.
func (c *converter) nothing(files []string) string {
	problem := fmt.Sprintf("no %s or %s in %s", v1alpha2.Kind, ogxserver.Kind, document.Names(files))
	if len(c.others) > 0 {
		problem += "; this command does not convert the kinds that it found: " + strings.Join(c.others, ", ")
	}
	return problem
}

// add adds a document to the output, or records its problem.
func (c *converter) add(doc document.Document) error {
	switch {
	case doc.Data == nil && doc.Listed && !bytes.Contains(doc.Source, []byte(v1alpha2.Kind)) &&
		!bytes.Contains(doc.Source, []byte(ogxserver.Kind)):
		c.notes = append(c.notes, doc.Title()+": skipped because it "+doc.Problem)
		return nil
	case doc.Data == nil:
		c.problems = append(c.problems, doc.Title()+": "+doc.Problem)
		return nil
	}
	switch wrong := cmp.Or(dryrun.WrongKind(doc.Meta), wrongForeignKind(doc.Meta)); {
	case wrong != "":
		c.problems = append(c.problems, doc.Title()+": "+wrong)
		return nil
	case doc.Meta.Kind == ogxserver.Kind:
		return c.ogxServer(doc)
	case doc.Meta.Kind != v1alpha2.Kind:
		return c.pass(doc)
	default:
		return c.stack(doc)
	}
}

// write appends a document to the output.
func (c *converter) write(text []byte) {
	if c.page.Len() > 0 {
		c.page.WriteString("---\n")
	}
	c.page.Write(text)
	if !bytes.HasSuffix(text, []byte("\n")) {
		c.page.WriteByte('\n')
	}
}

// pass writes a YAML document unchanged. It converts a JSON document to YAML, because not every JSON text is valid
// YAML.
func (c *converter) pass(doc document.Document) error {
	if doc.Meta.Kind != "" {
		c.others = dryrun.WithKind(c.others, doc.Meta.Kind)
	}
	if !json.Valid(doc.Source) {
		c.write(doc.Source)
		return nil
	}
	var object map[string]any
	if err := dryrun.DecodeNumbers(doc.Data, &object); err != nil {
		return fmt.Errorf("read %s: %w", doc.Title(), err)
	}
	text, err := manifest.Ordered(object)
	if err == nil {
		c.write(text)
	}
	return err
}

// stack writes a stack in the requested version. It does not change a YAML document that already has that version and
// contains no fields that a cluster added, unless --absorb-config is set and the stack has an overrideConfig.
func (c *converter) stack(doc document.Document) error {
	live := manifest.Live(doc.Data)
	found, source := readStack(doc)
	title, ok := c.begin(doc, found.Object.Name, found.Errors)
	if !ok {
		return nil
	}
	if c.absorber != nil && !c.absorb(doc, title, &source) {
		return nil
	}
	if doc.Meta.APIVersion == c.to && !live && !json.Valid(doc.Source) && source.Absorbed == nil {
		c.notes = append(c.notes, title+": already has version "+c.to)
		c.write(doc.Source)
		return nil
	}
	result, err := manifest.Convert(source, c.to)
	if err != nil {
		return fmt.Errorf("convert %s: %w", title, err)
	}
	c.end(title, result.YAML, result.Warnings)
	return nil
}

// begin counts a stack and records its problems. It returns the title for messages, and reports whether the stack has
// no problems.
func (c *converter) begin(doc document.Document, name string, problems []string) (string, bool) {
	c.stacks++
	title := doc.Title()
	if name != "" {
		title += ": " + name
	}
	for _, problem := range intent.BoundedTexts(problems) {
		c.problems = append(c.problems, title+": "+problem)
	}
	return title, len(problems) == 0
}

// end writes a converted stack, and records the warnings.
func (c *converter) end(title string, text []byte, warnings []string) {
	for _, warning := range intent.BoundedTexts(warnings) {
		c.warnings = append(c.warnings, title+": "+warning)
	}
	c.write(text)
}

// readStack decodes a stack as all commands do. The returned source contains only the values that fit the fields of the
// type.
func readStack(doc document.Document) (dryrun.Stack, manifest.Source) {
	doc.Data = withoutStatus(doc.Data)
	found := dryrun.DecodeStack(doc, "")
	if found.Large {
		return found, manifest.Source{}
	}
	typ := reflect.TypeFor[v1alpha2.LlamaStackDistribution]()
	if found.Older {
		typ = reflect.TypeFor[v1alpha1.LlamaStackDistribution]()
	}
	var values any
	if err := dryrun.DecodeNumbers(doc.Data, &values); err != nil {
		found.Errors = append(found.Errors, "is not valid JSON: "+err.Error())
	}
	fitting, problems := typecheck.Check(values, typ)
	object, _ := fitting.(map[string]any)
	metadata, _ := object["metadata"].(map[string]any)
	if metadata["name"] == nil && metadata["generateName"] == nil {
		found.Errors = append(found.Errors, "metadata.name: required: set the name of the stack")
	}
	source := manifest.Source{Object: object, Text: yamlOf(doc)}
	for _, problem := range problems {
		if problem.Unknown && found.Older {
			source.Dropped = append(source.Dropped, dryrun.WithPlace(problem, typ)+dryrun.DroppedField)
		}
	}
	return found, source
}

// yamlOf returns the text of a document if it is YAML, which may have comments. It returns nil for JSON.
func yamlOf(doc document.Document) []byte {
	if json.Valid(doc.Source) {
		return nil
	}
	return doc.Source
}

// withoutStatus returns an object without its status. It returns data that is not an object unchanged.
func withoutStatus(data []byte) []byte {
	var object map[string]json.RawMessage
	if json.Unmarshal(data, &object) != nil || object["status"] == nil {
		return data
	}
	delete(object, "status")
	without, err := json.Marshal(object)
	if err != nil {
		return data
	}
	return without
}
