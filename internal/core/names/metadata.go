package names

import (
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const (
	// FieldManager owns every field that the operator applies.
	FieldManager = "llama-stack-operator"
	// TransferManager owns a Deployment's replicas field while the ownership of this field passes between the operator
	// and an autoscaler. A field without an owner would return to its default.
	TransferManager = FieldManager + "-handover"

	// ManagedBy is the value of LabelManagedBy on every child.
	ManagedBy = "llama-stack-operator"
	// PartOf is the value of LabelPartOf on every child.
	PartOf = "llama-stack"
	// App is the value of LabelApp on every pod that serves a stack.
	App = "llama-stack"
	// PreflightApp is the value of LabelApp on a pod in which a change is tested, so that selectors for the pods of a
	// stack do not match it.
	PreflightApp = "llama-stack-preflight"

	// LabelApp is on pods and in selectors. Children other than pods do not have it.
	LabelApp = "app"
	// LabelManagedBy is on every child and names the operator.
	LabelManagedBy = "app.kubernetes.io/managed-by"
	// LabelPartOf is on every child and has the value PartOf.
	LabelPartOf = "app.kubernetes.io/part-of"
	// LabelInstance is on every child and contains the name of the stack.
	LabelInstance = "app.kubernetes.io/instance"
	// LabelWatch is on every child. Earlier operators set it too.
	LabelWatch = "llamastack.io/watch"
	// LabelConfig distinguishes a generated configuration ("generated") from a stored base configuration ("base").
	LabelConfig = "llamastack.io/config"
)

// AnnotationPrefix is the prefix of the operator's annotations and labels.
const AnnotationPrefix = "llamastack.io/"

const (
	// AnnotationConfigHash on the pod template triggers a rollout when the configuration changes (FR-026).
	AnnotationConfigHash = "llamastack.io/config-hash"
	// AnnotationCABundleHash on the pod template triggers a rollout when the server's certificate authorities change.
	AnnotationCABundleHash = "llamastack.io/ca-bundle-hash"
	// AnnotationInputs on the pod template is the digest of all inputs from which the template was rendered.
	AnnotationInputs = "llamastack.io/inputs"
	// AnnotationGeneration on the pod template is the UID of the stack, a slash, and the stack generation for which the
	// template was rendered. The template's digest excludes it, so that a new generation alone does not trigger a
	// rollout.
	AnnotationGeneration = "llamastack.io/generation"
	// AnnotationRendered on the Deployment is a record of the last rendering (see package rollout).
	AnnotationRendered = "llamastack.io/rendered"
	// AnnotationCompat names the older API version in which an object was created.
	AnnotationCompat = "llamastack.io/compat"
	// AnnotationConversionData holds the fields that do not exist in the version in which an object is read.
	AnnotationConversionData = "llamastack.io/conversion-data"
	// AnnotationContainerName is the name of the server's container. Only v1alpha1 has a field for this name.
	AnnotationContainerName = "llamastack.io/container-name"
	// AnnotationUserConfigNamespace is the namespace of overrideConfig's ConfigMap. Only v1alpha1 has a field for this
	// namespace.
	AnnotationUserConfigNamespace = "llamastack.io/user-config-namespace"
	// AnnotationAllowNamespaces on a ConfigMap is a comma-separated list of the namespaces whose stacks may read the
	// ConfigMap. The value * allows every namespace.
	AnnotationAllowNamespaces = "llamastack.io/allow-namespaces"
	// AnnotationCABundleNamespace is the namespace of caBundle's ConfigMap. Only v1alpha1 has a field for this namespace.
	AnnotationCABundleNamespace = "llamastack.io/ca-bundle-namespace"
	// AnnotationAcceptDataLoss on a stack is a comma-separated list that names the data whose permanent loss the user
	// accepts.
	AnnotationAcceptDataLoss = "llamastack.io/accept-data-loss"
	// AnnotationConstraint on a pod names the security context constraint that admitted the pod. OpenShift sets it.
	AnnotationConstraint = "openshift.io/scc"
	// AnnotationRequiredConstraint on a pod names the only constraint that may admit the pod. OpenShift reads it.
	AnnotationRequiredConstraint = "openshift.io/required-scc"
	// AnnotationPaused on a stack makes the operator write only the stack's status while the value of the annotation is
	// "true".
	AnnotationPaused = "llamastack.io/paused"
	// UnreadableSpec on a stack in the memory of a program is the problem with a spec that could not be decoded as it is
	// stored (see package salvage). The API server rejects a key with a space, so no stored object has this annotation.
	UnreadableSpec = "unreadable spec"
	// AnnotationRelease on the PersistentVolumeClaim names the server release that last used the volume.
	AnnotationRelease = "llamastack.io/release"
)

// StackAnnotations returns the annotations of a stack that the operator reads when it reconciles the stack.
func StackAnnotations() []string {
	return []string{
		AnnotationCompat, AnnotationContainerName, AnnotationUserConfigNamespace, AnnotationCABundleNamespace,
		AnnotationAcceptDataLoss, AnnotationPaused,
	}
}

// CompatV1Alpha1 is the value of AnnotationCompat on an object that was created as v1alpha1.
const CompatV1Alpha1 = "v1alpha1"

// Paused reports whether the annotations pause a stack.
func Paused(annotations map[string]string) bool {
	return annotations[AnnotationPaused] == "true"
}

// AllowsNamespace reports whether the annotations of a ConfigMap allow stacks in another namespace to read it.
func AllowsNamespace(annotations map[string]string, namespace string) bool {
	for allowed := range strings.SplitSeq(annotations[AnnotationAllowNamespaces], ",") {
		if allowed = strings.TrimSpace(allowed); allowed == "*" || (allowed == namespace && namespace != "") {
			return true
		}
	}
	return false
}

// ServerContainer returns the name of the server's container in a stack with these annotations.
func ServerContainer(annotations map[string]string) string {
	if name := annotations[AnnotationContainerName]; name != "" {
		return name
	}
	return Container
}

const (
	// Container is the name of the server's container, unless AnnotationContainerName sets a different name.
	Container = "llama-stack"
	// DirectoryContainer is the name of the init container that creates the directories that the server does not create.
	DirectoryContainer = "make-directories"
	// RegistryContainer is the name of the init container that reconciles the server's registry with the configuration.
	RegistryContainer = "reconcile-registry"
	// StartupVolume is the name of the volume with the programs that run before the server starts.
	StartupVolume = "lls-startup"
	// StartupDir is the mount path of that volume.
	StartupDir = "/etc/llama-stack-startup"
	// RegistryProgram is the program in StartupDir that reconciles the registry.
	RegistryProgram = "registry.py"
	// DataVolume is the name of the volume with the server's data.
	DataVolume = "lls-storage"
	// ConfigVolume is the name of the volume with the configuration.
	ConfigVolume = "user-config"
	// TLSVolume is the name of the volume with the server's certificate.
	TLSVolume = "lls-tls"
	// CAVolume is the name of the volume with the certificate authorities that the server trusts.
	CAVolume = "ca-bundle"
	// CADir is the mount path of that volume.
	CADir = "/etc/ssl/certs/ca-bundle"
	// CABundleFile is the file in CADir and the key in the ConfigMap.
	CABundleFile = "ca-bundle.crt"
	// TmpVolume is the name of the volume mounted at /tmp.
	TmpVolume = "lls-tmp"
	// PortName is the name of the server's port in the Service and in the container.
	PortName = "http"
	// ConfigDir is the mount path of the configuration.
	ConfigDir = "/etc/llama-stack"
	// ConfigFile is the configuration's file name in ConfigDir.
	ConfigFile = "config.yaml"
	// BaseFile is the key of the base of a generated configuration. It is never mounted.
	BaseFile = "base.yaml"
	// OlderConfigFile is the file name of a configuration up to release 0.3. Many ConfigMaps still use it as a key.
	OlderConfigFile = "run.yaml"
	// ConfigPath is the configuration's path in the container.
	ConfigPath = ConfigDir + "/" + ConfigFile
	// TLSDir is the mount path of the server's certificate. It is next to ConfigDir, because no volume can be mounted
	// inside the volume at ConfigDir.
	TLSDir = "/etc/llama-stack-tls"
	// TLSCertificate is the key of the certificate in a Secret of type kubernetes.io/tls, and the name of its file in
	// TLSDir.
	TLSCertificate = "tls.crt"
	// TLSKey is the key of the private key in such a Secret, and the name of its file in TLSDir.
	TLSKey = "tls.key"
	// TLSAuthority is the key of the authorities that signed a certificate, in Secrets that certificate managers create
	// and in ConfigMaps for Gateways.
	TLSAuthority = "ca.crt"
)

const (
	// OperatorNamespace is the namespace in which the shipped manifests install the operator.
	OperatorNamespace = "llama-stack-k8s-operator-system"
	// OperatorServiceAccount is the operator's ServiceAccount in OperatorNamespace.
	OperatorServiceAccount = "llama-stack-k8s-operator-controller-manager"
	// LeaderElectionID is the name of the lease. The predecessor operator uses the same lease, so that the two never
	// act at the same time.
	LeaderElectionID = "54e06e98.llamastack.io"
	// EventReporter is the reporting controller of events.
	EventReporter = "llamastack.io/llama-stack-operator"
	// UserAgent is the prefix of the operator's User-Agent in the API server's audit log.
	UserAgent = "llama-stack-operator"
)

// Predecessors returns the field managers with which earlier operators wrote children. These operators applied fields
// with the name of the stack as the field manager. The other managers have the names of the binary in the shipped image
// and in a local build.
func Predecessors(stack string) []metav1.ManagedFieldsEntry {
	return []metav1.ManagedFieldsEntry{
		{Manager: stack, Operation: metav1.ManagedFieldsOperationApply},
		{Manager: "manager", Operation: metav1.ManagedFieldsOperationUpdate},
		{Manager: "lls-manager", Operation: metav1.ManagedFieldsOperationUpdate},
	}
}

// Labels returns the labels of every child of a stack.
func Labels(stack string) map[string]string {
	return map[string]string{
		LabelManagedBy: ManagedBy,
		LabelPartOf:    PartOf,
		LabelInstance:  stack,
		LabelWatch:     "true",
	}
}

// Selector returns the selector of a stack's pods. It is immutable in a Deployment, so it must never change.
func Selector(stack string) map[string]string {
	return map[string]string{LabelApp: App, LabelInstance: stack}
}

// ChildSelector selects every child of a stack. The cleanup deletes only those that the stack owns.
func ChildSelector(stack string) map[string]string {
	return map[string]string{LabelManagedBy: ManagedBy, LabelInstance: stack}
}

// PreflightLabels returns the labels of a pod in which a change is tested.
func PreflightLabels(stack string) map[string]string {
	labels := Labels(stack)
	labels[LabelApp] = PreflightApp
	return labels
}

// PreflightSelector selects a stack's pods in which a change is tested.
func PreflightSelector(stack string) map[string]string {
	return map[string]string{LabelApp: PreflightApp, LabelInstance: stack}
}

// PreflightGate is the readiness gate of a pod in which a change is tested. Nothing sets its condition, so such a pod
// is never ready, and no Service sends it requests, whatever its labels are.
const PreflightGate = "llamastack.io/preflight"

// ConfigLabels returns the labels of a configuration's ConfigMap: those of Labels, and LabelConfig with the kind of the
// configuration.
func ConfigLabels(stack, kind string) map[string]string {
	labels := Labels(stack)
	labels[LabelConfig] = kind
	return labels
}

const (
	// ConfigKindGenerated marks generated configurations.
	ConfigKindGenerated = "generated"
	// ConfigKindBase marks base configurations in a ConfigMap of their own.
	ConfigKindBase = "base"
)
