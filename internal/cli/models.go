package cli

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/spf13/cobra"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/cli/inspect"
	"github.com/llamastack/llama-stack-k8s-operator/internal/cli/kube"
	"github.com/llamastack/llama-stack-k8s-operator/internal/cli/server"
	"github.com/llamastack/llama-stack-k8s-operator/internal/cli/view/layout"
	"github.com/llamastack/llama-stack-k8s-operator/internal/cli/view/modellist"
)

type modelsOptions struct {
	kube.Flags
	output string
	live   bool
}

func newModelsCommand(streams Streams, version string) *cobra.Command {
	options := modelsOptions{}
	command := &cobra.Command{
		Use:   "models NAME",
		Short: "List the models of a stack with the ids that clients send",
		Long: `List the models of a stack with their public id, which clients send as "model",
their type and their provider.

The models are those that the configuration registers. The server may serve more,
because some providers list models by themselves. With --live the server is asked,
through a forwarded port as with chat. This needs the rights to list pods and to
create pods/portforward.`,
		Example: `  kubectl llamastack models my-stack
  kubectl llamastack models my-stack --live -o json`,
		Args: cobra.ExactArgs(1),
		RunE: func(command *cobra.Command, args []string) error {
			if err := checkForm(options.output); err != nil {
				return err
			}
			cluster, err := options.Connect(version)
			if err != nil {
				return err
			}
			return onCluster(command, streams, func(ctx context.Context, page *bytes.Buffer) error {
				return options.run(ctx, cluster, args[0], streams, page)
			})
		},
	}
	options.AddConnection(command)
	options.AddNamespace(command)
	command.Flags().StringVarP(&options.output, "output", "o", formTable, "table, json or yaml")
	command.Flags().BoolVar(&options.live, "live", false, "ask the running server in place of the configuration")
	return command
}

func (o *modelsOptions) run(
	ctx context.Context,
	cluster *kube.Cluster,
	name string,
	streams Streams,
	page *bytes.Buffer,
) error {
	stack, err := cluster.Stack(ctx, name)
	if err != nil {
		return err
	}
	models, err := o.models(ctx, &target{cluster, stack}, newPrinter(streams))
	if err != nil {
		return err
	}
	if models == nil {
		models = []modellist.Model{}
	}
	if o.output != formTable {
		return writeData(page, o.output, models)
	}
	if len(models) == 0 {
		page.WriteString(noModels(stack, cluster.Selection(), o.live, streams.Width))
		return nil
	}
	table := layout.Table{
		Header: []string{"MODEL", "TYPE", "PROVIDER", "PROVIDER MODEL"},
		Drop:   []string{"PROVIDER MODEL", "PROVIDER"},
	}
	for _, model := range models {
		table.Rows = append(
			table.Rows,
			[]string{
				model.ID,
				model.Type,
				cmp.Or(model.Provider, layout.Unknown),
				cmp.Or(model.ProviderModel, layout.Unknown),
			},
		)
	}
	page.WriteString(table.String(streams.Width))
	if !o.live {
		newPrinter(streams).note("these are the models of the configuration; the server may serve more, see --live")
	}
	return nil
}

func (o *modelsOptions) models(ctx context.Context, t *target, p printer) ([]modellist.Model, error) {
	if o.live {
		return t.models(ctx, p)
	}
	config, err := inspect.Config(ctx, t.cluster, t.stack)
	if err != nil {
		return nil, fmt.Errorf("%w; ask the server with --live", err)
	}
	return modellist.FromConfig(config, inspect.Line(t.stack))
}

// models returns the models that the server lists, through a forwarded port.
func (t *target) models(ctx context.Context, p printer) ([]modellist.Model, error) {
	c, closeAll, err := t.server(ctx, nil, p, &serverFlags{}, 0)
	if err != nil {
		return nil, err
	}
	defer closeAll()
	listed, err := c.Models(ctx)
	if refused, is := errors.AsType[*server.RefusedError](err); is && refused.Code == http.StatusUnauthorized {
		return nil, rejected(fmt.Errorf("the server requires a token (status 401); list its models with: "+
			"kubectl llamastack chat %s -n %s --token-file FILE", t.stack.Name, t.stack.Namespace))
	}
	if err != nil {
		return nil, t.failed(err)
	}
	models := make([]modellist.Model, 0, len(listed))
	for _, model := range listed {
		models = append(models, modellist.Model(model))
	}
	return modellist.Sorted(models), nil
}

// noModels returns how to add a model.
func noModels(stack *v1alpha2.LlamaStackDistribution, selection string, live bool, width int) string {
	text := fmt.Sprintf("The configuration of stack %q registers no models. "+
		"Add one to spec.resources.models, or ask the server with --live whether its providers list some:", stack.Name)
	if live {
		text = fmt.Sprintf("The server of stack %q serves no models. Add one to spec.resources.models:", stack.Name)
	}
	return layout.Paragraph(text, width) + `
  spec:
    resources:
      models:
      - name: llama3.2:3b

Next: kubectl edit llsd ` + stack.Name + " -n " + stack.Namespace + selection + "\n"
}
