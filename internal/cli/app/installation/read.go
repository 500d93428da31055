package installation

import (
	"cmp"
	"context"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"slices"
	"strings"
	"time"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/version"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/llamastack/llama-stack-k8s-operator/internal/cli/app/kube"
	"github.com/llamastack/llama-stack-k8s-operator/internal/cluster/migration"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
)

// maxOperators is the maximum number of Deployments that are read. Anyone can give a Deployment the labels of the
// operator. If there are more, only those in the operator's namespace count.
const maxOperators = 20

// examiner reads the facts about an installation. It records the permissions that the caller lacks, and continues
// without them.
type examiner struct {
	*kube.Cluster
	facts *Facts
}

// ReadFacts reads the facts about an installation. It returns an error only if the first request fails for a reason
// other than a missing permission.
func ReadFacts(
	ctx context.Context, cluster *kube.Cluster, all bool, selected, operatorNamespace, command string,
) (*Facts, error) {
	e := examiner{Cluster: cluster, facts: &Facts{Now: time.Now(), Command: command}}
	if err := e.server(ctx); err != nil {
		return nil, err
	}
	e.facts.Definition = get(ctx, cluster, "", names.CustomResourceDefinition, &apiextensionsv1.CustomResourceDefinition{})
	e.operators(ctx, operatorNamespace)
	e.webhooks(ctx)
	e.rules(ctx)
	e.facts.Config = get(ctx, cluster, e.facts.Namespace, names.OperatorConfigMap, &corev1.ConfigMap{})
	if selected != "" {
		found := get(ctx, e.Cluster, "", selected, &corev1.Namespace{})
		switch {
		case found.Value == nil && found.Problem == "":
			found.Problem = "the namespace does not exist"
			fallthrough
		case found.Value == nil:
			found.Value = &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: selected}}
		}
		e.facts.Selected = &found
	}
	e.rights(ctx, all)
	stacks, err := cluster.Stacks(ctx)
	e.facts.Stacks.Value, e.facts.Stacks.Problem = stacks, text(err)
	return e.facts, nil
}

func text(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// get reads an object. The answer has no value if the object does not exist.
func get[T client.Object](ctx context.Context, c *kube.Cluster, namespace, name string, object T) Answer[T] {
	err := c.Get(ctx, client.ObjectKey{Namespace: namespace, Name: name}, object)
	switch {
	case err == nil:
		return Answer[T]{Value: object}
	case apierrors.IsNotFound(err):
		return Answer[T]{}
	default:
		return Answer[T]{Problem: text(err)}
	}
}

// server reads the version of the API server. It records a missing permission or an invalid response in the facts, and
// returns any other error.
func (e *examiner) server(ctx context.Context) error {
	asked, err := e.Discovery()
	if err != nil {
		return err
	}
	data, err := asked.RESTClient().Get().AbsPath("/version").Do(ctx).Raw()
	var found version.Info
	switch {
	case apierrors.IsForbidden(err):
		e.facts.Server.Problem = text(err)
	case err != nil:
		return kube.Explain(err, "get", schema.GroupResource{Resource: "version"}, "")
	case json.Unmarshal(data, &found) != nil:
		e.facts.Server.Problem = "the API server's response is not JSON"
	}
	e.facts.Server.Value = found.GitVersion
	return nil
}

// operators reads the operator's Deployments and leases, and determines the operator's namespace.
func (e *examiner) operators(ctx context.Context, namespace string) {
	known := cmp.Or(namespace, migration.WebhookNamespace(e.facts.Definition.Value))
	deployments, err := e.Deployments(ctx, kube.OperatorLabels, client.Limit(maxOperators))
	if apierrors.IsForbidden(err) || deployments.Continue != "" {
		known = cmp.Or(known, names.OperatorNamespace)
		own, failed := e.Deployments(ctx, client.InNamespace(known), kube.OperatorLabels, client.Limit(maxOperators))
		if failed == nil {
			deployments, err = own, nil
		}
	}
	e.facts.Operators = Answer[[]appsv1.Deployment]{Value: deployments.Items, Problem: text(err)}
	// Anyone can give a Deployment the labels of the operator, so the usual namespace precedes others.
	if known == "" && len(deployments.Items) > 0 && !slices.ContainsFunc(deployments.Items,
		func(d appsv1.Deployment) bool { return d.Namespace == names.OperatorNamespace }) {
		known = deployments.Items[0].Namespace
	}
	e.facts.Namespace = cmp.Or(known, names.OperatorNamespace)
	leases := &coordinationv1.LeaseList{}
	err = e.List(
		ctx, leases,
		client.MatchingFieldsSelector{Selector: fields.OneTermEqualSelector("metadata.name", names.LeaderElectionID)},
	)
	e.facts.Leases = Answer[[]coordinationv1.Lease]{Value: leases.Items, Problem: text(err)}
}

// webhooks reads the validating webhook, the admission policy and its binding, and the webhooks' certificate.
func (e *examiner) webhooks(ctx context.Context) {
	e.facts.Webhook = get(ctx, e.Cluster, "", names.ValidatingWebhookConfiguration,
		&admissionv1.ValidatingWebhookConfiguration{})
	e.facts.Policy = get(ctx, e.Cluster, "", names.CustomResourceDefinition,
		&admissionv1.ValidatingAdmissionPolicy{})
	e.facts.Binding = get(ctx, e.Cluster, "", names.CustomResourceDefinition,
		&admissionv1.ValidatingAdmissionPolicyBinding{})
	secret := get(ctx, e.Cluster, e.facts.Namespace, names.WebhookCertificateSecret, &corev1.Secret{})
	e.facts.Certificate.Problem = secret.Problem
	if secret.Value == nil {
		return
	}
	if block, _ := pem.Decode(secret.Value.Data[corev1.TLSCertKey]); block != nil {
		e.facts.Certificate.Value, _ = x509.ParseCertificate(block.Bytes) // checkCertificate reports a missing certificate
	}
}

// rights asks the API server about each permission that the commands need, and records whether the caller has it.
func (e *examiner) rights(ctx context.Context, all bool) {
	namespace := e.Namespace
	if all {
		namespace = ""
	}
	var rights []Right
	for _, right := range Needed(namespace) {
		review := &authorizationv1.SelfSubjectAccessReview{Spec: authorizationv1.SelfSubjectAccessReviewSpec{
			ResourceAttributes: &authorizationv1.ResourceAttributes{
				Verb: right.Verb, Group: right.Group, Resource: right.Resource, Subresource: right.Subresource,
				Namespace: right.Namespace,
			},
		}}
		if err := e.Create(ctx, review); err != nil {
			e.facts.Rights.Problem = text(err)
			return
		}
		right.Allowed = review.Status.Allowed
		rights = append(rights, right)
	}
	e.facts.Rights.Value = rights
}

// watchedNamespaces returns the namespaces in an operator's --watch-namespaces flag.
func watchedNamespaces(operator *appsv1.Deployment) []string {
	var found []string
	for _, container := range operator.Spec.Template.Spec.Containers {
		for _, argument := range container.Args {
			if value, is := strings.CutPrefix(argument, "--watch-namespaces="); is && value != "" {
				found = append(found, strings.Split(value, ",")...)
			}
		}
	}
	slices.Sort(found)
	return slices.Compact(found)
}
