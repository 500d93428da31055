package version

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"slices"

	"github.com/spf13/cobra"
	appsv1 "k8s.io/api/apps/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/discovery"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/cli/app"
	"github.com/llamastack/llama-stack-k8s-operator/internal/cli/app/kube"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/release"
)

type versionOptions struct {
	kube.Flags
	output string
	client bool
}

// Command returns the command version.
func Command(streams app.Streams, version string) *cobra.Command {
	options := versionOptions{}
	command := &cobra.Command{
		Use:   "version",
		Short: "Print the versions of this command, the operators and the API server",
		Long: `Print these versions:

  - the version of this command, and the server releases that it supports
  - the version of each operator in the cluster
  - the version of the CustomResourceDefinition
  - the versions of the operators that wrote the status of stacks
  - the API versions of stacks that the API server serves
  - the version of the API server

The command prints a warning if versions do not work together. The definition must have
the version of the operator. This command can differ by one minor version.`,
		Example: `  kubectl llamastack version
  kubectl llamastack version --client`,
		Args: cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error {
			if err := app.CheckForm(options.output); err != nil {
				return err
			}
			ctx, stop := app.Interruptible(command)
			defer stop()
			return options.run(ctx, version, app.NewPrinter(streams), streams.Out)
		},
	}
	options.AddConnection(command)
	command.Flags().StringVarP(&options.Namespace, "namespace", "n", "", "namespace whose stacks are counted if you cannot "+
		"list the stacks in all namespaces (default: the namespace of the context)")
	command.Flags().StringVarP(&options.output, "output", "o", app.FormTable, "table, json or yaml")
	command.Flags().BoolVar(&options.client, "client", false, "print only the version of this command, without contacting a cluster")
	return command
}

func (o *versionOptions) run(ctx context.Context, version string, p app.Printer, out io.Writer) error {
	report := Report{Client: Client{
		Version: version, Go: runtime.Version(), Releases: release.Lines(), Offered: release.Offered(),
	}}
	var failed error
	if !o.client { // if the cluster does not respond, the version of this command is still printed
		report.Server, failed = o.server(ctx, version, p)
	}
	report.Skew = Skew(report)
	for _, text := range report.Skew {
		p.Warning(text)
	}
	var page bytes.Buffer
	text := func(page *bytes.Buffer) { page.WriteString(report.Text()) }
	if err := app.WriteForm(&page, o.output, report, text); err != nil {
		return err
	}
	if _, err := page.WriteTo(out); err != nil {
		return err
	}
	if failed != nil {
		return app.Rejected(failed)
	}
	return nil
}

// server reads the versions of the cluster.
func (o *versionOptions) server(ctx context.Context, version string, p app.Printer) (*Server, error) {
	cluster, err := o.Connect(version)
	if err != nil {
		return nil, err
	}
	found, err := apiServer(cluster)
	if err != nil {
		return nil, err
	}
	deployments, err := operatorDeployments(ctx, cluster)
	if err != nil {
		if _, denied := errors.AsType[*kube.Denied](err); !denied {
			return nil, err
		}
		p.Warning(err.Error())
		found.Unlisted = true
	}
	found.Operators = append(found.Operators, Operators(deployments)...)
	if found.Definition, err = definitionVersion(ctx, cluster); err != nil {
		p.Warning(err.Error())
	}
	if len(found.APIVersions) == 0 {
		return found, nil
	}
	stacks, all, err := cluster.Everywhere(ctx)
	if err != nil {
		p.Warning(err.Error())
	} else if !all {
		p.Note(fmt.Sprintf("only the stacks in namespace %q are counted, because you cannot list the stacks in all namespaces",
			cluster.Namespace))
	}
	found.Stacks = Count(stacks)
	return found, nil
}

// apiServer reads the version of the API server, and the API versions in which it serves stacks.
func apiServer(cluster *kube.Cluster) (*Server, error) {
	asked, err := cluster.Discovery()
	if err != nil {
		return nil, err
	}
	version, err := cluster.Version()
	if err != nil {
		return nil, err
	}
	served, err := servedVersions(asked)
	return &Server{
		Kubernetes: version, APIVersions: served, Operators: []Operator{},
		Stacks: []Written{},
	}, err
}

// operatorDeployments returns the Deployments of this operator, and Deployments that may belong to other operators. It
// returns each Deployment once.
func operatorDeployments(ctx context.Context, cluster *kube.Cluster) ([]appsv1.Deployment, error) {
	var found []appsv1.Deployment
	for _, text := range []string{Selector, OlderSelector} {
		selector, err := labels.Parse(text)
		if err != nil {
			return nil, fmt.Errorf("read the selector %q: %w", text, err)
		}
		list, err := cluster.Deployments(ctx, client.MatchingLabelsSelector{Selector: selector})
		if err != nil {
			return found, err
		}
		for i := range list.Items {
			one := &list.Items[i]
			if !slices.ContainsFunc(found, func(other appsv1.Deployment) bool {
				return other.Namespace == one.Namespace && other.Name == one.Name
			}) {
				found = append(found, *one)
			}
		}
	}
	return found, nil
}

// definitionVersion returns the version that the CustomResourceDefinition states in a label, or "" if it states none.
func definitionVersion(ctx context.Context, cluster *kube.Cluster) (string, error) {
	definition := &metav1.PartialObjectMetadata{}
	definition.SetGroupVersionKind(apiextensionsv1.SchemeGroupVersion.WithKind("CustomResourceDefinition"))
	err := cluster.Get(ctx, client.ObjectKey{Name: names.CustomResourceDefinition}, definition)
	if client.IgnoreNotFound(err) != nil {
		return "", kube.Explain(err, "get", apiextensionsv1.Resource("customresourcedefinitions"), "")
	}
	return definition.Labels[versionLabel], nil
}

// servedVersions returns the API versions in which the API server serves stacks.
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
