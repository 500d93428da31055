package cli

import (
	"fmt"
	"os"

	"github.com/go-logr/logr"
	"github.com/spf13/cobra"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha1"
	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/render"
)

// clusterFlags are the flags that select a cluster, as in kubectl.
type clusterFlags struct {
	// kubeconfig is a file. Empty means $KUBECONFIG, else ~/.kube/config.
	kubeconfig string
	// context is a context of that file. Empty means its current context.
	context string
}

func (f *clusterFlags) add(command *cobra.Command) {
	command.Flags().StringVar(&f.kubeconfig, "kubeconfig", "", "kubeconfig file (default: $KUBECONFIG, or ~/.kube/config)")
	command.Flags().StringVar(&f.context, "context", "", "context of the kubeconfig (default: its current context)")
}

// client returns a client for CustomResourceDefinitions, stacks and the objects that belong to a stack.
func (f *clusterFlags) client(version string) (client.Client, error) {
	if _, err := os.Stat(f.kubeconfig); f.kubeconfig != "" && err != nil {
		return nil, fmt.Errorf("read the kubeconfig: %w", err)
	}
	rules := clientcmd.NewDefaultClientConfigLoadingRules()
	rules.ExplicitPath = f.kubeconfig
	config, err := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules,
		&clientcmd.ConfigOverrides{CurrentContext: f.context}).ClientConfig()
	if err != nil {
		return nil, fmt.Errorf("read the kubeconfig: %w", err)
	}
	config.UserAgent = "kubectl-llamastack/" + version
	config.QPS = -1                                      // the commands limit their own rate
	config.WarningHandlerWithContext = rest.NoWarnings{} // every write would repeat warnings about what users wrote
	log.SetLogger(logr.Discard())                        // without a logger, controller-runtime prints a complaint
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{
		apiextensionsv1.AddToScheme, appsv1.AddToScheme,
		corev1.AddToScheme,
	} {
		if err := add(scheme); err != nil {
			return nil, fmt.Errorf("create a scheme: %w", err)
		}
	}
	found, err := client.New(config, client.Options{Scheme: scheme, Mapper: knownKinds()})
	if err != nil {
		return nil, fmt.Errorf("create a client: %w", err)
	}
	return found, nil
}

// knownKinds returns a mapper that needs no API discovery.
func knownKinds() meta.RESTMapper {
	mapper := meta.NewDefaultRESTMapper(nil)
	mapper.Add(apiextensionsv1.SchemeGroupVersion.WithKind("CustomResourceDefinition"), meta.RESTScopeRoot)
	mapper.Add(v1alpha1.GroupVersion.WithKind(v1alpha2.Kind), meta.RESTScopeNamespace)
	mapper.Add(v1alpha2.GroupVersion.WithKind(v1alpha2.Kind), meta.RESTScopeNamespace)
	for _, child := range render.ChildKinds() {
		mapper.Add(child.GroupVersionKind, meta.RESTScopeNamespace)
	}
	return mapper
}
