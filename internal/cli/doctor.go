package cli

import (
	"bytes"
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/llamastack/llama-stack-k8s-operator/internal/cli/doctor"
	"github.com/llamastack/llama-stack-k8s-operator/internal/cli/kube"
	"github.com/llamastack/llama-stack-k8s-operator/internal/cli/view/layout"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
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

func newDoctorCommand(streams Streams, version string) *cobra.Command {
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
			ctx, stop := interruptible(command)
			defer stop()
			return runDoctor(ctx, streams, version, &options)
		},
	}
	options.AddScope(command)
	addOperatorNamespace(command, &options.operatorNamespace)
	command.Flags().StringVarP(&options.output, "output", "o", formTable, "table, json or yaml")
	return command
}

func addOperatorNamespace(command *cobra.Command, namespace *string) {
	command.Flags().StringVar(namespace, "operator-namespace", "",
		"namespace of the operator (default: the namespace of its webhook or its Deployment, or "+names.OperatorNamespace+")")
}

func runDoctor(ctx context.Context, streams Streams, version string, options *doctorOptions) error {
	if err := checkForm(options.output); err != nil {
		return err
	}
	cluster, err := options.Connect(version)
	if err != nil {
		return err
	}
	facts, err := readFacts(ctx, cluster, options.AllNamespaces, options.Namespace, options.operatorNamespace, version)
	if err != nil {
		return &rejection{problems: []string{err.Error()}, summary: "the state of the cluster is unknown"}
	}
	return printFindings(streams, options.output, doctor.Examine(facts))
}

// printFindings prints the findings. It returns a rejection if one of them is an error.
func printFindings(streams Streams, form string, findings []doctor.Finding) error {
	var page bytes.Buffer
	table := func(page *bytes.Buffer) { writeFindings(page, findings, streams.Width) }
	if err := writeForm(&page, form, findings, table); err != nil {
		return err
	}
	if _, err := page.WriteTo(streams.Out); err != nil {
		return fmt.Errorf("write the findings: %w", err)
	}
	if doctor.Failed(findings) {
		return &rejection{summary: summary(findings)}
	}
	return nil
}

func writeFindings(page *bytes.Buffer, findings []doctor.Finding, width int) {
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
func summary(findings []doctor.Finding) string {
	counts := map[doctor.Status]int{}
	for _, finding := range findings {
		counts[finding.Status]++
	}
	return fmt.Sprintf("errors: %d, warnings: %d, ok: %d", counts[doctor.Error], counts[doctor.Warning], counts[doctor.OK])
}
