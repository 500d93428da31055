package doctor

import (
	"bytes"
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/llamastack/llama-stack-k8s-operator/internal/cli/app"
	"github.com/llamastack/llama-stack-k8s-operator/internal/cli/app/installation"
	"github.com/llamastack/llama-stack-k8s-operator/internal/cli/app/kube"
	"github.com/llamastack/llama-stack-k8s-operator/internal/cli/app/layout"
)

type doctorOptions struct {
	kube.Flags
	operatorNamespace string
	output            string
}

const doctorHelp = `Check the installation of the operator: the version of the API server, the
CustomResourceDefinition, the operator's Deployment and version, the CA bundles and
the certificate of the webhooks, the admission policy, the operator's permissions and
ConfigMap, your own permissions, and the stacks that are not Ready. With -n, the command
also shows the limits that an administrator set for the stacks in that namespace.

Each line is ok, a warning or an error. Errors contain the remedy, and most warnings
do too. If you cannot read an object, the line is a warning that names the missing
permission. The command changes nothing. The exit code is 1 if there is an error.`

// Command returns the command doctor.
func Command(streams app.Streams, version string) *cobra.Command {
	options := doctorOptions{}
	command := &cobra.Command{
		Use:   "doctor",
		Short: "Check the operator, its webhooks and permissions, your permissions, and the stacks in a cluster",
		Long:  doctorHelp,
		Example: `  kubectl llamastack doctor
  kubectl llamastack doctor -n team-a
  kubectl llamastack doctor -A -o json`,
		Args: cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error {
			ctx, stop := app.Interruptible(command)
			defer stop()
			return runDoctor(ctx, streams, version, &options)
		},
	}
	options.AddScope(command)
	app.AddOperatorNamespace(command, &options.operatorNamespace)
	command.Flags().StringVarP(&options.output, "output", "o", app.FormTable, "table, json or yaml")
	return command
}

func runDoctor(ctx context.Context, streams app.Streams, version string, options *doctorOptions) error {
	if err := app.CheckForm(options.output); err != nil {
		return err
	}
	cluster, err := options.Connect(version)
	if err != nil {
		return err
	}
	facts, err := installation.ReadFacts(ctx, cluster, options.AllNamespaces, options.Namespace,
		options.operatorNamespace, version)
	if err != nil {
		return &app.Rejection{Problems: []string{err.Error()}, Summary: "the state of the cluster is unknown"}
	}
	return printFindings(streams, options.output, installation.Examine(facts))
}

// printFindings prints the findings. It returns a rejection if one of them is an error.
func printFindings(streams app.Streams, form string, findings []installation.Finding) error {
	var page bytes.Buffer
	table := func(page *bytes.Buffer) { writeFindings(page, findings, streams.Width) }
	if err := app.WriteForm(&page, form, findings, table); err != nil {
		return err
	}
	if _, err := page.WriteTo(streams.Out); err != nil {
		return fmt.Errorf("write the findings: %w", err)
	}
	if installation.Failed(findings) {
		return &app.Rejection{Summary: summary(findings)}
	}
	return nil
}

func writeFindings(page *bytes.Buffer, findings []installation.Finding, width int) {
	table := layout.Table{Header: []string{"STATUS", "CHECK", "MESSAGE"}, WrapLast: true}
	for _, finding := range findings {
		text := finding.Message
		if finding.Remedy != "" {
			text += "; remedy: " + finding.Remedy
		}
		table.Rows = append(table.Rows, []string{string(finding.Status), finding.Check, text})
	}
	page.WriteString(table.String(width))
}

// summary returns the number of findings for each status.
func summary(findings []installation.Finding) string {
	counts := map[installation.Status]int{}
	for _, finding := range findings {
		counts[finding.Status]++
	}
	return fmt.Sprintf("errors: %d, warnings: %d, ok: %d",
		counts[installation.Error], counts[installation.Warning], counts[installation.OK])
}
