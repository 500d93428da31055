package models

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/cli/app"
	"github.com/llamastack/llama-stack-k8s-operator/internal/cli/app/kube"
	"github.com/llamastack/llama-stack-k8s-operator/internal/cli/app/layout"
	"github.com/llamastack/llama-stack-k8s-operator/internal/cli/app/modellist"
	"github.com/llamastack/llama-stack-k8s-operator/internal/cli/app/target"
)

type modelsOptions struct {
	kube.Flags
	target.ServerFlags
	output string
	live   bool
}

const modelsHelp = `List the models of a stack with their type, their provider and their public ID,
which clients send as "model". Without a name, the command uses the only stack in the
namespace.

The command lists the models that the configuration registers. The server might serve
more models, because some providers report models to the server. With --live, the
command requests the server's list through a forwarded port. This requires
permission to get the stack's Deployment, to list ReplicaSets and pods, and to create
pods/portforward, and a token if the server requires authentication.`

// Command returns the command models.
func Command(streams app.Streams, version string) *cobra.Command {
	options := modelsOptions{}
	command := &cobra.Command{
		Use:   "models [NAME]",
		Short: "List the models of a stack with the IDs that clients send",
		Long:  modelsHelp,
		Example: `  kubectl llamastack models my-stack
  kubectl llamastack models my-stack --live -o json
  kubectl llamastack models my-stack --live --token-file token.txt`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(command *cobra.Command, args []string) error {
			if err := options.check(); err != nil {
				return err
			}
			return app.OnCluster(command, streams, &options.Flags, version,
				func(ctx context.Context, cluster *kube.Cluster, page *bytes.Buffer) error {
					return options.run(ctx, cluster, args, command.InOrStdin(), streams, page)
				})
		},
	}
	options.AddNamespace(command)
	options.AddServer(command)
	command.Flags().StringVarP(&options.output, "output", "o", app.FormTable, "table, json or yaml")
	command.Flags().BoolVar(&options.live, "live", false, "list the models that the running server serves, instead of the models in the configuration")
	return command
}

// check returns an error for an invalid flag value and, if --live is not set, for a flag that concerns the server.
func (o *modelsOptions) check() error {
	for _, flag := range []struct{ name, value string }{
		{"token-file", o.TokenFile}, {"ca-file", o.CAFile},
	} {
		if flag.value != "" && !o.live {
			return fmt.Errorf("--%s: without --live, the command does not connect to the server; set --live, or remove --%s",
				flag.name, flag.name)
		}
	}
	return app.CheckForm(o.output)
}

// run writes the models of a stack to the page.
func (o *modelsOptions) run(
	ctx context.Context, cluster *kube.Cluster, args []string, stdin io.Reader, streams app.Streams, page *bytes.Buffer,
) error {
	name, err := cluster.Name(ctx, args)
	if err != nil {
		return err
	}
	stack, err := cluster.Stack(ctx, name)
	if err != nil {
		return err
	}
	models, err := o.models(ctx, &target.Target{Cluster: cluster, Stack: stack}, stdin, app.NewPrinter(streams))
	if err != nil {
		return err
	}
	if models == nil {
		models = []modellist.Model{}
	}
	if o.output != app.FormTable {
		return app.WriteData(page, o.output, models)
	}
	if len(models) == 0 {
		page.WriteString(noModels(stack, cluster.Selection(), o.live, streams.Width))
		return nil
	}
	page.WriteString(modelTable(models, streams.Width))
	if !o.live {
		app.NewPrinter(streams).Note("these models are in the configuration; the server might serve more models; to list the models of the server, set --live")
	}
	return nil
}

func modelTable(models []modellist.Model, width int) string {
	table := layout.Table{
		Header: []string{"MODEL", "TYPE", "PROVIDER", "PROVIDER MODEL"},
		Drop:   []string{"PROVIDER MODEL", "PROVIDER"},
	}
	for _, model := range models {
		provider, own := cmp.Or(model.Provider, layout.Unknown), cmp.Or(model.ProviderModel, layout.Unknown)
		table.Rows = append(table.Rows, []string{model.ID, model.Type, provider, own})
	}
	return table.String(width)
}

// models returns the models in the configuration or, with --live, those that the server lists.
func (o *modelsOptions) models(
	ctx context.Context, t *target.Target, stdin io.Reader, p app.Printer,
) ([]modellist.Model, error) {
	if o.live {
		return o.served(ctx, t, stdin, p)
	}
	config, err := t.Cluster.ServerConfig(ctx, t.Stack)
	if err != nil {
		return nil, fmt.Errorf("%w; to list the models of the server, set --live", err)
	}
	return modellist.FromConfig(config, kube.ReleaseLine(t.Stack))
}

// served reads the server's list of models through a forwarded port.
func (o *modelsOptions) served(
	ctx context.Context, t *target.Target, stdin io.Reader, p app.Printer,
) ([]modellist.Model, error) {
	c, closeAll, err := t.Server(ctx, stdin, p, &o.ServerFlags, 0)
	if err != nil {
		return nil, err
	}
	defer closeAll()
	listed, err := c.Models(ctx)
	if err != nil {
		return nil, t.Failed(err)
	}
	models := make([]modellist.Model, 0, len(listed))
	for _, model := range listed {
		models = append(models, modellist.Model(model))
	}
	return modellist.Sorted(models), nil
}

// noModels returns the text for a stack without models. The text explains how to add a model.
func noModels(stack *v1alpha2.LlamaStackDistribution, selection string, live bool, width int) string {
	where, override := "spec.resources.models", stack.Spec.OverrideConfig
	if override != nil {
		where = fmt.Sprintf("ConfigMap %q", override.ConfigMapName)
	}
	text := fmt.Sprintf("The configuration of stack %q registers no models. Add a model to %s, or set --live to list "+
		"the models of the server", stack.Name, where)
	if live {
		text = fmt.Sprintf("The server of stack %q serves no models. Add a model to %s", stack.Name, where)
	}
	if override != nil {
		return layout.Paragraph(text+".", width)
	}
	return layout.Paragraph(text+":", width) + `
  spec:
    resources:
      models:
      - name: llama3.2:3b

Next: kubectl edit llsd ` + stack.Name + " -n " + stack.Namespace + selection + "\n"
}
