package kube

import (
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/llamastack/llama-stack-k8s-operator/internal/salvage"
)

// Flags are the kubectl flags that select a cluster and the stacks for a command.
type Flags struct {
	// Kubeconfig is the path of a kubeconfig. Empty means $KUBECONFIG, else ~/.kube/config.
	Kubeconfig string
	// Context is a context in the kubeconfig. Empty means the current context.
	Context string
	// Namespace is the namespace of the stacks. Empty means the context's namespace.
	Namespace string
	// AllNamespaces selects the stacks in every namespace.
	AllNamespaces bool
	// Selector is a label selector. Empty selects every stack.
	Selector string
}

// AddConnection adds the flags that select a cluster.
func (f *Flags) AddConnection(command *cobra.Command) {
	flags := command.Flags()
	flags.StringVar(&f.Kubeconfig, "kubeconfig", "", "kubeconfig file (default: $KUBECONFIG or ~/.kube/config)")
	flags.StringVar(&f.Context, "context", "", "kubeconfig context (default: the current context)")
}

// AddNamespace adds the flag that selects one namespace.
func (f *Flags) AddNamespace(command *cobra.Command) {
	command.Flags().StringVarP(&f.Namespace, "namespace", "n", "", "namespace of the stack (default: the namespace of the context)")
}

// AddScope adds the flags that select stacks by their namespace and their labels.
func (f *Flags) AddScope(command *cobra.Command) {
	f.AddNamespace(command)
	flags := command.Flags()
	flags.BoolVarP(&f.AllNamespaces, "all-namespaces", "A", false, "select the stacks in all namespaces")
	flags.StringVarP(&f.Selector, "selector", "l", "", "label selector for the stacks, for example team=a,env!=test")
	command.MarkFlagsMutuallyExclusive("namespace", "all-namespaces")
}

// selection returns the connection flags for the end of a command line. The result begins with a space unless it is
// empty.
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

// load returns the configuration of the connection, and the command's namespace.
func (f *Flags) load() (*rest.Config, string, error) {
	loader, err := f.loader()
	if err != nil {
		return nil, "", err
	}
	config, err := loader.ClientConfig()
	if clientcmd.IsEmptyConfig(err) {
		return nil, "", errNoCluster
	}
	if err != nil {
		return nil, "", fmt.Errorf("read the kubeconfig: %w", err)
	}
	// The commands show the problem of an object that cannot be decoded as it is stored.
	config.Wrap(salvage.Transport(func(string, string) {}))
	if f.Namespace != "" {
		return config, f.Namespace, nil
	}
	namespace, _, err := loader.Namespace()
	if err != nil {
		return nil, "", fmt.Errorf("read the namespace in the kubeconfig: %w", err)
	}
	return config, namespace, nil
}

// loader returns a loader for the kubeconfig that the flags select.
func (f *Flags) loader() (clientcmd.ClientConfig, error) {
	if _, err := os.Stat(f.Kubeconfig); f.Kubeconfig != "" && err != nil {
		return nil, fmt.Errorf("read the kubeconfig: %w", err)
	}
	rules := clientcmd.NewDefaultClientConfigLoadingRules()
	rules.ExplicitPath = f.Kubeconfig
	overrides := &clientcmd.ConfigOverrides{CurrentContext: f.Context}
	return clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, overrides), nil
}

// listOptions returns the options for a list of the stacks that the flags select.
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

// errNoCluster is the error for a kubeconfig that does not name a cluster.
var errNoCluster = errors.New(
	"no cluster is configured; set $KUBECONFIG, set --kubeconfig FILE, or create ~/.kube/config")
