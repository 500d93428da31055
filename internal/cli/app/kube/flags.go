package kube

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/llamastack/llama-stack-k8s-operator/internal/cluster/salvage"
)

// Flags are the kubectl flags that select a cluster and the stacks for a command.
type Flags struct {
	// Kubeconfig is the path of a kubeconfig. Empty means $KUBECONFIG, else ~/.kube/config.
	Kubeconfig string
	// Namespace is the namespace of the stacks. Empty means the context's namespace.
	Namespace string
	// AllNamespaces selects the stacks in every namespace.
	AllNamespaces bool
	// Selector is a label selector. Empty selects every stack.
	Selector string

	// overrides replace values of the kubeconfig, and connection contains the flags that set them.
	overrides  clientcmd.ConfigOverrides
	connection pflag.FlagSet
}

// AddConnection adds kubectl's flags for the connection to a cluster. The flag for the namespace is not one of them,
// because its meaning depends on the command.
func (f *Flags) AddConnection(command *cobra.Command) {
	flags := &f.connection
	flags.StringVar(&f.Kubeconfig, "kubeconfig", "", "kubeconfig file (default: $KUBECONFIG or ~/.kube/config)")
	known := clientcmd.RecommendedConfigOverrideFlags("")
	known.ContextOverrideFlags.Namespace = clientcmd.FlagInfo{}
	known.ClusterOverrideFlags.APIServer.ShortName = "s"
	known.CurrentContext.Description = "kubeconfig context (default: the current context)"
	clientcmd.BindOverrideFlags(&f.overrides, flags, known)
	flags.VisitAll(func(flag *pflag.Flag) {
		flag.Annotations = map[string][]string{connectionFlag: nil}
	})
	command.Flags().AddFlagSet(flags)
}

// connectionFlag is the annotation of the flags for a connection.
const connectionFlag = "llamastack_connection"

// Connection returns the flags of a command for the connection to a cluster.
func Connection(command *cobra.Command) *pflag.FlagSet {
	var found pflag.FlagSet
	command.Flags().VisitAll(func(flag *pflag.Flag) {
		if _, is := flag.Annotations[connectionFlag]; is {
			found.AddFlag(flag)
		}
	})
	return &found
}

// ExcludeConnection makes a command reject a flag together with a flag for the connection to a cluster.
func ExcludeConnection(command *cobra.Command, flag string) {
	Connection(command).VisitAll(func(other *pflag.Flag) { command.MarkFlagsMutuallyExclusive(flag, other.Name) })
}

// FlagsOf returns the flags on the incomplete command line of a command.
func FlagsOf(command *cobra.Command) *Flags {
	found, own := &Flags{}, &cobra.Command{}
	found.AddNamespace(own)
	command.Flags().Visit(func(given *pflag.Flag) {
		if flag := own.Flags().Lookup(given.Name); flag != nil {
			for _, value := range values(given) {
				_ = flag.Value.Set(value) // the command has accepted the value
			}
		}
	})
	return found
}

// values returns the values of a flag.
func values(flag *pflag.Flag) []string {
	if list, is := flag.Value.(pflag.SliceValue); is {
		return list.GetSlice()
	}
	return []string{flag.Value.String()}
}

// AddNamespace adds the flags for the connection, and the flag that selects one namespace.
func (f *Flags) AddNamespace(command *cobra.Command) {
	f.AddConnection(command)
	command.Flags().StringVarP(&f.Namespace, "namespace", "n", "", "namespace of the stack (default: the namespace of the context)")
}

// AddScope adds the flags for the connection, and the flags that select stacks by their namespace and their labels.
func (f *Flags) AddScope(command *cobra.Command) {
	f.AddNamespace(command)
	flags := command.Flags()
	flags.BoolVarP(&f.AllNamespaces, "all-namespaces", "A", false, "select the stacks in all namespaces")
	flags.StringVarP(&f.Selector, "selector", "l", "", "label selector for the stacks, for example team=a,env!=test")
	command.MarkFlagsMutuallyExclusive("namespace", "all-namespaces")
}

// selection returns the connection flags for the end of a command line, without secrets. The result begins with a space
// unless it is empty.
func (f *Flags) selection() string {
	var text strings.Builder
	f.connection.VisitAll(func(flag *pflag.Flag) {
		if !flag.Changed || flag.Name == clientcmd.FlagBearerToken || flag.Name == clientcmd.FlagPassword {
			return
		}
		separator := " "
		if flag.NoOptDefVal != "" {
			separator = "="
		}
		for _, value := range values(flag) {
			text.WriteString(" --" + flag.Name + separator + value)
		}
	})
	return text.String()
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
	if user := f.overrides.AuthInfo; user.Impersonate != "" { // client-go ignores --as inside a pod
		config.Impersonate = rest.ImpersonationConfig{
			UserName: user.Impersonate, UID: user.ImpersonateUID, Groups: user.ImpersonateGroups,
		}
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
	return clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, &f.overrides), nil
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
