package plan

import (
	"encoding/json"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/render"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/rollout"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/startup"
)

// registry returns the settings with which pods update the registry to match a generated configuration. Pods with the
// user's or the image's configuration do not change the registry, because the resources in that configuration are
// unknown.
func registry(in Input, found *stackconfig.Registry) *render.Registry {
	if found == nil {
		return nil
	}
	return &render.Registry{Namespace: found.Namespace, Start: in.Distribution.Entrypoint, Files: startup.Files()}
}

// recordedEntrypoint returns the image's entrypoint for the record. It returns an empty string if the pods do not run
// the image by its digest, or if the entrypoint is unknown.
func recordedEntrypoint(in Input) string {
	if in.Digest == "" || len(in.Distribution.Entrypoint) == 0 {
		return ""
	}
	text, err := json.Marshal(in.Distribution.Entrypoint)
	if err != nil { // a list of strings can always be encoded
		return ""
	}
	return string(text)
}

// RecordedEntrypoint returns the entrypoint in a record, or nil if the record has no entrypoint.
func RecordedEntrypoint(recorded rollout.Distribution) []string {
	var entrypoint []string
	if err := json.Unmarshal([]byte(recorded.Entrypoint), &entrypoint); err != nil {
		return nil // a damaged entrypoint counts as missing
	}
	return entrypoint
}
