package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/sig-storage-lib-external-provisioner/v13/controller"
)

// folders provides volumes that are directories of one node.
type folders struct{ node, root string }

// Provision creates the directory of a claim. The volume has the type "local" and not "hostPath", because the kubelet
// applies fsGroup to a local volume as it does to other persistent storage.
func (f folders) Provision(_ context.Context, o controller.ProvisionOptions) (*corev1.PersistentVolume, controller.ProvisioningState, error) {
	path := filepath.Join(f.root, o.PVName)
	if err := os.MkdirAll(path, 0o755); err != nil { //nolint:gosec // the users of the pods must be able to access it; fsGroup sets the other permissions
		return nil, controller.ProvisioningFinished, fmt.Errorf("making the folder of volume %q: %w", o.PVName, err)
	}
	return &corev1.PersistentVolume{
		ObjectMeta: metav1.ObjectMeta{Name: o.PVName},
		Spec: corev1.PersistentVolumeSpec{
			PersistentVolumeReclaimPolicy: *o.StorageClass.ReclaimPolicy,
			AccessModes:                   o.PVC.Spec.AccessModes,
			Capacity:                      corev1.ResourceList{corev1.ResourceStorage: o.PVC.Spec.Resources.Requests[corev1.ResourceStorage]},
			PersistentVolumeSource:        corev1.PersistentVolumeSource{Local: &corev1.LocalVolumeSource{Path: path}},
			NodeAffinity:                  f.affinity(),
		},
	}, controller.ProvisioningFinished, nil
}

// affinity returns the node affinity of a volume that exists only on this node.
func (f folders) affinity() *corev1.VolumeNodeAffinity {
	here := corev1.NodeSelectorRequirement{Key: corev1.LabelHostname, Operator: corev1.NodeSelectorOpIn, Values: []string{f.node}}
	return &corev1.VolumeNodeAffinity{Required: &corev1.NodeSelector{
		NodeSelectorTerms: []corev1.NodeSelectorTerm{{MatchExpressions: []corev1.NodeSelectorRequirement{here}}},
	}}
}

// Delete removes the directory of a released volume.
func (f folders) Delete(_ context.Context, volume *corev1.PersistentVolume) error {
	if err := os.RemoveAll(filepath.Join(f.root, volume.Name)); err != nil {
		return fmt.Errorf("removing the folder of volume %q: %w", volume.Name, err)
	}
	return nil
}
