package planner

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/cli/app"
	"github.com/llamastack/llama-stack-k8s-operator/internal/cli/app/kube"
	"github.com/llamastack/llama-stack-k8s-operator/internal/cli/app/manifests"
	"github.com/llamastack/llama-stack-k8s-operator/internal/cluster/migration"
	"github.com/llamastack/llama-stack-k8s-operator/internal/cluster/stub"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/distribution"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/dryrun"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/facts"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/operatorconfig"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/plan"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/render"
)

// Reader reads stacks from a cluster, with their Deployments and the ConfigMaps that the stacks refer to. It reads each
// ConfigMap once, and never reads Secrets. It records the objects that the caller cannot read.
type Reader struct {
	Cluster *kube.Cluster
	// version is the version of the command.
	version string
	// configMaps contains the ConfigMaps that were read. The value is nil for a ConfigMap that does not exist, or that the
	// caller cannot read.
	configMaps map[dryrun.Key]*corev1.ConfigMap
	// deniedMaps contains the ConfigMaps that the caller cannot read.
	deniedMaps map[dryrun.Key]bool
	Config     operatorconfig.Config
	// operatorNamespace is the namespace of the operator's ConfigMap. It is empty if the ConfigMap was not read there.
	operatorNamespace string
	// related contains the images in the RELATED_IMAGE variables of the operator. Nil means that they are not known.
	related distribution.Overrides
	// mapped is the number of bytes of the ConfigMaps in configMaps.
	mapped int
	// deployments contains the Deployments of all stacks, if they were listed. The value is nil for a long one.
	deployments map[dryrun.Key]*appsv1.Deployment
	// everywhere contains the stacks in all namespaces, if they were listed.
	everywhere []*v1alpha2.LlamaStackDistribution
	// exposed contains the exposures that stacks request, of those that were compared.
	exposed map[*v1alpha2.LlamaStackDistribution]*v1alpha2.ExposeSpec
	// served contains the kinds that the cluster serves, of those that were asked for.
	served map[schema.GroupVersionKind]bool
	// Unknown lists sentences about facts that are not known, for example because the caller cannot read an object.
	Unknown []string
}

// New returns a reader for a cluster. `version` is the version of the command.
func New(cluster *kube.Cluster, version string) *Reader {
	return &Reader{
		Cluster: cluster, version: version, configMaps: map[dryrun.Key]*corev1.ConfigMap{},
		deniedMaps: map[dryrun.Key]bool{}, served: map[schema.GroupVersionKind]bool{},
		exposed: map[*v1alpha2.LlamaStackDistribution]*v1alpha2.ExposeSpec{},
	}
}

// Missing records a sentence about a fact that is not known, unless it is already recorded.
func (r *Reader) Missing(format string, args ...any) {
	if text := fmt.Sprintf(format, args...); !slices.Contains(r.Unknown, text) {
		r.Unknown = append(r.Unknown, text)
	}
}

// compareVersion records a difference between the version of the command and the version of a stack's operator.
func (r *Reader) compareVersion(stack *v1alpha2.LlamaStackDistribution) {
	if known := stack.Status.Version; known != nil && known.OperatorVersion != "" &&
		known.OperatorVersion != r.version {
		r.Missing("the operator has version %s, and this command has version %s; the operator might handle stacks differently; use "+
			"version %[1]s of this command",
			known.OperatorVersion, r.version)
	}
}

// read reads an object. It returns false for an object that does not exist, or that the caller cannot read.
func (r *Reader) read(ctx context.Context, key dryrun.Key, into client.Object) (bool, error) {
	err := r.Cluster.Get(ctx, client.ObjectKey{Namespace: key.Namespace, Name: key.Name}, into)
	if _, is := into.(*corev1.ConfigMap); is && apierrors.IsForbidden(err) {
		r.deniedMaps[key] = true
	}
	return err == nil, r.unlessDenied(client.IgnoreNotFound(err))
}

// unlessDenied returns an error. If the caller lacks a permission, it records the error, and returns nil.
func (r *Reader) unlessDenied(err error) error {
	if _, denied := errors.AsType[*kube.Denied](err); denied {
		r.Missing("%v", err)
		return nil
	}
	return err
}

// maxMapped is the maximum number of bytes of the ConfigMaps that a Reader keeps, so as not to read them again.
const maxMapped = 32 << 20

// configMap returns a ConfigMap. It returns nil for a ConfigMap that does not exist, or that the caller cannot read.
func (r *Reader) configMap(ctx context.Context, key dryrun.Key) (*corev1.ConfigMap, error) {
	if found, known := r.configMaps[key]; known || key.Name == "" {
		return found, nil
	}
	configMap := &corev1.ConfigMap{}
	found, err := r.read(ctx, key, configMap)
	if err != nil {
		return nil, err
	}
	if !found {
		configMap = nil
	}
	if r.mapped += configMap.Size(); r.mapped > maxMapped {
		clear(r.configMaps)
		r.mapped = configMap.Size()
	}
	r.configMaps[key] = configMap
	return configMap, nil
}

// boundedNamespaces returns the namespace of a stack by its name, if the bounds of the stack depend on the labels of
// the namespace, and if the caller can read the namespace.
func boundedNamespaces(
	ctx context.Context, c client.Reader, config operatorconfig.Config, name string,
) (map[string]*corev1.Namespace, error) {
	if !config.Bounds.NeedLabels(name) {
		return nil, nil
	}
	namespace := &corev1.Namespace{}
	err := c.Get(ctx, client.ObjectKey{Name: name}, namespace)
	switch {
	case apierrors.IsForbidden(err), apierrors.IsNotFound(err):
		return nil, nil
	case err != nil:
		return nil, err
	}
	return map[string]*corev1.Namespace{name: namespace}, nil
}

// References returns the existing ConfigMaps that a stack refers to and that the caller can read.
func (r *Reader) References(ctx context.Context, object *v1alpha2.LlamaStackDistribution) (*dryrun.Manifests, error) {
	platform, err := r.platform()
	if err != nil {
		return nil, err
	}
	m := &dryrun.Manifests{
		Platform: platform, ConfigMaps: map[dryrun.Key]*corev1.ConfigMap{}, Config: r.Config, Live: true,
		Denied: r.deniedMaps,
	}
	if m.Namespaces, err = boundedNamespaces(ctx, r.Cluster, r.Config, object.Namespace); err != nil {
		return nil, err
	}
	for _, asked := range new(facts.Running).ConfigMaps(object) {
		for _, use := range facts.Candidates(asked) {
			key := dryrun.KeyOf(use, object.Namespace)
			configMap, err := r.configMap(ctx, key)
			if err != nil {
				return nil, err
			}
			if configMap != nil {
				m.ConfigMaps[key] = configMap
			}
		}
	}
	m.HostOwner, err = r.hostOwner(ctx, m, object)
	return m, err
}

// platform returns what the cluster serves. It asks the API server once, and for the kinds of the Gateway API only if a
// Gateway is configured.
func (r *Reader) platform() (facts.Platform, error) {
	kinds := []schema.GroupVersionKind{facts.Constraints, render.RouteKind}
	if r.Config.Gateway != nil {
		kinds = append(kinds, render.HTTPRouteKind, render.BackendTLSPolicyKind)
	}
	for _, kind := range kinds {
		if _, asked := r.served[kind]; asked {
			continue
		}
		served, err := r.Cluster.Serves(kind)
		if err != nil {
			return facts.Platform{}, err
		}
		r.served[kind] = served
	}
	return facts.Platform{
		OpenShift: r.served[facts.Constraints], OperatorNamespace: r.operatorNamespace,
		Related: r.related,
		Serves:  func(kind schema.GroupVersionKind) bool { return r.served[kind] },
	}, nil
}

// Stacks returns the stacks with the given names. Without names, it returns the stacks that the flags select.
func (r *Reader) Stacks(ctx context.Context, names []string) ([]v1alpha2.LlamaStackDistribution, error) {
	if len(names) == 0 {
		return r.Cluster.WholeStacks(ctx)
	}
	found := make([]v1alpha2.LlamaStackDistribution, 0, len(names))
	for _, name := range names {
		stack, err := r.Cluster.Stack(ctx, name)
		if err != nil {
			return nil, err
		}
		found = append(found, *stack)
	}
	return found, nil
}

// Running reads the Deployment of a stack, and the base configuration that the operator keeps for the stack.
func (r *Reader) Running(ctx context.Context, stack *v1alpha2.LlamaStackDistribution) (*facts.Running, error) {
	r.compareVersion(stack)
	deployment, listed := r.deployments[dryrun.Key{Namespace: stack.Namespace, Name: names.Deployment(stack.Name)}]
	if r.deployments == nil || listed && deployment == nil {
		found, err := r.Cluster.Deployment(ctx, stack)
		if err := r.unlessDenied(err); err != nil {
			return nil, err
		}
		deployment = found
	}
	found := facts.NewRunning(stack, deployment)
	name := found.Record.BaseConfigMap
	image, err := found.Image(stack.Spec.Distribution, facts.NewOverrides(r.related, r.Config))
	if name == "" || err == nil && found.Record.Base == plan.BaseHash(image.Distribution.Base) {
		return found, nil // this command contains the same base
	}
	kept, err := r.configMap(ctx, dryrun.Key{Namespace: stack.Namespace, Name: name})
	if kept != nil {
		found.Base = plan.Files(kept.BinaryData, kept.Data)[names.BaseFile]
	}
	return found, err
}

// ListDeployments reads the Deployments of all stacks, a page at a time. It does not keep long ones, because anyone can
// give a Deployment the label: Running reads them one by one.
func (r *Reader) ListDeployments(ctx context.Context, everywhere bool) error {
	namespace := r.Cluster.Namespace
	if everywhere {
		namespace = ""
	}
	r.deployments = make(map[dryrun.Key]*appsv1.Deployment)
	err := r.Cluster.EachDeployment(ctx, func(one *appsv1.Deployment) {
		key := dryrun.Key{Namespace: one.Namespace, Name: one.Name}
		if r.deployments[key] = nil; !stub.Exceeds(one, stub.MaxWhole) {
			r.deployments[key] = one.DeepCopy()
		}
	}, client.InNamespace(namespace), client.MatchingLabels{names.LabelManagedBy: names.ManagedBy})
	return r.unlessDenied(err)
}

// Claim reads the PersistentVolumeClaim of a stack with a volume. It returns nil for a claim that does not exist, or
// that the caller cannot read.
func (r *Reader) Claim(
	ctx context.Context, stack *v1alpha2.LlamaStackDistribution,
) (*corev1.PersistentVolumeClaim, error) {
	if stack.Spec.Workload == nil || stack.Spec.Workload.Storage == nil {
		return nil, nil
	}
	claim := &corev1.PersistentVolumeClaim{}
	key := dryrun.Key{Namespace: stack.Namespace, Name: names.PersistentVolumeClaim(stack.Name)}
	if found, err := r.read(ctx, key, claim); err != nil || !found {
		return nil, err
	}
	return claim, nil
}

// ReadConfig reads the operator's ConfigMap from a file or, without a file, from the cluster. It also reads the
// variables of the operator.
func (r *Reader) ReadConfig(ctx context.Context, file string, stdin io.Reader, p app.Printer) (err error) {
	if file != "" {
		if r.Config, err = manifests.OperatorConfig(file, stdin, p); err != nil {
			return err
		}
		return r.relatedImages(ctx)
	}
	list := &corev1.ConfigMapList{}
	byName := client.MatchingFieldsSelector{Selector: fields.OneTermEqualSelector("metadata.name",
		names.OperatorConfigMap)}
	err = r.Cluster.List(ctx, list, byName)
	switch {
	case apierrors.IsForbidden(err):
		r.Missing("the operator's ConfigMap %s: you cannot list ConfigMaps in all namespaces, so this command does not use the "+
			"images and limits in the ConfigMap; set --operator-config to a file with the ConfigMap", names.OperatorConfigMap)
		return nil
	case err != nil:
		return err
	}
	if found := r.ofOperator(ctx, list.Items); found == nil {
		r.Config, _ = operatorconfig.Read(nil, operatorconfig.Config{})
	} else {
		r.operatorNamespace = found.Namespace
		if r.Config, err = manifests.ConfigOf(found, "ConfigMap in namespace "+found.Namespace, p); err != nil {
			return err
		}
	}
	return r.relatedImages(ctx)
}

// relatedImages reads the RELATED_IMAGE variables in the operator's Deployment. They remain unknown if there is no such
// Deployment in the operator's namespace, or if the caller cannot read it.
func (r *Reader) relatedImages(ctx context.Context) error {
	namespace := cmp.Or(r.operatorNamespace, names.OperatorNamespace)
	list, err := r.Cluster.Deployments(ctx, client.InNamespace(namespace), kube.OperatorLabels)
	variables := map[string]string{}
	for i := range list.Items {
		for _, container := range list.Items[i].Spec.Template.Spec.Containers {
			for _, variable := range container.Env {
				variables[variable.Name] = variable.Value
			}
		}
	}
	if len(list.Items) > 0 {
		r.related = distribution.RelatedImages(func(name string) string { return variables[name] })
	}
	return r.unlessDenied(err)
}

// ofOperator returns the operator's ConfigMap, or nil if there is none. Anyone can create a ConfigMap with its name in
// another namespace, so the namespace of the webhooks or the usual namespace precedes others.
func (r *Reader) ofOperator(ctx context.Context, all []corev1.ConfigMap) *corev1.ConfigMap {
	if len(all) == 0 {
		return nil
	}
	definition := &apiextensionsv1.CustomResourceDefinition{}
	if r.Cluster.Get(ctx, client.ObjectKey{Name: names.CustomResourceDefinition}, definition) != nil {
		definition = nil // it only determines which ConfigMap is used
	}
	known := migration.WebhookNamespace(definition)
	for i := range all {
		if all[i].Namespace == cmp.Or(known, names.OperatorNamespace) {
			return &all[i]
		}
	}
	switch {
	case known != "":
		return nil
	case len(all) > 1:
		r.Missing("the operator's ConfigMap %s: several namespaces have a ConfigMap with this name; set --operator-config to a "+
			"file with the operator's ConfigMap", names.OperatorConfigMap)
		return nil
	default:
		r.Missing("the operator's ConfigMap %s: this command uses the only one, in namespace %q; if this is not the operator's "+
			"namespace, set --operator-config to a file with the operator's ConfigMap", names.OperatorConfigMap, all[0].Namespace)
		return &all[0]
	}
}
