package plan

import (
	"encoding/json"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/intent"
	"github.com/llamastack/llama-stack-k8s-operator/internal/names"
	"github.com/llamastack/llama-stack-k8s-operator/internal/render"
	"github.com/llamastack/llama-stack-k8s-operator/internal/rollout"
	"github.com/llamastack/llama-stack-k8s-operator/internal/stackconfig"
)

// asV1alpha1 reports whether the user's ConfigMap is mounted and the server started as stacks of v1alpha1 know it. Only a
// certificate has to stand in the file itself, and be read by the image's entrypoint.
func asV1alpha1(stack *v1alpha2.LlamaStackDistribution) bool {
	return names.Compat(stack.Annotations) && stack.Spec.OverrideConfig != nil && render.TLSSecret(&stack.Spec) == ""
}

// overrideAsV1alpha1 mounts the user's ConfigMap whole, every key a file: users' own commands know the directory. Of one in
// another namespace the configuration is copied, which no command could know.
func (p *Plan) overrideAsV1alpha1(in Input) error {
	ownCommand := intent.OwnCommand(&in.Object.Spec)
	p.ServesTLS = ownCommand && stackconfig.ServesTLS(in.Override.Data)
	p.input.Launcher = !ownCommand
	if in.Override.Key == names.OlderConfigFile && !ownCommand {
		p.warn("spec.overrideConfig.configMapName", "ConfigMap %q has no key %q, so the server starts on its key %q: rename it",
			in.Override.ConfigMapName, names.ConfigFile, names.OlderConfigFile)
	}
	if len(in.Intent.External) > 0 {
		return p.copiedAsV1alpha1(in)
	}
	if in.Override.Namespace != "" {
		p.mount(in, in.Override.Data, hash(in.Override.Data))
		return nil
	}
	files, err := json.Marshal(in.Override.Files)
	if err != nil {
		return fmt.Errorf("digest ConfigMap %q: %w", in.Override.ConfigMapName, err)
	}
	p.ConfigHash, p.ConfigMapName = hash(files), in.Override.ConfigMapName
	p.input.Config = &render.Config{
		ConfigMapName: p.ConfigMapName, Key: in.Override.Key, Hash: p.ConfigHash, Whole: true,
	}
	return nil
}

// BaseOptional reports whether a stack goes without a base where there is none: nothing but the number of workers asks for a
// generated configuration, and the stack is one of v1alpha1, which runs the image's own then, as ever.
func BaseOptional(stack *v1alpha2.LlamaStackDistribution) bool { return workersOnly(stack) }

// workersOnly reports whether a stack is one of v1alpha1 of whose configuration nothing but the number of workers is asked.
func workersOnly(stack *v1alpha2.LlamaStackDistribution) bool {
	spec := &stack.Spec
	return names.Compat(stack.Annotations) && spec.OverrideConfig == nil && !configured(spec) && render.TLSSecret(spec) == ""
}

// workersIgnored tells that the number of workers has no effect, and why.
func workersIgnored(in Input, why string) stackconfig.Finding {
	return stackconfig.Finding{
		Path: "spec.workload.workers", Ignored: true, Message: fmt.Sprintf("%d: %s", render.Workers(&in.Object.Spec), why),
	}
}

// KeepsGroup reports whether what runs was given the fsGroup by an operator that gave it on OpenShift too, and bound the
// pods to a constraint that takes it. It is told by a template that was never rendered here, and after that by the record.
// live is nil when there is no Deployment.
func KeepsGroup(live *appsv1.Deployment, record *rollout.Record) bool {
	return record.KeepsGroup || (live != nil && record.Template == "" && render.HasDataGroup(&live.Spec.Template.Spec))
}
