package plan

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/bounds"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/distribution"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/intent"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/render"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/release"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/startup"
)

// renderInput returns the part of the renderers' input that does not depend on the plan's configuration.
func renderInput(in Input) render.Input {
	result := render.Input{
		CABundle:  in.Trust.bundle(),
		Expose:    Expose(&in.Object.Spec),
		Stack:     withLimits(in),
		Image:     image(in),
		Server:    server(in),
		Offline:   offlineVariables(in),
		OpenShift: in.OpenShift,
		Cluster:   in.Cluster,
		Running: render.Endpoints(in.Running.Deployment, in.Running.ReplicaSets,
			names.ServerContainer(in.Object.Annotations)),

		KeepsGroup: in.Running.KeepsGroup(),

		NeedsHost: needsHost(in.Bounds),

		ExternalFiles: startup.ExternalFiles(),
	}
	if in.Unexposed {
		result.Expose = nil
	}
	return result
}

// Hostname returns the host name with which a stack is exposed. The parameter wanted is the result of Expose, and rule
// is Input.Bounds. An empty string means that the stack is not exposed, that the cluster chooses the host name, or that
// the stack has no host name.
func Hostname(
	stack *v1alpha2.LlamaStackDistribution, wanted *v1alpha2.ExposeSpec, rule *bounds.Rule, cluster render.Cluster,
) string {
	return render.Hostname(render.Input{Stack: stack, Expose: wanted, Cluster: cluster, NeedsHost: needsHost(rule)})
}

// needsHost reports whether a rule limits the domains of a stack, so that the stack must not receive the requests for
// every host.
func needsHost(rule *bounds.Rule) bool { return rule != nil && rule.Domains != nil }

// Expose returns the settings of the exposure outside the cluster, or nil if the stack is not exposed. It decodes text
// that can be as long as the whole spec.
func Expose(spec *v1alpha2.LlamaStackDistributionSpec) *v1alpha2.ExposeSpec {
	if spec.Networking == nil {
		return nil
	}
	enabled, wanted, _ := intent.DecodeExpose(spec.Networking.Expose, field.NewPath("spec", "networking", "expose"))
	if !enabled {
		return nil
	}
	return &wanted
}

// image returns the image of the pods. A reference with a digest keeps its tag, for people who read it.
func image(in Input) string { return pinned(in.Distribution.Image, in.Digest) }

// pinned adds a digest to an image reference that has none. If digest is empty, it returns the reference unchanged.
func pinned(image, digest string) string {
	if digest == "" || strings.Contains(image, "@") {
		return image
	}
	return image + "@" + digest
}

// configuration returns the text of the configuration that was read, or nil if none was read.
func configuration(in Input) []byte {
	switch {
	case in.Override != nil:
		return in.Override.Data
	case in.Base != nil && NeedsBase(&in.Object.Spec):
		return in.Base.Data
	default:
		return nil
	}
}

// server returns the container settings that the release requires. If the release is unknown, the pods get the
// variables of all known releases, because a server ignores the variables of other releases.
func server(in Input) render.Server {
	resolved := &in.Distribution
	runtime := resolved.Release.Runtime
	result := render.Server{
		Release:         resolved.Release.Line,
		PortVariables:   []string{runtime.PortVariable},
		ConfigVariables: []string{runtime.FactoryVariable},
		WritesTemp:      runtime.WritesTemp,
	}
	if runtime.ConfigVariable == "" {
		result.Command = runtime.Command
	}
	if resolved.DetectedBy == distribution.Unknown {
		result.Release, result.Command = "", nil
		result.PortVariables = append(result.PortVariables, otherPortVariable(runtime))
	}
	if in.Distribution.TagAlone() {
		return asTheImageHas(result, runtime)
	}
	return result
}

// These are the names of the variable for the port before and after the server was renamed (server fact 40).
const (
	oldPortVariable = "LLAMA_STACK_PORT"
	newPortVariable = "OGX_PORT"
)

func otherPortVariable(runtime release.Runtime) string {
	if runtime.PortVariable == oldPortVariable {
		return newPortVariable
	}
	return oldPortVariable
}

func variables(env []stackconfig.EnvVar) []render.EnvVar {
	result := make([]render.EnvVar, 0, len(env))
	for _, v := range env {
		result = append(result, render.EnvVar{
			Name: v.Name, Value: v.Value, SecretName: v.SecretName, SecretKey: v.SecretKey,
		})
	}
	return result
}

// readFromSecret changes the Secret to which the variables with derived values refer.
func readFromSecret(env []stackconfig.EnvVar, stack, secret string) []stackconfig.EnvVar {
	result := slices.Clone(env)
	for i := range result {
		if result[i].SecretName == names.StorageSecret(stack) {
			result[i].SecretName = secret
		}
	}
	return result
}

// withSecretEnv adds the variables of spec.secretEnv, which every configuration can refer to.
func withSecretEnv(env []stackconfig.EnvVar, in *intent.Intent) []stackconfig.EnvVar {
	result := slices.Clone(env)
	for _, variable := range in.SecretEnv {
		if !slices.ContainsFunc(env, func(e stackconfig.EnvVar) bool { return e.Name == variable.Name }) {
			result = append(result, stackconfig.EnvVar{
				Name: variable.Name, SecretName: variable.SecretRef.Name, SecretKey: variable.Key,
				FieldPath: variable.Path.String(),
			})
		}
	}
	return byName(result)
}

// ownVariables returns errors for variables of spec.secretEnv that the operator sets itself. With such a variable, the
// server could use a port or directory that the probes, the Service and the volumes do not use.
func ownVariables(input render.Input, in *intent.Intent) field.ErrorList {
	var errs field.ErrorList
	own := render.OwnVariables(input)
	for _, variable := range in.SecretEnv {
		if slices.Contains(own, variable.Name) {
			path := field.NewPath("spec", "secretEnv").Key(variable.Name)
			errs = append(errs, field.Forbidden(path, fmt.Sprintf(
				"%q is set by the operator: use another name, or set the variable in spec.workload.overrides.env", variable.Name)))
		}
	}
	return errs
}

func byName(env []stackconfig.EnvVar) []stackconfig.EnvVar {
	slices.SortFunc(env, func(a, b stackconfig.EnvVar) int { return strings.Compare(a.Name, b.Name) })
	return env
}

// releaseWarnings adds a warning if the release of the image is unknown, or if the operator has no data for the
// release.
func (p *Plan) releaseWarnings(resolved *distribution.Resolved) {
	const path = "spec.distribution"
	switch {
	case resolved.Exact:
	case resolved.DetectedBy == distribution.Unknown:
		p.warn(path, "the server release of image %q is unknown, so the operator configures the server as release %s; to specify the release, set the label io.llamastack.server.version on the image", resolved.Image, resolved.Release.Line)
	default:
		p.warn(path, "the operator has no data for server release %s, so it configures the server with the data for release %s; if the server does not start, use release %[2]s or upgrade the operator", resolved.Version, resolved.Release.Version)
	}
}

// warn adds a warning about a field.
func (p *Plan) warn(path, format string, args ...any) {
	p.Warnings = append(p.Warnings, stackconfig.Finding{Path: path, Message: fmt.Sprintf(format, args...)})
}
