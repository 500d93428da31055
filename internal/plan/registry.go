package plan

import (
	"encoding/json"

	"github.com/llamastack/llama-stack-k8s-operator/internal/render"
	"github.com/llamastack/llama-stack-k8s-operator/internal/rollout"
	"github.com/llamastack/llama-stack-k8s-operator/internal/stackconfig"
	"github.com/llamastack/llama-stack-k8s-operator/internal/startup"
)

// registry says how the pods bring the registry of a generated configuration in line. The user's own configuration, and
// the image's, are left as they are: nobody told the operator what they declare.
func registry(in Input, found *stackconfig.Registry) *render.Registry {
	if found == nil {
		return nil
	}
	return &render.Registry{
		Earlier: found.Earlier, Namespace: found.Namespace, Start: in.Distribution.Entrypoint, Files: startup.Files(),
	}
}

// recordedEntrypoint is the image's entrypoint for the record, where it was read with the base. That of the catalogue's
// images is always known.
func recordedEntrypoint(in Input) string {
	if in.Digest == "" || len(in.Distribution.Entrypoint) == 0 {
		return ""
	}
	text, err := json.Marshal(in.Distribution.Entrypoint)
	if err != nil { // a list of strings has a JSON form
		return ""
	}
	return string(text)
}

// RecordedEntrypoint is the entrypoint that a record remembers; nil when it remembers none.
func RecordedEntrypoint(recorded rollout.Distribution) []string {
	var entrypoint []string
	if err := json.Unmarshal([]byte(recorded.Entrypoint), &entrypoint); err != nil {
		return nil // a damaged record is as good as none
	}
	return entrypoint
}
