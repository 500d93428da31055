package kube

import (
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Flags select a cluster and the stacks that a command works on, with the names that kubectl gives them.
type Flags struct {
	// Kubeconfig is a file. Empty means $KUBECONFIG, else ~/.kube/config.
	Kubeconfig string
	// Context is a context of that file. Empty means its current context.
	Context string
	// Namespace is the namespace of the stacks. Empty means the namespace of the context.
	Namespace string
	// AllNamespaces selects the stacks of every namespace.
	AllNamespaces bool
	// Selector is a label selector. Empty selects every stack.
	Selector string
}

// AddConnection adds the flags that select a cluster.
func (f *Flags) AddConnection(command *cobra.Command) {
	flags := command.Flags()
	flags.StringVar(&f.Kubeconfig, "kubeconfig", "", "kubeconfig file; unset: $KUBECONFIG, else ~/.kube/config")
	flags.StringVar(&f.Context, "context", "", "context of the kubeconfig; unset: its current context")
}

// AddNamespace adds the flag that selects one namespace.
func (f *Flags) AddNamespace(command *cobra.Command) {
	command.Flags().StringVarP(&f.Namespace, "namespace", "n", "", "namespace of the stack; unset: the namespace of the context")
}

// AddScope adds the flags that select one namespace, all namespaces, or stacks by their labels.
func (f *Flags) AddScope(command *cobra.Command) {
	f.AddNamespace(command)
	flags := command.Flags()
	flags.BoolVarP(&f.AllNamespaces, "all-namespaces", "A", false, "look at the stacks of all namespaces")
	flags.StringVarP(&f.Selector, "selector", "l", "", "label selector of the stacks, for example team=a,env!=test")
	command.MarkFlagsMutuallyExclusive("namespace", "all-namespaces")
}

// selection returns the flags of the connection as they are written on a command line, with a space in front.
func (f *Flags) selection() string {
	var text string
	if f.Kubeconfig != "" {
		text += " --kubeconfig " + f.Kubeconfig
	}
	if f.Context != "" {
		text += " --context " + f.Context
	}
	return text
}

// loader returns the client configuration that the flags select.
func (f *Flags) loader() (clientcmd.ClientConfig, error) {
	if _, err := os.Stat(f.Kubeconfig); f.Kubeconfig != "" && err != nil {
		return nil, fmt.Errorf("read the kubeconfig: %w", err)
	}
	rules := clientcmd.NewDefaultClientConfigLoadingRules()
	rules.ExplicitPath = f.Kubeconfig
	overrides := &clientcmd.ConfigOverrides{CurrentContext: f.Context}
	return clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, overrides), nil
}

// listOptions returns the options for a list of stacks, so that the API server selects them.
func (c *Cluster) listOptions() ([]client.ListOption, error) {
	var options []client.ListOption
	if !c.flags.AllNamespaces {
		options = append(options, client.InNamespace(c.Namespace))
	}
	if c.flags.Selector != "" {
		selector, err := labels.Parse(c.flags.Selector)
		if err != nil {
			return nil, fmt.Errorf("--selector %q: %w", c.flags.Selector, err)
		}
		options = append(options, client.MatchingLabelsSelector{Selector: selector})
	}
	return options, nil
}

// errNoCluster is the error for a kubeconfig that names no cluster.
var errNoCluster = errors.New(
	"no cluster is configured; set $KUBECONFIG, or use --kubeconfig FILE, or create ~/.kube/config")
