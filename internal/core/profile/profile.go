package profile

import "github.com/llamastack/llama-stack-k8s-operator/internal/core/names"

// Profile lists the differences between a stack and one that was created as v1alpha2. The comments of the fields are
// the rows of a table in docs/explanation/v1alpha1.md.
type Profile struct {
	// Messages and comments use the names of the fields of v1alpha1.
	V1alpha1 bool
	// A violation of a rule that is new in v1alpha2 is a warning.
	NewRulesWarn bool
	// The name can be any value of a label. A stack whose name is not valid for a Service runs without one.
	LongName bool
	// The server of a stack without providers, resources and storage can listen on a port below 1024.
	AnyPort bool
	// With `overrideConfig`, the pods mount all keys of your ConfigMap, and the key can also be `run.yaml`.
	MountsConfigMap bool
	// A stack that sets only `workers` uses the image's own configuration if there is no base.
	WorkersNeedNoBase bool
	// The variable `LLAMA_STACK_CONFIG` is set even if the operator mounts no configuration.
	NamesConfig bool
	// An own configuration that is already running is not checked again when other parts of the stack change.
	KeepsConfiguration bool
	// The home directory and the directories for data are those of the image, also with a volume.
	HomeOfImage bool
	// The pods run as the user of the image, without the settings of the restricted Pod Security Standard.
	UserOfImage bool
	// `/tmp` is a directory of the image, unless the server needs a volume there.
	TmpOfImage bool
	// The pods have a token for the API server.
	MountsToken bool
	// The pods have the variables that Kubernetes derives from Services, unless one of them breaks the server.
	ServiceLinks bool
	// The server trusts the certificates of the platform in addition to those of `caBundle`.
	TrustsPlatform bool
	// Certificates that cannot be used are left out of the CA bundle, with a warning.
	LeavesOutCertificates bool
	// Only the variable `SSL_CERT_FILE` names the CA bundle.
	OneCAVariable bool
	// Requests for resources that you do not set are the usual ones, or your limits.
	CompletesRequests bool
	// Limits that the previous operator derived from `workers` remain.
	KeepsLimits bool
	// The startup probe has the period of the previous operator.
	SlowStartup bool
	// The pods terminate without time to finish requests.
	NoDrain bool
	// A change is not tested in a separate pod, unless you set `preflight`.
	NoPreflight bool
	// The stack has a Service only if the spec sets a port or variables. The Service names the number of the port.
	ServiceIfAsked bool
	// The autoscaler never scales below `replicas`.
	ReplicasAreLeast bool
	// Without a domain, the stack is exposed without a host name, unless bounds for domains apply to its namespace.
	NoHostname bool
	// An Ingress has a certificate only from `tlsSecretName`, and its controller connects over plain HTTP.
	PlainIngress bool
	// Only the operator's flag enables the NetworkPolicy. It then admits routers also to a stack that is not exposed.
	PolicyByFlag bool
	// The status lists all providers with their health, and the known distributions.
	WholeStatus bool
}

// ofV1alpha1 has every field set.
var ofV1alpha1 = Profile{
	V1alpha1: true, NewRulesWarn: true, LongName: true, AnyPort: true,
	MountsConfigMap: true, WorkersNeedNoBase: true, NamesConfig: true, KeepsConfiguration: true,
	HomeOfImage: true, UserOfImage: true, TmpOfImage: true, MountsToken: true, ServiceLinks: true,
	TrustsPlatform: true, LeavesOutCertificates: true, OneCAVariable: true,
	CompletesRequests: true, KeepsLimits: true, SlowStartup: true, NoDrain: true, NoPreflight: true,
	ServiceIfAsked: true, ReplicasAreLeast: true, NoHostname: true, PlainIngress: true, PolicyByFlag: true,
	WholeStatus: true,
}

// Of returns the profile of an object with these annotations. The annotation of a stack that was created as v1alpha1
// proves nothing about its origin, because every user of the namespace can set it.
func Of(annotations map[string]string) Profile {
	if annotations[names.AnnotationCompat] == names.CompatV1Alpha1 {
		return ofV1alpha1
	}
	return Profile{}
}
