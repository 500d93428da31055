package rollout

import (
	"encoding/json"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	appsv1ac "k8s.io/client-go/applyconfigurations/apps/v1"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"

	"github.com/llamastack/llama-stack-k8s-operator/internal/names"
	"github.com/llamastack/llama-stack-k8s-operator/internal/retention"
)

// Record says what was rendered last. It is kept on the Deployment, in the annotation names.AnnotationRendered, from
// the first Deployment on.
type Record struct {
	// UID is the stack's. Generations of two stacks say nothing about each other: one restored from a backup starts
	// again at 1.
	UID types.UID `json:"uid,omitempty"`
	// Generation of the stack that was rendered.
	Generation int64 `json:"generation"`
	// Inputs is the digest of what fed the template, see Digest.
	Inputs string `json:"inputs"`
	// TemplateInputs is what the template's annotation says in place of Inputs, where writing Inputs there would
	// restart pods for nothing: the key of the references' digest is another, or a change of the spec changed nothing
	// in the template. Empty: the same as Inputs.
	TemplateInputs string `json:"templateInputs,omitempty"`
	// ReferenceKey names the key of the references' digest in Inputs.
	ReferenceKey string `json:"referenceKey,omitempty"`
	// Template is the digest of the template as it was rendered. Empty: another program wrote the template.
	Template string `json:"template,omitempty"`
	// ConfigHash is the SHA-256 of the configuration, in hex. Empty: the image's own.
	ConfigHash string `json:"configHash,omitempty"`
	// Image that runs.
	Image string `json:"image"`
	// Distribution that the image was chosen by. It stays in force while name and version in the spec are the same.
	Distribution Distribution `json:"distribution"`
	// BaseConfigMap holds the base that the configuration was generated from. It stays the base while Distribution does.
	// Empty: none was needed.
	BaseConfigMap string `json:"baseConfigMap,omitempty"`
	// BaseSource says where that base was found. It stays like the base does.
	BaseSource string `json:"baseSource,omitempty"`
	// OperatorVersion that rendered.
	OperatorVersion string `json:"operatorVersion,omitempty"`
	// Autoscaled is the number of replicas that an autoscaler has or left.
	Autoscaled Autoscaled `json:"autoscaled,omitzero"`
	// Kept is present while the template is left as it is although it would be rendered differently.
	Kept *Kept `json:"kept,omitempty"`
	// Places are where the pods of the template keep their data. Nil: an operator rendered it that did not say, or what
	// it said is damaged.
	Places *retention.Places `json:"places,omitempty"`
	// StorageSecret is the Secret with derived values that the pods of the template read. Nil: they read none, or an operator
	// rendered it that knew one name only.
	StorageSecret *StorageSecret `json:"storageSecret,omitempty"`
	// LeftAsImage reports that the container is as its image has it, because nothing but the image's tag told the release.
	LeftAsImage bool `json:"leftAsImage,omitempty"`
	// Limited are the resources that the stack's workers are limited in as by the operator before this one, sorted.
	Limited []corev1.ResourceName `json:"limited,omitempty"`
	// Left tells the data that the last change of the pods left behind.
	Left []string `json:"left,omitempty"`
	// Elsewhere are the ConfigMaps of other namespaces that were rendered, as namespace/name: while one of them cannot be
	// read, no other takes its place.
	Elsewhere []string `json:"elsewhere,omitempty"`
	// TrustsPlatform says that a platform's certificates are in Inputs beside those of the spec, where there are some.
	TrustsPlatform bool `json:"trustsPlatform,omitempty"`
	// KeepsGroup says that the template has, on OpenShift, the fsGroup that an operator before this one gave it.
	KeepsGroup bool `json:"keepsGroup,omitempty"`
	// External is what was found out about the images of external providers, in the order of their installation. It stays
	// in force while the image of the provider is the same.
	External []External `json:"external,omitempty"`
}

// ByPredecessor is in place of a record while an operator for v1alpha1 was the last to write the template: before this one
// came, or when somebody went back to that operator, and forth again.
const ByPredecessor = "by-predecessor"

// Distribution is how a stack's image was chosen.
type Distribution struct {
	// Name and Version are what the spec asked for.
	Name    string `json:"name,omitempty"`
	Version string `json:"version,omitempty"`
	// CatalogueImage is the operator's image for them, before overrides.
	CatalogueImage string `json:"catalogueImage,omitempty"`
	// Image that was chosen, as it was written: the one that runs names a digest, too, where the image was read.
	Image string `json:"image,omitempty"`
	// Digest of the image when its labels were read for the base. Empty: the base is from elsewhere.
	Digest string `json:"digest,omitempty"`
	// Release is the server release.
	Release string `json:"release,omitempty"`
	// Label is what a label of the image said of the release. Empty: the release was found otherwise.
	Label string `json:"label,omitempty"`
	// Entrypoint is that of the image at Digest, as a JSON list. Empty: it was not read.
	Entrypoint string `json:"entrypoint,omitempty"`
}

// External is what was found out about the image of an external provider: nothing but ID and Image where it could not be
// read, or is not to be read. A stack may have hundreds of them, so that it is short.
type External struct {
	// ID is the provider's.
	ID string `json:"id"`
	// Image tells whether the image is the same: see ExternalImage.
	Image string `json:"image"`
	// Digest of the image when it was read. Empty: it was not read.
	Digest string `json:"digest,omitempty"`
	// API, Type and Module are those of the image's label. Empty: it has none that can be used.
	API    string `json:"api,omitempty"`
	Type   string `json:"type,omitempty"`
	Module string `json:"module,omitempty"`
	// Settings are a digest of the provider's settings, which were held to the schema of the label. Empty: it has none.
	Settings string `json:"settings,omitempty"`
}

// ExternalImage is a digest of an image's name as the spec has it.
func ExternalImage(image string) string { return hash([]byte(image))[:shortLength] }

// ExternalSettings is a digest of the settings of an external provider, with the keys whose values are in Secrets.
func ExternalSettings(config map[string]any, secrets []string) (string, error) {
	data, err := json.Marshal([]any{config, secrets})
	if err != nil {
		return "", fmt.Errorf("digest the settings of an external provider: %w", err)
	}
	return hash(data)[:shortLength], nil
}

// shortLength is how many hex digits those digests have.
const shortLength = 16

// StorageSecret names a Secret with derived values.
type StorageSecret struct {
	// Name is its name.
	Name string `json:"name"`
	// Digest of its content, by the key that ReferenceKey names.
	Digest string `json:"digest"`
}

// Kept describes a template that was left as it is.
type Kept struct {
	// RestartedAt is the template's restart annotation when it was first left. A later restart adopts.
	RestartedAt string `json:"restartedAt,omitempty"`
}

// Encode gives the annotation's value.
func (r Record) Encode() (string, error) {
	data, err := json.Marshal(r)
	if err != nil {
		return "", fmt.Errorf("encode the record of Deployment: %w", err)
	}
	return string(data), nil
}

// Parse reads the record of an object's annotations: a Deployment's, or that of a ReplicaSet, which has the record of
// the Deployment at the time. False: there is none, or it is none of ours.
func Parse(annotations map[string]string) (Record, bool) {
	value, ok := annotations[names.AnnotationRendered]
	if !ok {
		return Record{}, false
	}
	var r Record
	if err := json.Unmarshal([]byte(value), &r); err != nil || r.Inputs == "" {
		return Record{}, false
	}
	if !r.Places.Known() {
		r.Places = nil
	}
	return r, true
}

// templateInputs is what the template's annotation should say.
func (r Record) templateInputs() string {
	if r.TemplateInputs != "" {
		return r.TemplateInputs
	}
	return r.Inputs
}

// TemplateDigest is the digest of a rendered pod template, but for the annotation with the digest of its inputs: two
// templates with one digest run the same pods.
func TemplateDigest(template *corev1ac.PodTemplateSpecApplyConfiguration) (string, error) {
	// Through a map: the order of fields in Kubernetes' types may change with its version.
	fields, err := podFields(template)
	if err != nil {
		return "", fmt.Errorf("digest the pod template: %w", err)
	}
	canonical, err := json.Marshal(fields)
	if err != nil {
		return "", fmt.Errorf("digest the pod template: %w", err)
	}
	return hash(canonical), nil
}

// podFields are the fields of a template but for the digest of the inputs and the stack's generation: neither is seen by
// a pod that runs.
func podFields(template any) (map[string]any, error) {
	fields, err := runtime.DefaultUnstructuredConverter.ToUnstructured(template)
	for _, name := range []string{names.AnnotationInputs, names.AnnotationGeneration} {
		unstructured.RemoveNestedField(fields, "metadata", "annotations", name)
	}
	if annotations, _, _ := unstructured.NestedMap(fields, "metadata", "annotations"); len(annotations) == 0 {
		unstructured.RemoveNestedField(fields, "metadata", "annotations")
	}
	return fields, err
}

// NewRendered completes the record of a rendered Deployment with the digest of its template and writes it into its
// annotations.
func NewRendered(deployment *appsv1ac.DeploymentApplyConfiguration, r Record) (Rendered, error) {
	digest, err := TemplateDigest(deployment.Spec.Template)
	if err != nil {
		return Rendered{}, err
	}
	r.Template = digest
	return Rendered{Deployment: deployment, Record: r}, annotate(deployment, r)
}

// annotate writes the record and the inputs of its template into a Deployment that is not shared.
func annotate(deployment *appsv1ac.DeploymentApplyConfiguration, r Record) error {
	value, err := r.Encode()
	if err != nil {
		return err
	}
	deployment.WithAnnotations(map[string]string{names.AnnotationRendered: value})
	return nil
}
