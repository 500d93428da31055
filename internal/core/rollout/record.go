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

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/retention"
)

// Record describes the last rendering. The annotation names.AnnotationRendered of a Deployment contains either the
// Record or ByPredecessor.
type Record struct {
	// UID is the UID of the stack. Generations of different UIDs cannot be compared, because a stack that is restored from
	// a backup starts again at generation 1.
	UID types.UID `json:"uid,omitempty"`
	// Generation is the rendered generation of the stack.
	Generation int64 `json:"generation"`
	// Inputs is the digest of the template's inputs (see Digest).
	Inputs string `json:"inputs"`
	// TemplateInputs is the value of the template's annotation if it differs from Inputs. They differ if writing Inputs to
	// the annotation would restart pods unnecessarily. This is the case when the key of the references' digest has
	// changed, or when a change to the spec does not change the template. Empty means the same value as Inputs.
	TemplateInputs string `json:"templateInputs,omitempty"`
	// ReferenceKey names the key of the references' digest in Inputs.
	ReferenceKey string `json:"referenceKey,omitempty"`
	// Template is the digest of the template as it was rendered. Empty means that another program wrote the template.
	Template string `json:"template,omitempty"`
	// Start is the digest of the parts of this template that can prevent the server from starting (see StartsAlike).
	Start string `json:"start,omitempty"`
	// ConfigHash is the SHA-256 of the configuration, in hex. Empty means the image's own configuration.
	ConfigHash string `json:"configHash,omitempty"`
	// Image is the running image.
	Image string `json:"image"`
	// Distribution describes the choice of the image. It remains in force while the name and version in the spec do not
	// change.
	Distribution Distribution `json:"distribution"`
	// Base is the SHA-256 of the base of the configuration, in hex. Empty means that there is no base. BaseConfigMap is
	// the name of the operator's ConfigMap with this base. It remains in force while Distribution does not change. Empty
	// means that there is no such ConfigMap.
	Base          string `json:"base,omitempty"`
	BaseConfigMap string `json:"baseConfigMap,omitempty"`
	// BaseSource is the source of that base. It remains in force for as long as BaseConfigMap does.
	BaseSource string `json:"baseSource,omitempty"`
	// OperatorVersion is the version of the operator that rendered the Deployment.
	OperatorVersion string `json:"operatorVersion,omitempty"`
	// Autoscaled describes the number of replicas that an autoscaler set.
	Autoscaled Autoscaled `json:"autoscaled,omitzero"`
	// Kept is set while the live template is kept although the rendered template differs from it.
	Kept *Kept `json:"kept,omitempty"`
	// Places describes where the pods of the template store their data. Nil means that another program wrote the template,
	// or that the value is damaged.
	Places *retention.Places `json:"places,omitempty"`
	// StorageSecret is the Secret with derived values that the pods of the template read. Derived values are parts of
	// values in other Secrets, such as the host in a connection string (package secretvalue). Nil means that the pods do
	// not read such a Secret.
	StorageSecret *StorageSecret `json:"storageSecret,omitempty"`
	// Limited is the sorted list of the resources for which the stack's workers keep the limits that an earlier operator
	// set.
	Limited []corev1.ResourceName `json:"limited,omitempty"`
	// Left describes the data that the last change to the pods left behind.
	Left []string `json:"left,omitempty"`
	// Elsewhere lists the ConfigMaps in other namespaces that contain the pods' configuration or certificates, as
	// namespace/name. While one of them cannot be read, no other ConfigMap replaces it.
	Elsewhere []string `json:"elsewhere,omitempty"`
	// KeepsGroup reports whether, on OpenShift, the template has the fsGroup that an earlier operator set.
	KeepsGroup bool `json:"keepsGroup,omitempty"`
	// External holds the metadata of the images of external providers, in installation order. An entry remains in force
	// while the provider's image does not change.
	External []External `json:"external,omitempty"`
	// Applied holds a digest (see apply.Digest) of each ConfigMap that was applied before the Deployment, by name. An
	// operator that starts does not read a ConfigMap whose digest is the same.
	Applied map[string]string `json:"applied,omitempty"`
}

// ByPredecessor takes the place of a Record if an operator for v1alpha1 was the last to write the template. This
// operator writes ByPredecessor when it takes over the Deployment: after the first installation of this operator, or
// after a user goes back to the earlier operator and then installs this one again.
const ByPredecessor = "by-predecessor"

// Distribution describes how the operator chose a stack's image.
type Distribution struct {
	// Name and Version are the name and the version in the spec.
	Name    string `json:"name,omitempty"`
	Version string `json:"version,omitempty"`
	// CatalogueImage is the catalog's image for this name and version, before overrides.
	CatalogueImage string `json:"catalogueImage,omitempty"`
	// Image is the chosen image, as the spec, the catalog or the override contains it. If the operator read the image,
	// the running image also has a digest.
	Image string `json:"image,omitempty"`
	// Digest is the digest of the image at the time when the operator read its labels for the base. Empty means that the
	// base has another source.
	Digest string `json:"digest,omitempty"`
	// Release is the server release.
	Release string `json:"release,omitempty"`
	// Label is the release in a label of the image. Empty means that the operator found the release in another way.
	Label string `json:"label,omitempty"`
	// Entrypoint is the entrypoint of the image at Digest, as a JSON list. Empty means that the operator did not read it.
	Entrypoint string `json:"entrypoint,omitempty"`
}

// External holds the metadata of an external provider's image. If the image could not or must not be read, only ID and
// Image are set. External is compact because a stack can have hundreds of external providers.
type External struct {
	// ID is the provider's ID.
	ID string `json:"id"`
	// Image identifies the image (see ExternalImage).
	Image string `json:"image"`
	// Digest is the digest of the image at the time when the operator read it. Empty means that the operator did not read
	// the image.
	Digest string `json:"digest,omitempty"`
	// API, Type and Module come from the image's label. Empty means that the image has no usable label.
	API    string `json:"api,omitempty"`
	Type   string `json:"type,omitempty"`
	Module string `json:"module,omitempty"`
	// Settings is a digest of the provider's settings that were validated with the schema in the label. Empty means that
	// the label has no schema.
	Settings string `json:"settings,omitempty"`
}

// ExternalImage returns a digest of an image's name in the spec.
func ExternalImage(image string) string { return hash([]byte(image))[:shortLength] }

// ExternalSettings returns a digest of the settings of an external provider, and of the keys whose values are in
// Secrets.
func ExternalSettings(config map[string]any, secrets []string) (string, error) {
	data, err := json.Marshal([]any{config, secrets})
	if err != nil {
		return "", fmt.Errorf("compute the digest of the settings of an external provider: %w", err)
	}
	return hash(data)[:shortLength], nil
}

// shortLength is the number of hex digits in the digests of external providers.
const shortLength = 16

// StorageSecret identifies a Secret with derived values.
type StorageSecret struct {
	// Name is the name of the Secret.
	Name string `json:"name"`
	// Digest is the digest of its data, with the key that ReferenceKey names.
	Digest string `json:"digest"`
}

// Kept describes a live template that is kept although the rendered template differs from it.
type Kept struct {
	// RestartedAt is the restart annotation of the template at the time when Kept was first set. A later restart applies
	// the rendered template.
	RestartedAt string `json:"restartedAt,omitempty"`
}

// Encode returns the annotation's value.
func (r Record) Encode() (string, error) {
	data, err := json.Marshal(r)
	if err != nil {
		return "", fmt.Errorf("encode the record of the Deployment: %w", err)
	}
	return string(data), nil
}

// Parse reads the record from the annotations of a Deployment, or of a ReplicaSet, which has the Deployment's record
// from the time of the ReplicaSet's rollout. It returns false if there is no record, or if the value is not a valid
// record.
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

// templateInputs returns the expected value of the template's annotation.
func (r Record) templateInputs() string {
	if r.TemplateInputs != "" {
		return r.TemplateInputs
	}
	return r.Inputs
}

// TemplateDigest returns the digest of a rendered pod template without the annotations that do not affect a running
// pod. Two templates with the same digest result in the same pods.
func TemplateDigest(template *corev1ac.PodTemplateSpecApplyConfiguration) (string, error) {
	return templateDigest(template, func(map[string]any) {})
}

// templateDigest returns the digest of a rendered pod template after the function drop has removed fields. The digest
// is independent of the field order in Kubernetes' types, which may change with their version.
func templateDigest(
	template *corev1ac.PodTemplateSpecApplyConfiguration, drop func(fields map[string]any),
) (string, error) {
	fields, err := podFields(template)
	if err != nil {
		return "", fmt.Errorf("compute the digest of the pod template: %w", err)
	}
	drop(fields)
	canonical, err := json.Marshal(fields)
	if err != nil {
		return "", fmt.Errorf("compute the digest of the pod template: %w", err)
	}
	return hash(canonical), nil
}

// podFields returns the fields of a template without the digest of the inputs and the stack's generation, which do not
// affect a running pod.
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

// NewRendered adds the digests of a rendered Deployment's template to the record, and writes the record into the
// Deployment's annotations.
func NewRendered(deployment *appsv1ac.DeploymentApplyConfiguration, r Record) (Rendered, error) {
	digest, err := TemplateDigest(deployment.Spec.Template)
	if err != nil {
		return Rendered{}, err
	}
	if r.Start, err = startDigest(deployment.Spec.Template); err != nil {
		return Rendered{}, err
	}
	r.Template = digest
	return Rendered{Deployment: deployment, Record: r}, annotate(deployment, r)
}

// annotate writes the record into the annotations of a Deployment. No other goroutine may use the Deployment.
func annotate(deployment *appsv1ac.DeploymentApplyConfiguration, r Record) error {
	value, err := r.Encode()
	if err != nil {
		return err
	}
	deployment.WithAnnotations(map[string]string{names.AnnotationRendered: value})
	return nil
}
