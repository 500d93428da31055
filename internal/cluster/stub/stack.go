package stub

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"maps"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha1"
	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/plan"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/validate"
)

const (
	// maxSpec is the maximum size in memory, in bytes, of a spec that a cache holds whole. It is less than the children of
	// a stack need, so that the number of stacks, which a quota limits, determines the size of the cache.
	maxSpec = 16 << 10
	// maxAccepted is the maximum size, in bytes, of the kept list of accepted losses. A longer list accepts nothing. The
	// other annotations that the operator reads are names.
	maxAccepted = 16 << 10
	// maxProblem is the maximum size, in bytes, of the kept mark of a spec that cannot be read.
	maxProblem = 4 << 10
	// maxDistribution is the maximum size, in bytes, of each kept text of a distribution. Longer ones are invalid, but the
	// schema of v1alpha1 has no limit for them.
	maxDistribution = 1 << 10
	// maxOtherWrites is the maximum number of kept managed fields.
	maxOtherWrites = 16

	// touched is the annotation of a cached stack that changes with every label and annotation of the stored stack. The
	// API server rejects a key with a space, so no stored object has it.
	touched = "digest of the metadata"
	// outlined is the annotation of a cached stack that has only an outline of its spec.
	outlined = "outline of the spec"
)

// ReduceStack is the transform function of the cache for stacks. It keeps the parts that the operator uses (see
// StripStack), and only an outline of a long spec: what the operator compares between stacks, which is the
// distribution, the host name, and whether there are network settings.
func ReduceStack(object any) (any, error) {
	stack, ok := object.(*v1alpha2.LlamaStackDistribution)
	if !ok {
		return cache.TransformStripManagedFields()(object)
	}
	if stack.Annotations[touched] != "" {
		return object, nil // the object was transformed before
	}
	validate.OmitLargeSpec(stack)
	err := stripStack(stack)
	if err == nil && Exceeds(&stack.Spec, maxSpec) {
		stack.Annotations[outlined] = "true"
		stack.Spec, err = Outline(&stack.Spec)
	}
	return stack, err
}

// Outline returns the outline of a spec, which is what the operator compares between stacks. All its parts are short.
func Outline(spec *v1alpha2.LlamaStackDistributionSpec) (v1alpha2.LlamaStackDistributionSpec, error) {
	kept := v1alpha2.LlamaStackDistributionSpec{Distribution: *spec.Distribution.DeepCopy()}
	for _, text := range []*string{&kept.Distribution.Name, &kept.Distribution.Image, &kept.Distribution.Version} {
		*text = Short(*text, maxDistribution)
	}
	if spec.Networking == nil {
		return kept, nil
	}
	kept.Networking = &v1alpha2.NetworkingSpec{}
	exposed := plan.Expose(spec)
	if exposed == nil || len(exposed.Hostname) > validation.DNS1123SubdomainMaxLength {
		return kept, nil
	}
	text := []byte("true")
	if exposed.Hostname != "" {
		var err error
		if text, err = json.Marshal(map[string]string{"hostname": exposed.Hostname}); err != nil {
			return kept, fmt.Errorf("outline the exposure: %w", err)
		}
	}
	kept.Networking.Expose = &v1alpha2.Expose{Raw: text}
	return kept, nil
}

// Stack reads a stack with its whole spec, in a version that is at least as new as the cached one.
func (r Reader) Stack(ctx context.Context, key client.ObjectKey, stack *v1alpha2.LlamaStackDistribution) error {
	if err := r.Reader.Get(ctx, key, stack); err != nil || stack.Annotations[outlined] == "" {
		return err
	}
	stored := &v1alpha2.LlamaStackDistribution{}
	atLeast := &client.GetOptions{Raw: &metav1.GetOptions{ResourceVersion: stack.ResourceVersion}}
	if err := r.Direct.Get(ctx, key, stored, atLeast); err != nil {
		return err
	}
	err := stripStack(stored)
	if err == nil {
		*stack = *stored
	}
	return err
}

// stripStack keeps the parts of stacks that the operator uses. It drops all labels, finalizers and owners, and the
// annotations of other programs. It keeps managed fields only if an operator for v1alpha1 wrote the status.
func stripStack(stack *v1alpha2.LlamaStackDistribution) error {
	var kept metav1.ObjectMeta
	Identity(&kept, stack)
	kept.Labels, kept.OwnerReferences = nil, nil
	kept.Annotations = Only(stack.Annotations, validation.DNS1123SubdomainMaxLength,
		append(names.StackAnnotations(), validate.AnnotationOmittedSpec)...)
	if kept.Annotations == nil {
		kept.Annotations = map[string]string{}
	}
	if accepted := stack.Annotations[names.AnnotationAcceptDataLoss]; accepted != "" && len(accepted) <= maxAccepted {
		kept.Annotations[names.AnnotationAcceptDataLoss] = accepted
	}
	// The operator must not apply a spec from which values were removed, so this mark is never dropped.
	if problem, isUnreadable := stack.Annotations[names.UnreadableSpec]; isUnreadable {
		kept.Annotations[names.UnreadableSpec] = Short(problem, maxProblem)
	}
	var err error
	kept.Annotations[touched], err = digestOfMetadata(stack)
	kept.ManagedFields = OtherStatusWrites(stack.ManagedFields)
	stack.ObjectMeta = kept
	return err
}

// digestOfMetadata returns a digest of the labels and annotations of a stack, without the copy of the last applied
// manifest. Users change any of them to have the stack reconciled again.
func digestOfMetadata(stack *v1alpha2.LlamaStackDistribution) (string, error) {
	all := maps.Clone(stack.Annotations)
	delete(all, corev1.LastAppliedConfigAnnotation)
	text, err := json.Marshal([]map[string]string{all, stack.Labels})
	if err != nil {
		return "", fmt.Errorf("digest the metadata of stack %q: %w", stack.Name, err)
	}
	return fmt.Sprintf("%x", sha256.Sum256(text)), nil
}

// Short returns the beginning of a text, in a copy so that the rest of the text can be freed.
func Short(text string, most int) string {
	if len(text) <= most {
		return text
	}
	return strings.Clone(strings.ToValidUTF8(text[:most], ""))
}

// OtherStatusWrites returns the managed fields of a stack that show when another operator wrote its status. Only
// operators for v1alpha1 write a status in that version. A returned entry keeps none of its fields except
// status.version.lastUpdated. The time of an entry changes only when its fields change, and status.version.lastUpdated
// changes with each write. OtherStatusWrites returns at most maxOtherWrites entries, because anyone who may write a
// stack can add entries.
func OtherStatusWrites(entries []metav1.ManagedFieldsEntry) []metav1.ManagedFieldsEntry {
	var writes []metav1.ManagedFieldsEntry
	for _, entry := range entries {
		if len(writes) < maxOtherWrites && entry.Subresource == "status" &&
			entry.APIVersion == v1alpha1.GroupVersion.String() && entry.Manager != names.FieldManager {
			entry.FieldsV1 = ownsLastUpdated(entry.FieldsV1)
			writes = append(writes, entry)
		}
	}
	return writes
}

// ownsLastUpdated returns only the field status.version.lastUpdated if the fields contain it, and nil otherwise.
func ownsLastUpdated(fields *metav1.FieldsV1) *metav1.FieldsV1 {
	if fields == nil || !strings.Contains(fields.GetRawString(), `"f:lastUpdated"`) {
		return nil
	}
	return metav1.NewFieldsV1(`{"f:status":{"f:version":{"f:lastUpdated":{}}}}`)
}
