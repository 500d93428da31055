package render

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"slices"

	"github.com/spf13/cobra"
	appsv1ac "k8s.io/client-go/applyconfigurations/apps/v1"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"
	"sigs.k8s.io/yaml"

	"github.com/llamastack/llama-stack-k8s-operator/internal/cli/app"
	"github.com/llamastack/llama-stack-k8s-operator/internal/cli/app/manifests"
	"github.com/llamastack/llama-stack-k8s-operator/internal/cli/app/visible"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/dryrun"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/plan"
)

// outputs contains the functions that write the output formats of render.
var outputs = map[string]func(*bytes.Buffer, dryrun.Stack, *plan.Plan) error{
	"config":  writeConfig,
	"objects": writeShortObjects,
	"all":     writeObjects,
	"env":     writeEnv,
}

// outputForms are the output formats without --explain.
var outputForms = []string{"config", "objects", "all", "env"}

type renderOptions struct {
	manifests.Sources
	manifests.ImageFlags
	output  string
	explain bool
}

const (
	renderHelp = `Print the server's config.yaml that the operator would generate for each
LlamaStackDistribution in the files. With --output, print the objects that the operator
would apply, or the environment of the server. "objects" leaves out the parts that are
long and not specific to the stack. "all" prints the objects as the operator applies
them. If a stack refers to a ConfigMap, the command reads the ConfigMap from the files.
The command does not need Secrets, and never prints their values.`

	renderExample = `  # print the configuration that the server starts with
  kubectl llamastack render -f stack.yaml

  # print the objects as YAML
  kubectl llamastack render -f stack.yaml -o objects

  # print a stack whose base configuration is in a ConfigMap
  kubectl llamastack render -f stack.yaml -f base-configmap.yaml

  # print each key of the configuration with its source, for example a field of the spec
  kubectl llamastack render -f stack.yaml --explain

  # use the images from the operator's ConfigMap in a cluster
  kubectl get configmap llama-stack-operator-config -n llama-stack-k8s-operator-system -o yaml > operator.yaml
  kubectl llamastack render -f stack.yaml -o objects --operator-config operator.yaml

  # print the configuration for another release of the server
  kubectl llamastack render -f stack.yaml --release 0.8`
)

// Command returns the command render.
func Command(streams app.Streams) *cobra.Command {
	options := renderOptions{}
	command := &cobra.Command{
		Use:     "render -f FILE",
		Short:   "Print the server's config.yaml, or the objects that the operator would apply",
		Long:    renderHelp,
		Example: renderExample,
		Args:    manifests.NoArguments,
		RunE: func(command *cobra.Command, _ []string) error {
			return runRender(command.InOrStdin(), streams, options)
		},
	}
	options.AddFlags(command)
	options.AddSelector(command)
	options.AddImage(command)
	command.Flags().StringVarP(&options.output, "output", "o", "",
		"config, objects, all or env (default config); with --explain: table, json or yaml (default table)")
	app.CompleteFixed(command, "output", append(slices.Clone(outputForms), app.FormTable, app.FormJSON, app.FormYAML))
	command.Flags().BoolVar(&options.explain, "explain", false, "print each key of the configuration with its source")
	return command
}

func runRender(stdin io.Reader, streams app.Streams, options renderOptions) error {
	write, err := options.writer()
	if err != nil {
		return err
	}
	p := app.NewPrinter(streams)
	found, err := options.Read(stdin, p)
	if err != nil {
		return err
	}
	if err := options.SetImage(found, stdin); err != nil {
		return err
	}
	outcomes, err := offlineAll(found, p)
	if err != nil {
		return err
	}
	var page bytes.Buffer
	separate := len(found.Stacks) > 1 && slices.Contains([]string{"", "config", "env"}, options.output) && !options.explain
	for i, s := range found.Stacks {
		if separate {
			page.WriteString("---\n")
		}
		if err := write(&page, s, outcomes[i].Plan); err != nil {
			return err
		}
	}
	if !options.explain {
		return visible.Documents(streams.Out, page.Bytes())
	}
	_, err = streams.Out.Write(page.Bytes())
	return err
}

// writer returns the function that prints a stack.
func (o renderOptions) writer() (func(*bytes.Buffer, dryrun.Stack, *plan.Plan) error, error) {
	if o.explain {
		form := cmp.Or(o.output, app.FormTable)
		return writeExplanation(form), app.CheckForm(form)
	}
	write, ok := outputs[cmp.Or(o.output, "config")]
	if !ok {
		return nil, app.UnknownValue("--output", o.output, outputForms)
	}
	return write, nil
}

// offlineAll plans every stack. It returns no outcomes if any stack has an error, because a command that reads the
// output, such as kubectl apply, would apply the other stacks.
func offlineAll(m *dryrun.Manifests, p app.Printer) ([]dryrun.Outcome, error) {
	outcomes := make([]dryrun.Outcome, 0, len(m.Stacks))
	rejected := false
	for _, s := range m.Stacks {
		found := m.Plan(s)
		p.All(s, found)
		rejected = rejected || len(found.Errors) > 0
		outcomes = append(outcomes, found)
	}
	if rejected {
		return nil, &app.Rejection{Summary: "nothing was rendered"}
	}
	return outcomes, nil
}

func writeObjects(page *bytes.Buffer, _ dryrun.Stack, built *plan.Plan) error {
	objects, err := dryrun.Objects(built)
	writeDocuments(page, objects)
	return err
}

func writeShortObjects(page *bytes.Buffer, s dryrun.Stack, built *plan.Plan) error {
	objects, err := s.ShortObjects(built)
	writeDocuments(page, objects)
	return err
}

func writeDocuments(page *bytes.Buffer, objects []dryrun.Object) {
	for _, object := range objects {
		page.WriteString("---\n")
		page.Write(object.Text)
	}
}

func writeConfig(page *bytes.Buffer, s dryrun.Stack, built *plan.Plan) error {
	page.Write(s.Config(built))
	return nil
}

// writeEnv prints the environment variables of the server's container, in the order in which the container lists them.
func writeEnv(page *bytes.Buffer, s dryrun.Stack, built *plan.Plan) error {
	data, err := yaml.Marshal(environment(built, names.ServerContainer(s.Object.Annotations)))
	if err != nil {
		return fmt.Errorf("print environment: %w", err)
	}
	page.Write(data)
	return nil
}

func environment(built *plan.Plan, server string) []corev1ac.EnvVarApplyConfiguration {
	for _, object := range built.Objects {
		deployment, ok := object.Apply.(*appsv1ac.DeploymentApplyConfiguration)
		if !ok {
			continue
		}
		for _, container := range deployment.Spec.Template.Spec.Containers {
			if *container.Name == server {
				return container.Env
			}
		}
	}
	return nil
}
