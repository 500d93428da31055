package plan

import (
	"fmt"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/intent"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/profile"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/render"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/retention"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/rollout"
)

// inputs returns the inputs of the pod template. If a renderer of the pod read an input that this function does not
// return, a change to that input would not replace the pods. A test compares the renderers with these inputs.
func (p *Plan) inputs(in Input) rollout.Inputs {
	spec := &in.Object.Spec
	inputs := rollout.Inputs{
		Image:      image(in),
		Release:    in.Distribution.Release.Line,
		Port:       render.Port(spec),
		Workers:    render.Workers(spec),
		MountPath:  render.MountPath(spec),
		TLSSecret:  render.TLSSecret(spec),
		ConfigHash: p.ConfigHash,
		Compat:     in.Object.Annotations[names.AnnotationCompat],
		Container:  in.Object.Annotations[names.AnnotationContainerName],
		External:   p.externalInputs(),
		Offline:    spec.Offline,
		ModelFiles: spec.ModelFiles,
	}
	if bundle := p.input.CABundle; bundle != nil {
		inputs.CABundle = bundle.Hash
	}
	if config := p.input.Config; config != nil {
		inputs.ConfigMap, inputs.ConfigKey = config.ConfigMapName, config.Key
	}
	if workload := spec.Workload; workload != nil {
		inputs.Claim = workload.Storage != nil
		inputs.Resources = workload.Resources
		inputs.Overrides = workload.Overrides
		inputs.Spread = workload.TopologySpreadConstraints
	}
	for _, variable := range p.Env {
		value := "=" + variable.Value
		if variable.SecretName != "" {
			value = "@" + variable.SecretName + "/" + variable.SecretKey
		}
		inputs.Variables = append(inputs.Variables, variable.Name+value)
	}
	return inputs
}

// elsewhere returns the ConfigMaps in other namespaces that contain the pods' configuration or certificates.
func elsewhere(in Input) []string {
	var ids []string
	if in.Override != nil && in.Override.Namespace != "" {
		ids = append(ids, intent.OverrideUse(in.Object).ID())
	}
	if in.Trust.Elsewhere != "" {
		ids = append(ids, in.Trust.Elsewhere)
	}
	return ids
}

// record returns the record of this rendering.
func (p *Plan) record(in Input) (rollout.Record, error) {
	external, err := recordExternal(in)
	if err != nil {
		return rollout.Record{}, err
	}
	spec, source := &in.Object.Spec, ""
	if p.BaseConfigMapName != "" {
		source = string(p.ConfigSource)
	}
	var autoscaled rollout.Autoscaled
	if render.Autoscaled(spec) {
		autoscaled.Spec = render.Replicas(spec)
	}
	return rollout.Record{
		UID:          in.Object.UID,
		Generation:   in.Object.Generation,
		Inputs:       p.input.Inputs,
		ReferenceKey: in.References.Key,
		ConfigHash:   p.ConfigHash,
		Image:        image(in),
		Distribution: rollout.Distribution{
			Name:           spec.Distribution.Name,
			Version:        spec.Distribution.Version,
			CatalogueImage: in.CatalogueImage,
			Image:          in.Distribution.Image,
			Digest:         in.Digest,
			Release:        in.Distribution.Release.Line,
			Label:          in.Distribution.Label,
			Entrypoint:     recordedEntrypoint(in),
		},
		Limited:         limited(in),
		Base:            p.base,
		BaseConfigMap:   p.BaseConfigMapName,
		BaseSource:      source,
		Autoscaled:      autoscaled,
		OperatorVersion: in.OperatorVersion,
		Places:          p.Places,
		Left:            left(p.Losses),
		StorageSecret:   p.storageSecret(),
		Elsewhere:       elsewhere(in),
		KeepsGroup:      in.OpenShift && in.Running.KeepsGroup() && profile.Of(in.Object.Annotations).UserOfImage,
		External:        external,
	}, nil
}

// storageSecret returns the entry of the record for the Secret with derived values, or nil if the plan has no derived
// values.
func (p *Plan) storageSecret() *rollout.StorageSecret {
	if len(p.Derived) == 0 {
		return nil
	}
	return p.secret
}

// maxLeft is the maximum number of losses in a record, which is stored in an annotation.
const maxLeft = 8

// left returns the losses to store in the record, or nil if there are none.
func left(losses []retention.Loss) []string {
	var messages []string
	for i, loss := range losses {
		if i == maxLeft {
			return append(messages, fmt.Sprintf("%d more", len(losses)-maxLeft))
		}
		messages = append(messages, loss.String())
	}
	return messages
}
