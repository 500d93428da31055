package names

import (
	"maps"
	"strings"
)

const (
	// FieldManager owns every field the operator applies.
	FieldManager = "llama-stack-operator"
	// TransferManager owns the replicas of a Deployment between the operator and an
	// autoscaler: a field that its only owner leaves out goes back to its default.
	TransferManager = FieldManager + "-handover"

	// ManagedBy is the value of LabelManagedBy on every child.
	ManagedBy = "llama-stack-operator"
	// PartOf is the value of LabelPartOf on every child.
	PartOf = "llama-stack"
	// App is the value of LabelApp on every pod.
	App = "llama-stack"
	// PreflightApp is its value on a pod in which a change is tried: nothing that
	// selects the pods of a stack selects that one.
	PreflightApp = "llama-stack-preflight"

	// LabelApp is on pods and in selectors only.
	LabelApp = "app"
	// LabelManagedBy names the operator, on every child.
	LabelManagedBy = "app.kubernetes.io/managed-by"
	// LabelPartOf is PartOf, on every child.
	LabelPartOf = "app.kubernetes.io/part-of"
	// LabelInstance is the name of the stack, on every child.
	LabelInstance = "app.kubernetes.io/instance"
	// LabelWatch is on every child, as users of older operators know it.
	LabelWatch = "llamastack.io/watch"
	// LabelConfig tells a generated configuration ("generated") from a kept
	// base ("base").
	LabelConfig = "llamastack.io/config"
)

const (
	// AnnotationConfigHash on the pod template rolls the pods when the
	// configuration changes (FR-026).
	AnnotationConfigHash = "llamastack.io/config-hash"
	// AnnotationCABundleHash on the pod template rolls the pods when what the server
	// trusts changes.
	AnnotationCABundleHash = "llamastack.io/ca-bundle-hash"
	// AnnotationInputs on the pod template is the digest of everything that
	// feeds the template.
	AnnotationInputs = "llamastack.io/inputs"
	// AnnotationGeneration on the pod template is the generation of the stack that the
	// template was made for, behind the UID of the stack and a slash. The template's
	// digest leaves it out: another generation alone rolls no pod.
	AnnotationGeneration = "llamastack.io/generation"
	// AnnotationRendered on the Deployment records what was rendered last.
	AnnotationRendered = "llamastack.io/rendered"
	// AnnotationCompat marks an object that was born as the named older version.
	AnnotationCompat = "llamastack.io/compat"
	// AnnotationConversionData carries what the version in which an object is read cannot hold.
	AnnotationConversionData = "llamastack.io/conversion-data"
	// AnnotationContainerName names the server's container, as v1alpha1 may.
	AnnotationContainerName = "llamastack.io/container-name"
	// AnnotationUserConfigNamespace is the namespace of overrideConfig's ConfigMap, as v1alpha1 may say it.
	AnnotationUserConfigNamespace = "llamastack.io/user-config-namespace"
	// AnnotationAllowNamespaces on a ConfigMap lists the namespaces, separated by commas, whose stacks may read it; * is
	// every one.
	AnnotationAllowNamespaces = "llamastack.io/allow-namespaces"
	// AnnotationCABundleNamespace is the namespace of caBundle's ConfigMap, as v1alpha1 may say it.
	AnnotationCABundleNamespace = "llamastack.io/ca-bundle-namespace"
	// AnnotationAcceptDataLoss on a stack names the data, separated by commas, that a change may leave behind for good.
	AnnotationAcceptDataLoss = "llamastack.io/accept-data-loss"
	// AnnotationConstraint is OpenShift's, on a pod: the security context constraint that let it in.
	AnnotationConstraint = "openshift.io/scc"
	// AnnotationRequiredConstraint is OpenShift's, on a pod: no other constraint may let it in.
	AnnotationRequiredConstraint = "openshift.io/required-scc"
	// AnnotationPaused on a stack keeps the operator from writing anything but the stack's status while it is "true".
	AnnotationPaused = "llamastack.io/paused"
	// AnnotationRelease on the claim names the server release that wrote it.
	AnnotationRelease = "llamastack.io/release"
)

// CompatV1Alpha1 is the value of AnnotationCompat on an object that was born as v1alpha1.
const CompatV1Alpha1 = "v1alpha1"

// Compat says by its annotations that an object was born as v1alpha1 and keeps what such stacks rely on.
func Compat(annotations map[string]string) bool {
	return annotations[AnnotationCompat] == CompatV1Alpha1
}

// Paused reports by its annotations whether a stack is paused.
func Paused(annotations map[string]string) bool {
	return annotations[AnnotationPaused] == "true"
}

// AllowsNamespace says by its annotations that stacks of a namespace may read a ConfigMap of another one.
func AllowsNamespace(annotations map[string]string, namespace string) bool {
	for allowed := range strings.SplitSeq(annotations[AnnotationAllowNamespaces], ",") {
		if allowed = strings.TrimSpace(allowed); allowed == "*" || (allowed == namespace && namespace != "") {
			return true
		}
	}
	return false
}

// ServerContainer is the name of the server's container in a stack with these annotations.
func ServerContainer(annotations map[string]string) string {
	if name := annotations[AnnotationContainerName]; name != "" {
		return name
	}
	return Container
}

const (
	// Container is the name of the server's container, unless AnnotationContainerName says another.
	Container = "llama-stack"
	// DirectoryContainer is the name of the init container that makes what the server does not.
	DirectoryContainer = "make-directories"
	// RegistryContainer is the name of the init container that brings the server's
	// registry in line with the configuration.
	RegistryContainer = "reconcile-registry"
	// StartupVolume is the name of the volume with what runs before the server starts.
	StartupVolume = "lls-startup"
	// StartupDir is where that is mounted.
	StartupDir = "/etc/llama-stack-startup"
	// RegistryProgram is the file in StartupDir that brings the registry in line.
	RegistryProgram = "registry.py"
	// DataVolume is the name of the volume with the server's data.
	DataVolume = "lls-storage"
	// ConfigVolume is the name of the volume with the configuration.
	ConfigVolume = "user-config"
	// TLSVolume is the name of the volume with the server's certificate.
	TLSVolume = "lls-tls"
	// CAVolume is the name of the volume with what the server trusts.
	CAVolume = "ca-bundle"
	// CADir is where that is mounted.
	CADir = "/etc/ssl/certs/ca-bundle"
	// CABundleFile is the file in CADir and the key in the ConfigMap.
	CABundleFile = "ca-bundle.crt"
	// TmpVolume is the name of the volume mounted at /tmp.
	TmpVolume = "lls-tmp"
	// PortName is the name of the server's port on Service and container.
	PortName = "http"
	// ConfigDir is where the configuration is mounted.
	ConfigDir = "/etc/llama-stack"
	// ConfigFile is the configuration's file name in ConfigDir.
	ConfigFile = "config.yaml"
	// OlderConfigFile is the file name that a configuration had up to release 0.3, and has in many ConfigMaps since.
	OlderConfigFile = "run.yaml"
	// ConfigPath is the configuration's path in the container.
	ConfigPath = ConfigDir + "/" + ConfigFile
	// TLSDir is where the server's certificate is mounted: beside ConfigDir, which
	// is a volume that no other can be mounted into.
	TLSDir = "/etc/llama-stack-tls"
	// TLSCertificate is a key of a Secret of type kubernetes.io/tls, and so a file in TLSDir.
	TLSCertificate = "tls.crt"
	// TLSKey is the other one.
	TLSKey = "tls.key"
	// TLSAuthority is the key, in a Secret as certificate managers write it and in a ConfigMap as Gateways read it, of the
	// authorities that signed a certificate.
	TLSAuthority = "ca.crt"
)

const (
	// OperatorNamespace is where the shipped manifests install the operator.
	OperatorNamespace = "llama-stack-k8s-operator-system"
	// OperatorServiceAccount is the operator's ServiceAccount there.
	OperatorServiceAccount = "llama-stack-k8s-operator-controller-manager"
	// LeaderElectionID is the lease of the operator in use today, so that the
	// two never act together.
	LeaderElectionID = "54e06e98.llamastack.io"
	// EventReporter is the reporting controller of events.
	EventReporter = "llamastack.io/llama-stack-operator"
	// UserAgent begins the operator's User-Agent in the API server's audit log.
	UserAgent = "llama-stack-operator"
)

// PredecessorManagers are the field managers by which older operators updated
// children: the name of their program, in the shipped image and when run from a
// build. They also applied, under the name of the stack.
func PredecessorManagers() []string { return []string{"manager", "lls-manager"} }

// Labels are on every child of a stack.
func Labels(stack string) map[string]string {
	return map[string]string{
		LabelManagedBy: ManagedBy,
		LabelPartOf:    PartOf,
		LabelInstance:  stack,
		LabelWatch:     "true",
	}
}

// Selector selects a stack's pods. Immutable in a Deployment, so for ever.
func Selector(stack string) map[string]string {
	return map[string]string{LabelApp: App, LabelInstance: stack}
}

// ChildSelector selects every child of a stack: clean-up goes by it and by
// ownership together, never by one alone.
func ChildSelector(stack string) map[string]string {
	return map[string]string{LabelManagedBy: ManagedBy, LabelInstance: stack}
}

// PreflightLabels are on a pod in which a change is tried.
func PreflightLabels(stack string) map[string]string {
	labels := maps.Clone(Labels(stack))
	labels[LabelApp] = PreflightApp
	return labels
}

// PreflightSelector selects a stack's pods in which a change is tried.
func PreflightSelector(stack string) map[string]string {
	return map[string]string{LabelApp: PreflightApp, LabelInstance: stack}
}

// PreflightGate is the readiness gate of a pod in which a change is tried. Nobody
// opens it: such a pod never is ready, and so no Service of anybody's sends it
// requests, whatever labels it has.
const PreflightGate = "llamastack.io/preflight"

// ConfigLabels are Labels with the kind of a configuration's ConfigMap.
func ConfigLabels(stack, kind string) map[string]string {
	labels := maps.Clone(Labels(stack))
	labels[LabelConfig] = kind
	return labels
}

const (
	// ConfigKindGenerated marks generated configurations.
	ConfigKindGenerated = "generated"
	// ConfigKindBase marks kept bases.
	ConfigKindBase = "base"
)
