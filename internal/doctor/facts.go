package doctor

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

// Answer is what the API server returned for a question. A nil Value without a Problem means that the object does not
// exist.
type Answer[T any] struct {
	Value T
	// Problem states why the value is unknown, with the right that the caller lacks. Empty means that it is known.
	Problem string
}

// Facts is what was read from a cluster.
type Facts struct {
	// Now is the time of the check.
	Now time.Time
	// Command is the version of the command.
	Command string
	// Namespace is the namespace of the operator.
	Namespace string
	// Server is the version of the API server, such as v1.37.0.
	Server Answer[string]
	// Definition is the definition of the kind.
	Definition Answer[*apiextensionsv1.CustomResourceDefinition]
	// Operators are the operator's Deployments, in all namespaces that the caller may read.
	Operators Answer[[]appsv1.Deployment]
	// Leases are the leases by which operators elect their leader.
	Leases Answer[[]coordinationv1.Lease]
	// Webhook is the configuration of the validating webhook.
	Webhook Answer[*admissionv1.ValidatingWebhookConfiguration]
	// Certificate is the certificate that the webhooks serve, and nil without one.
	Certificate Answer[*x509.Certificate]
	// Policy and Binding are the admission policy and its binding.
	Policy  Answer[*admissionv1.ValidatingAdmissionPolicy]
	Binding Answer[*admissionv1.ValidatingAdmissionPolicyBinding]
	// Rules are the rules of the operator's ServiceAccount by namespace. The empty namespace stands for all namespaces.
	Rules Answer[map[string][]rbacv1.PolicyRule]
	// Config is the ConfigMap of the operator.
	Config Answer[*corev1.ConfigMap]
	// Rights are the rights of the caller.
	Rights Answer[[]Right]
	// Stacks are the selected stacks.
	Stacks Answer[[]v1alpha2.LlamaStackDistribution]
}

// Right is a right of the caller.
type Right struct {
	// Verb, Group, Resource and Subresource identify the right.
	Verb, Group, Resource, Subresource string
	// Namespace is empty for a right in all namespaces.
	Namespace string
	// Needed names what the right is needed for.
	Needed string
	// Allowed reports whether the caller has it.
	Allowed bool
}

// Status is the result of a check.
type Status string

const (
	// OK means that nothing has to be done.
	OK Status = "ok"
	// Warning means that something is unknown, or deserves attention.
	Warning Status = "warning"
	// Error means that something does not work.
	Error Status = "error"
)

// Finding is the result of a check.
type Finding struct {
	// Status is the result.
	Status Status `json:"status"`
	// Check is the name of the check.
	Check string `json:"check"`
	// Message states what was found.
	Message string `json:"message"`
	// Remedy states what to do. It is empty for Status OK.
	Remedy string `json:"remedy,omitempty"`
}

// report collects the findings of one check.
type report struct {
	check    string
	findings []Finding
}

func (r *report) add(status Status, message, remedy string) {
	r.findings = append(r.findings, Finding{Status: status, Check: r.check, Message: message, Remedy: remedy})
}

func (r *report) ok(message string) { r.add(OK, message, "") }

// unknown adds a warning for something that was not read.
func (r *report) unknown(what, problem string) {
	r.add(Warning, "cannot read "+what+": "+problem, "")
}
