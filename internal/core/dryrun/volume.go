package dryrun

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/volume"
	"github.com/llamastack/llama-stack-k8s-operator/internal/migrate/convert"
)

// Volume adds the errors and warnings about a change to the volume of a stack. A nil claim means that the
// PersistentVolumeClaim is not known.
func (o *Outcome) Volume(before, after Stack, claim *corev1.PersistentVolumeClaim) {
	if !before.Decoded || !after.Decoded {
		return
	}
	var found Outcome
	found.Errors, found.Warnings = volume.Change(before.Object, after.Object, claim)
	if after.Older {
		found.rename(convert.OlderPaths)
	}
	o.Errors = append(o.Errors, found.Errors...)
	o.Warnings = append(o.Warnings, found.Warnings...)
}
