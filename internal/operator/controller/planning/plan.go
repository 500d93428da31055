package planning

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/cluster/resolve"
	"github.com/llamastack/llama-stack-k8s-operator/internal/cluster/share"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/hostname"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/intent"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/operatorconfig"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/plan"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/rollout"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/status"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/validate"
	"github.com/llamastack/llama-stack-k8s-operator/internal/operator/controller/images"
	"github.com/llamastack/llama-stack-k8s-operator/internal/operator/controller/report"
)

// Planned is the desired state of the stack.
type Planned struct {
	Input plan.Input
	Plan  *plan.Plan
	// HostOwner is another stack that owns the requested host name. Nil means that there is none.
	HostOwner *hostname.Owner
	// MayHave reports whether the stack may have a host name that the cluster chose for it.
	MayHave func(host string) bool
	// Derived holds the values of the Secret with connection parts. The operator computes these values from the values of
	// other Secrets.
	Derived map[string][]byte
}

// Plan builds the configuration and every object. It reads only the following data from the cluster: the host names of
// stacks and of the objects that expose them, the existing NetworkPolicy and, if there is no record of the places of
// the stack's data, the last configuration.
func (p *Planner) Plan(
	ctx context.Context, known plan.Input, image *images.Image, secrets *Secrets, warnings []string, report *report.Report,
) (Planned, error) {
	made, stack := Planned{Input: known}, known.Object
	err := p.complete(ctx, &made, image.Config)
	if err == nil {
		err = p.build(ctx, secrets, &made)
	}
	if err != nil {
		return made, failureOf(err, &stack.Spec)
	}
	reason, message := generated(stack, known.Intent, made.Plan)
	report.MarkTrue(v1alpha2.ConditionConfigGenerated, reason, message)
	if stack.Status.ObservedGeneration != stack.Generation {
		warnOfConfig(made.Plan.Warnings, warnings, report)
	}
	return made, nil
}

// complete adds the facts about the cluster to the input of the plan.
func (p *Planner) complete(ctx context.Context, made *Planned, config operatorconfig.Config) (err error) {
	in := &made.Input
	in.OperatorVersion, in.OpenShift = p.Version, p.OpenShift
	if in.Before, err = p.places(ctx, in.Object, &in.Running, &in.Distribution); err != nil {
		return err
	}
	if in.Cluster, err = p.Hosts.Cluster(ctx, in.Object, config); err != nil {
		return err
	}
	claimed, err := p.Hosts.Names(ctx, in.Cluster)
	if err != nil {
		return err
	}
	made.HostOwner, err = claimed.Owner(in.Object, in.Bounds)
	in.Unexposed = made.HostOwner != nil
	made.MayHave = func(host string) bool {
		owner, err := claimed.OwnerOf(host, in.Object)
		return owner == nil && err == nil
	}
	return err
}

// build configures the server and computes the values of the Secret with connection parts, and renders the plan, which
// refers to this Secret by a name that depends on the values.
func (p *Planner) build(ctx context.Context, secrets *Secrets, made *Planned) error {
	done, err := p.largePlans.take(ctx, &made.Input)
	if err != nil {
		return err
	}
	defer done() // also runs after a panic, from which runStep recovers
	configured, err := p.Configure(made.Input)
	if err != nil {
		return err
	}
	if made.Derived, err = secrets.Values.Derive(made.Input.Object.Namespace, configured.Derived); err != nil {
		return err
	}
	made.Plan, err = configured.Render(storageSecret(&made.Input, secrets.digestKey, made.Derived))
	return err
}

// failureOf returns the failure for a plan that a user must correct. It returns any other error unchanged.
func failureOf(err error, spec *v1alpha2.LlamaStackDistributionSpec) error {
	refused, ok := errors.AsType[*plan.ConfigError](err)
	if !ok {
		return err
	}
	failure := &status.Failure{
		Condition: refused.Condition, Reason: refused.Reason, Message: refused.Error(), Retry: status.OnObjectChange,
		Err: err,
	}
	if spec.BaseConfig != nil || spec.OverrideConfig != nil {
		failure.Retry = status.OnReferenceChange
	}
	return failure
}

// warnOfConfig adds events for the warnings about the configuration and the spec. Spec settings that have no effect,
// and providers that external providers replace, have their own events. One event has the number of all other warnings
// and the first of them. The status contains all.
func warnOfConfig(findings []stackconfig.Finding, warnings []string, report *report.Report) {
	told := map[string][]string{}
	var others []stackconfig.Finding
	for _, finding := range findings {
		switch {
		case finding.Ignored:
			told[v1alpha2.EventProviderIgnored] = append(told[v1alpha2.EventProviderIgnored], finding.String())
		case finding.Overrides:
			told[v1alpha2.EventExternalProviderOverride] = append(told[v1alpha2.EventExternalProviderOverride], finding.String())
		default:
			others = append(others, finding)
			continue
		}
		// Both packages warn about a disabled provider.
		warnings = slices.DeleteFunc(warnings, func(text string) bool { return text == finding.String() })
	}
	for _, event := range []string{v1alpha2.EventProviderIgnored, v1alpha2.EventExternalProviderOverride} {
		if len(told[event]) > 0 {
			report.Warning(event, strings.Join(told[event], "\n"))
		}
	}
	switch rest := plan.Warnings(warnings, others); len(rest) {
	case 0:
	case 1:
		report.Warning(v1alpha2.EventConfigWarning, rest[0])
	default:
		report.Warning(v1alpha2.EventConfigWarning, fmt.Sprintf("%d warnings, which are in status.warnings; the first is: %s",
			len(rest), rest[0]))
	}
}

// generated returns the reason and the message of the condition ConfigGenerated.
func generated(stack *stack, wishes *intent.Intent, made *plan.Plan) (reason, message string) {
	switch made.Mode {
	case plan.ModeOverride:
		message = fmt.Sprintf("The server uses ConfigMap %q unchanged", stack.Spec.OverrideConfig.ConfigMapName)
		if made.Config != nil {
			message = fmt.Sprintf("The server uses a copy of ConfigMap %q", stack.Spec.OverrideConfig.ConfigMapName)
			if set := setInCopy(wishes); set != "" {
				message += ", in which the operator sets " + set
			}
		}
		return v1alpha2.ReasonOverrideConfigUsed, message
	case plan.ModeImageDefault:
		return v1alpha2.ReasonDistributionDefaultUsed, "The server uses the image's own configuration unchanged"
	default:
		noun := "model"
		if len(wishes.Tools)+len(wishes.Shields) > 0 {
			noun = "resource"
		}
		return v1alpha2.ReasonConfigGenerationSucceeded, fmt.Sprintf("Generated config.yaml with %s and %s",
			status.Count(int(made.ProviderCount), "provider"), status.Count(int(made.ResourceCount), noun))
	}
}

// setInCopy lists the settings that the operator adds to a copy of the user's configuration.
func setInCopy(wishes *intent.Intent) string {
	var set []string
	if wishes.Server.Workers > 1 {
		set = append(set, "the number of workers")
	}
	if wishes.Server.TLS != nil {
		set = append(set, "the certificate")
	}
	if len(wishes.External) > 0 {
		set = append(set, "the external providers")
	}
	if last := len(set) - 1; last > 1 {
		set = []string{strings.Join(set[:last], ", "), set[last]}
	}
	return strings.Join(set, " and ")
}

// storageSecret returns the name and digest of the Secret with connection parts. The name depends on the parts, because
// pods of the running revision and of older revisions must read the parts that they started with, even after a restart.
// If the digest key was deleted, a change cannot be detected, and the pods keep the recorded Secret. Nil means that
// there are no parts.
func storageSecret(in *plan.Input, key resolve.DigestKey, derived map[string][]byte) *rollout.StorageSecret {
	if len(derived) == 0 {
		return nil
	}
	digest, running := key.Digest(derived), &in.Running.Record
	name := names.StorageSecretOf(in.Object.Name, digest)
	if was := running.StorageSecret; was != nil &&
		(running.ReferenceKey != in.References.Key || was.Digest == digest) {
		name = was.Name
	}
	return &rollout.StorageSecret{Name: name, Digest: digest}
}

// largeInput is a size in bytes. A plan counts as large if the total size of its spec and configurations exceeds it.
// Plans for catalog images have at most a fifth of this size.
const largeInput = 128 << 10

// largePlans builds one large plan at a time. Building a plan needs up to a hundred times as much memory as its input,
// so building several large plans at the same time would need more memory than the operator has. Small plans never
// wait. The namespaces with large plans take turns.
type largePlans struct{ slots *share.Slots }

// take waits until a plan can be built: a large plan waits until no other large plan is being built. The caller must
// call the returned function after the plan is built.
func (l largePlans) take(ctx context.Context, in *plan.Input) (done func(), err error) {
	if inputBytes(in) <= largeInput {
		return func() {}, nil
	}
	if done, err = l.slots.Take(ctx, in.Object.Namespace); err != nil {
		return nil, fmt.Errorf("wait for another large plan: %w", err)
	}
	return done, nil
}

// inputBytes returns the length of the spec and the configurations of a plan.
func inputBytes(in *plan.Input) int {
	total := validate.SpecBytes(in.Object)
	if in.Base != nil {
		total += len(in.Base.Data)
	}
	if in.Override != nil {
		total += len(in.Override.Data)
	}
	return total
}
