package installation

import (
	"crypto/x509"
	"time"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
)

// Answer is the result of a request to the API server. A nil Value without a Problem means that the object does not
// exist.
type Answer[T any] struct {
	Value T
	// Problem is the reason why the value is not known, for example a missing permission. Empty means that the value is
	// known.
	Problem string
}

// Facts contains the facts that were read from a cluster.
type Facts struct {
	// Now is the time of the check.
	Now time.Time
	// Command is the version of the command-line tool.
	Command string
	// Namespace is the operator's namespace.
	Namespace string
	// Server is the version of the API server, such as v1.37.0.
	Server Answer[string]
	// Definition is the CustomResourceDefinition of the stack's kind.
	Definition Answer[*apiextensionsv1.CustomResourceDefinition]
	// Operators are the operator's Deployments, in all namespaces that the caller may read.
	Operators Answer[[]appsv1.Deployment]
	// Leases are the operators' leader-election leases.
	Leases Answer[[]coordinationv1.Lease]
	// Webhook is the configuration of the validating webhook.
	Webhook Answer[*admissionv1.ValidatingWebhookConfiguration]
	// Certificate is the serving certificate of the webhooks. It is nil if there is none.
	Certificate Answer[*x509.Certificate]
	// Policy and Binding are the admission policy and its binding.
	Policy  Answer[*admissionv1.ValidatingAdmissionPolicy]
	Binding Answer[*admissionv1.ValidatingAdmissionPolicyBinding]
	// Rules are the RBAC rules of the operator's ServiceAccount, by namespace. The empty namespace means all namespaces.
	Rules Answer[map[string][]rbacv1.PolicyRule]
	// Config is the operator's ConfigMap.
	Config Answer[*corev1.ConfigMap]
	// Selected is the namespace whose bounds the user asked for, with its labels. It is nil if the user did not ask for
	// them. Its labels are unknown if it has a Problem.
	Selected *Answer[*corev1.Namespace]
	// Rights are the caller's permissions.
	Rights Answer[[]Right]
	// Stacks are the selected stacks.
	Stacks Answer[[]v1alpha2.LlamaStackDistribution]
}

// Right is one of the caller's permissions.
type Right struct {
	// Verb, Group, Resource and Subresource identify the permission.
	Verb, Group, Resource, Subresource string
	// Namespace is empty for a permission in all namespaces.
	Namespace string
	// Needed is the action that requires the permission.
	Needed string
	// Allowed reports whether the caller has the permission.
	Allowed bool
}

// Status is the result of a check.
type Status string

const (
	// OK means that no action is needed.
	OK Status = "ok"
	// Warning means that a fact is not known, or that the user should check the installation.
	Warning Status = "warning"
	// Error means that a part of the installation does not work.
	Error Status = "error"
)

// Finding is one result of a check.
type Finding struct {
	// Status is the result.
	Status Status `json:"status"`
	// Check is the name of the check.
	Check string `json:"check"`
	// Message describes the result.
	Message string `json:"message"`
	// Remedy is the action that solves the problem. It is empty for the status OK, and for a fact that could not be read.
	Remedy string `json:"remedy,omitempty"`
}

// report collects the findings from one check.
type report struct {
	check    string
	findings []Finding
}

func (r *report) add(status Status, message, remedy string) {
	r.findings = append(r.findings, Finding{Status: status, Check: r.check, Message: message, Remedy: remedy})
}

func (r *report) ok(message string) { r.add(OK, message, "") }

// unknown adds a warning about a fact that could not be read.
func (r *report) unknown(what, problem string) {
	r.add(Warning, "cannot read "+what+": "+problem, "")
}
