package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"runtime"

	"github.com/spf13/cobra"
	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/discovery"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/cli/kube"
	"github.com/llamastack/llama-stack-k8s-operator/internal/cli/view/versionlist"
	"github.com/llamastack/llama-stack-k8s-operator/internal/stackconfig/release"
)

type versionOptions struct {
	kube.Flags
	output string
	client bool
}

func newVersionCommand(streams Streams, version string) *cobra.Command {
	options := versionOptions{}
	command := &cobra.Command{
		Use:   "version",
		Short: "Print the versions of this command, the operators and the API server",
		Long: `Print the version of this command and the server releases that it supports, the
version of each operator in the cluster, the operators that wrote the status of
stacks, the API versions of stacks that the API server serves, and the version of
the API server. A warning states when this command and an operator have different
versions.`,
		Args: cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error {
			if err := checkForm(options.output); err != nil {
				return err
			}
			ctx, stop := interruptible(command)
			defer stop()
			var page bytes.Buffer
			err := options.run(ctx, version, newPrinter(streams), &page)
			if _, failed := page.WriteTo(streams.Out); failed != nil {
				return failed
			}
			return err
		},
	}
	options.AddConnection(command)
	command.Flags().StringVarP(&options.output, "output", "o", formTable, "table, json or yaml")
	command.Flags().
		BoolVar(&options.client, "client", false, "print only the version of this command, without a cluster")
	return command
}

func (o *versionOptions) run(ctx context.Context, version string, p printer, page *bytes.Buffer) error {
	report := versionlist.Report{Client: versionlist.Client{
		Version: version, Go: runtime.Version(), Releases: release.Lines(), Offered: release.Offered(),
	}}
	var failed error
	if !o.client { // the version of this command is printed even if the cluster does not answer
		report.Server, failed = o.server(ctx, version, p)
	}
	for _, text := range report.Compare() {
		p.warning(text)
	}
	if o.output == formTable {
		page.WriteString(report.Text())
	} else if err := writeData(page, o.output, report); err != nil {
		return err
	}
	if failed != nil {
		return clusterProblem(failed)
	}
	return nil
}

func (o *versionOptions) server(ctx context.Context, version string, p printer) (*versionlist.Server, error) {
	cluster, err := o.Connect(version)
	if err != nil {
		return nil, err
	}
	set, err := cluster.Clientset()
	if err != nil {
		return nil, err
	}
	found := &versionlist.Server{
		APIVersions: []string{},
		Operators:   []versionlist.Operator{},
		Stacks:      []versionlist.Written{},
	}
	info, err := set.Discovery().ServerVersion()
	if err != nil {
		return nil, kube.Explain(err, "get", appsv1.Resource("/version"), "")
	}
	found.Kubernetes = info.GitVersion
	if found.APIVersions, err = servedVersions(set.Discovery()); err != nil {
		return nil, err
	}
	var deployments appsv1.DeploymentList
	selector, err := labels.Parse(versionlist.Selector)
	if err == nil {
		err = cluster.List(ctx, &deployments, client.MatchingLabelsSelector{Selector: selector})
	}
	if err = kube.Explain(err, "list", appsv1.Resource("deployments"), ""); err != nil {
		if _, denied := errors.AsType[*kube.Denied](err); !denied {
			return nil, err
		}
		p.warning(err.Error())
	}
	found.Operators = append(found.Operators, versionlist.Operators(deployments.Items)...)
	if len(found.APIVersions) == 0 {
		return found, nil
	}
	stacks, all, err := cluster.Everywhere(ctx)
	if err != nil {
		p.warning(err.Error())
	} else if !all {
		p.note(fmt.Sprintf("the stacks are those of namespace %q, because you may not list those of all namespaces", cluster.Namespace))
	}
	found.Stacks = versionlist.Count(stacks)
	return found, nil
}

// servedVersions returns the versions of stacks that the API server serves.
func servedVersions(api discovery.DiscoveryInterface) ([]string, error) {
	groups, err := api.ServerGroups()
	if err != nil {
		return nil, kube.Explain(err, "get", appsv1.Resource("/apis"), "")
	}
	served := []string{}
	for _, group := range groups.Groups {
		if group.Name != v1alpha2.GroupVersion.Group {
			continue
		}
		for _, version := range group.Versions {
			served = append(served, version.Version)
		}
	}
	return served, nil
}
