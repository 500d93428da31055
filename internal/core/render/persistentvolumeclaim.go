package render

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
)

// persistentVolumeClaim returns the claim for the server's data. With retainOnDelete, it has no owner, so Kubernetes
// keeps it when the stack is deleted.
func persistentVolumeClaim(in Input) (*corev1ac.PersistentVolumeClaimApplyConfiguration, error) {
	storage := workload(&in.Stack.Spec).Storage
	if storage == nil {
		return nil, nil
	}
	spec := corev1ac.PersistentVolumeClaimSpec().
		WithAccessModes(accessModes(storage)...).
		WithResources(corev1ac.VolumeResourceRequirements().
			WithRequests(corev1.ResourceList{corev1.ResourceStorage: storageSize(storage)}))
	if storage.StorageClassName != nil {
		spec.WithStorageClassName(*storage.StorageClassName)
	}
	claim := corev1ac.PersistentVolumeClaim(names.PersistentVolumeClaim(in.Stack.Name), in.Stack.Namespace).
		WithLabels(names.Labels(in.Stack.Name)).
		WithSpec(spec)
	if in.Server.Release != "" {
		claim.WithAnnotations(map[string]string{names.AnnotationRelease: in.Server.Release})
	}
	if !storage.RetainOnDelete {
		claim.WithOwnerReferences(owner(in.Stack)...)
	}
	return claim, nil
}

func accessModes(storage *v1alpha2.VolumeSpec) []corev1.PersistentVolumeAccessMode {
	if len(storage.AccessModes) == 0 {
		return []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce}
	}
	return storage.AccessModes
}

func storageSize(storage *v1alpha2.VolumeSpec) resource.Quantity {
	if storage.Size == nil {
		return resource.MustParse(v1alpha2.DefaultStorageSize)
	}
	return *storage.Size
}

// ExclusiveVolume reports whether the stack has a volume that only the pods of one node can mount.
func ExclusiveVolume(spec *v1alpha2.LlamaStackDistributionSpec) bool {
	storage := workload(spec).Storage
	return storage != nil && exclusive(accessModes(storage))
}

// exclusive reports whether the given access modes prevent pods on different nodes from using the volume at the same
// time. If so, the old pod must stop before the new pod starts.
func exclusive(modes []corev1.PersistentVolumeAccessMode) bool {
	return !slices.Contains(modes, corev1.ReadWriteMany)
}
