package plan

import (
	"encoding/json"
	"fmt"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/intent"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/profile"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/render"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig"
)

// asV1alpha1 reports whether the pods mount the user's ConfigMap and start the server as for v1alpha1 stacks. A server
// with a certificate needs a copy instead, because its configuration must refer to the certificate.
func asV1alpha1(stack *v1alpha2.LlamaStackDistribution) bool {
	return profile.Of(stack.Annotations).MountsConfigMap && stack.Spec.OverrideConfig != nil &&
		render.TLSSecret(&stack.Spec) == ""
}

// overrideAsV1alpha1 mounts the user's whole ConfigMap with a file for every key, because users' commands may read the
// directory. Pods cannot mount a ConfigMap from another namespace, so overrideAsV1alpha1 copies the configuration from
// such a ConfigMap. For a stack with external providers, it also mounts a copy (see copiedAsV1alpha1).
func (p *Plan) overrideAsV1alpha1(in Input) error {
	ownCommand := intent.OwnCommand(&in.Object.Spec)
	p.ServesTLS = ownCommand && stackconfig.ServesTLS(in.Override.Data)
	p.input.Launcher = !ownCommand
	if in.Override.Key == names.OlderConfigFile && !ownCommand {
		p.warn("spec.overrideConfig.configMapName", "ConfigMap %q has no key %q, so the server reads the key %q: rename the key %[3]q to %[2]q",
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

// BaseOptional reports whether a stack can run without a base. This is the case for a v1alpha1 stack that needs a
// generated configuration only for the number of workers. Without a base, it uses the image's own configuration.
func BaseOptional(stack *v1alpha2.LlamaStackDistribution) bool { return workersOnly(stack) }

// workersOnly reports whether a v1alpha1 stack has a spec that configures only the number of workers.
func workersOnly(stack *v1alpha2.LlamaStackDistribution) bool {
	spec := &stack.Spec
	return profile.Of(stack.Annotations).WorkersNeedNoBase && spec.OverrideConfig == nil && !configured(spec) &&
		render.TLSSecret(spec) == ""
}

// workersIgnored returns a warning that the number of workers in the spec has no effect. The parameter why is the
// reason.
func workersIgnored(in Input, why string) stackconfig.Finding {
	return stackconfig.Finding{
		Path: "spec.workload.workers", Ignored: true, Message: fmt.Sprintf("%d: %s", render.Workers(&in.Object.Spec), why),
	}
}
