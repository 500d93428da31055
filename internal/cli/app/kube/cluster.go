package kube

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/go-logr/logr"
	admissionv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha1"
	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/render"
)

// Cluster is a connection to a cluster, with the caller's permissions.
type Cluster struct {
	client.Client
	// Config is the configuration of the connection.
	Config *rest.Config
	// Namespace is the command's namespace: the value of --namespace, else the context's namespace, else "default".
	Namespace string

	flags *Flags
}

// Connect returns a connection to the cluster that the flags select. It does not send a request. `version` is the
// version of the command, and becomes part of the user agent.
func (f *Flags) Connect(version string) (*Cluster, error) {
	config, namespace, err := f.load()
	if err != nil {
		return nil, err
	}
	config.UserAgent = "kubectl-llamastack/" + version
	config.QPS = -1                                      // no limit in the client: package migration limits its rate
	config.WarningHandlerWithContext = rest.NoWarnings{} // a migration would print a warning for each stack that it writes
	log.SetLogger(logr.Discard())                        // without a logger, controller-runtime prints a warning
	scheme, err := newScheme()
	if err != nil {
		return nil, err
	}
	found, err := client.New(config, client.Options{Scheme: scheme, Mapper: knownKinds(scheme)})
	if err != nil {
		return nil, fmt.Errorf("create a client: %w", err)
	}
	return &Cluster{Client: found, Config: config, Namespace: namespace, flags: f}, nil
}

// Get reads an object. The error explains the problem.
func (c *Cluster) Get(
	ctx context.Context, key client.ObjectKey, object client.Object, options ...client.GetOption,
) error {
	return c.explain(c.Client.Get(ctx, key, object, options...), "get", object, key.Namespace)
}

// List reads a list. The error explains the problem.
func (c *Cluster) List(ctx context.Context, list client.ObjectList, options ...client.ListOption) error {
	selected := (&client.ListOptions{}).ApplyOptions(options)
	return c.explain(c.Client.List(ctx, list, selected), "list", list, selected.Namespace)
}

// Create creates an object. The error explains the problem.
func (c *Cluster) Create(ctx context.Context, object client.Object, options ...client.CreateOption) error {
	return c.explain(c.Client.Create(ctx, object, options...), "create", object, object.GetNamespace())
}

// explain explains the error of a request for an object or a list.
func (c *Cluster) explain(err error, verb string, object runtime.Object, namespace string) error {
	if err == nil {
		return nil
	}
	kind, _ := c.GroupVersionKindFor(object) // every kind is in the scheme, or the object contains it
	kind.Kind = strings.TrimSuffix(kind.Kind, "List")
	resource, _ := meta.UnsafeGuessKindToResource(kind)
	return Explain(err, verb, resource.GroupResource(), namespace)
}

// Core returns a client for the requests to pods that a client.Client does not support: logs and forwarded ports. A
// client for all groups of the API would make the command larger.
func (c *Cluster) Core() (corev1client.CoreV1Interface, error) {
	core, err := corev1client.NewForConfig(c.Config)
	if err != nil {
		return nil, fmt.Errorf("create a client: %w", err)
	}
	return core, nil
}

// Discovery returns a client for the version of the API server, and for the versions of the API that it serves.
func (c *Cluster) Discovery() (discovery.DiscoveryInterface, error) {
	found, err := discovery.NewDiscoveryClientForConfig(c.Config)
	if err != nil {
		return nil, fmt.Errorf("create a client: %w", err)
	}
	return found, nil
}

// Serves reports whether the API server serves a kind.
func (c *Cluster) Serves(kind schema.GroupVersionKind) (bool, error) {
	asked, err := c.Discovery()
	if err != nil {
		return false, err
	}
	served, err := asked.ServerResourcesForGroupVersion(kind.GroupVersion().String())
	switch {
	case apierrors.IsNotFound(err):
		return false, nil
	case err != nil:
		return false, Explain(err, "get", schema.GroupResource{Resource: "/apis"}, "")
	}
	return slices.ContainsFunc(served.APIResources, func(r metav1.APIResource) bool { return r.Kind == kind.Kind }), nil
}

// Version returns the version of the API server.
func (c *Cluster) Version() (string, error) {
	asked, err := c.Discovery()
	if err != nil {
		return "", err
	}
	info, err := asked.ServerVersion()
	if err != nil {
		return "", Explain(err, "get", schema.GroupResource{Resource: "/version"}, "")
	}
	return info.GitVersion, nil
}

// groups contains functions that add API groups to a scheme. These are the groups of the objects that commands read or
// create.
var groups = []func(*runtime.Scheme) error{
	admissionv1.AddToScheme, apiextensionsv1.AddToScheme, appsv1.AddToScheme, authorizationv1.AddToScheme,
	autoscalingv2.AddToScheme, coordinationv1.AddToScheme, corev1.AddToScheme, eventsv1.AddToScheme, rbacv1.AddToScheme,
	v1alpha1.AddToScheme, v1alpha2.AddToScheme,
}

func newScheme() (*runtime.Scheme, error) {
	scheme := runtime.NewScheme()
	for _, add := range groups {
		if err := add(scheme); err != nil {
			return nil, fmt.Errorf("create a scheme: %w", err)
		}
	}
	return scheme, nil
}

// clusterScoped are the kinds in the scheme that have no namespace.
var clusterScoped = map[string]bool{
	"CustomResourceDefinition": true, "Namespace": true, "Node": true, "PersistentVolume": true, "ClusterRole": true,
	"ClusterRoleBinding": true, "SelfSubjectAccessReview": true, "SelfSubjectRulesReview": true,
	"SubjectAccessReview":            true,
	"ValidatingWebhookConfiguration": true, "MutatingWebhookConfiguration": true, "ValidatingAdmissionPolicy": true,
	"ValidatingAdmissionPolicyBinding": true, "MutatingAdmissionPolicy": true, "MutatingAdmissionPolicyBinding": true,
}

// knownKinds returns a mapper for the kinds in the scheme, and for the kinds that the operator creates. The mapper
// needs no API discovery.
func knownKinds(scheme *runtime.Scheme) meta.RESTMapper {
	mapper := meta.NewDefaultRESTMapper(nil)
	add := func(kind schema.GroupVersionKind) {
		scope := meta.RESTScopeNamespace
		if clusterScoped[kind.Kind] {
			scope = meta.RESTScopeRoot
		}
		mapper.Add(kind, scope)
	}
	for kind := range scheme.AllKnownTypes() {
		add(kind)
	}
	for _, child := range render.ChildKinds() {
		add(child.GroupVersionKind)
	}
	return mapper
}
