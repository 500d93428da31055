package images

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/cluster/resolve/registry"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/distribution"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/facts"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/operatorconfig"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/plan"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/rollout"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/baseconfig"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/status"
	"github.com/llamastack/llama-stack-k8s-operator/internal/operator/controller/report"
)

// Labels holds the content of an image's labels.
type Labels struct {
	// Distribution is the image's distribution, with the release from its label.
	Distribution distribution.Resolved
	// Config is the configuration in the labels. Nil means that the stack's base is not from the labels. The field
	// `Digest` is the image's digest.
	Config []byte
	Digest string
	// Tag is the result of comparing the running image with its tag.
	Tag Tag
	// Unread is the failure for a stack that needs a configuration that was not read. Nil means that the reconcile
	// continues.
	Unread error
}

// Labels collects the content of the image's labels: its configuration and the server's release. The operator does
// not read catalog images, because their configurations and releases are known. It reads any other image once, and uses
// the result until the image, name or version in spec.distribution changes, or until a tag moves that the stack
// follows. A stack whose image cannot be read waits if it has no other base, or if its running configuration is from
// the image. The running pods then do not change.
func (r *Reader) Labels(
	ctx context.Context, stack *stack, image *Image, workload *facts.Running, report *report.Report,
) (Labels, error) {
	registries, running := image.Config.Registries, &workload.Record
	r.Pool.Configure(registryOptions(registries, r.identities))
	found, known := Labels{Distribution: image.Distribution}, image.From == v1alpha2.ImageFromCatalogue
	if !known {
		var err error
		if known, err = r.recordedLabels(ctx, stack, workload, &found); err != nil {
			return found, err
		}
	}
	if known {
		return found, r.compareTag(stack, image, &found, running, report)
	}
	r.Pool.Unwatch(client.ObjectKeyFromObject(stack))
	if !registries.ReadLabels {
		found.Unread = withoutLabels(stack, &found.Distribution, running)
		return found, nil
	}
	var read *registry.Image
	if read, found.Unread = r.readImage(stack, &found.Distribution, running, report); read == nil {
		return found, nil
	}
	found.Distribution = found.Distribution.WithLabel(read.Release, read.ReleaseLabel == registry.LabelRelease)
	if wantsLabeledBase(stack) && read.Config != nil {
		found.Config, found.Digest, found.Distribution.Entrypoint = read.Config, read.Digest, read.Entrypoint
	}
	if follows(stack, image) {
		found.Digest, found.Distribution.Entrypoint = read.Digest, read.Entrypoint
	}
	return found, nil
}

// readImage returns the stack's image if the image was read. Otherwise, it returns a nil image. The error is then the
// failure if the stack has to wait, or nil if the stack continues without the image.
func (r *Reader) readImage(
	stack *stack, image *distribution.Resolved, running *rollout.Record, report *report.Report,
) (*registry.Image, error) {
	target, err := imageTarget(stack, image.Image, running)
	if err != nil {
		return nil, err
	}
	outcome, ended := r.Pool.Read(target)
	switch {
	case !ended:
		return nil, &status.Failure{
			Condition: v1alpha2.ConditionConfigGenerated, Reason: v1alpha2.ReasonBaseConfigUnavailable, Unknown: true,
			Retry: status.OnReferenceChange, Message: fmt.Sprintf("The operator is reading the labels of image %q", image.Image),
		}
	case outcome.Err != nil:
		return nil, unreadable(stack, image, running, report, outcome.Err)
	default:
		return outcome.Image, nil
	}
}

// wantsLabeledBase reports whether the configuration of the image is the base of the stack's configuration.
func wantsLabeledBase(stack *stack) bool {
	return plan.NeedsBase(&stack.Spec) && stack.Spec.BaseConfig == nil
}

// recordedLabels sets the labels from the record of an earlier read of the image. It returns false if there is no such
// record.
func (r *Reader) recordedLabels(
	ctx context.Context, stack *stack, workload *facts.Running, labels *Labels,
) (bool, error) {
	running := &workload.Record
	found := running.Distribution
	if !workload.SameImage(stack.Spec.Distribution, labels.Distribution.Image) {
		return false, nil
	}
	if wantsLabeledBase(stack) {
		switch v1alpha2.ConfigSource(running.BaseSource) {
		case v1alpha2.ConfigSourceEmbedded:
			if labels.Distribution.Base == nil {
				return false, nil
			}
		case v1alpha2.ConfigSourceOCILabel:
			kept, err := r.keptBase(ctx, client.ObjectKeyFromObject(stack), stack.UID, running.BaseConfigMap)
			if kept == nil || err != nil {
				return false, err
			}
			labels.Config = kept
		default:
			if !withoutBase(stack, &labels.Distribution, running) {
				return false, nil
			}
		}
	}
	labels.keepDigest(found)
	if found.Label != "" {
		labels.Distribution = labels.Distribution.WithLabel(found.Label, true)
	}
	return true, nil
}

// withoutLabels is for an operator that does not read images. It returns the failure for a stack that needs the image's
// configuration. Nil means that the stack continues without this configuration.
func withoutLabels(stack *stack, image *distribution.Resolved, running *rollout.Record) error {
	if !wantsLabeledBase(stack) || !readBefore(running) && (image.Base != nil || plan.BaseOptional(stack)) {
		return nil
	}
	return &status.Failure{
		Condition: v1alpha2.ConditionConfigGenerated, Reason: v1alpha2.ReasonBaseConfigRequired,
		Retry: status.OnReferenceChange,
		Message: fmt.Sprintf("The configuration of image %q is unknown, and the operator does not read images, "+
			"because the key \"registries\" in the operator's configuration sets readLabels to false, or is invalid; set "+
			"spec.baseConfig to a ConfigMap with the image's configuration", image.Image),
	}
}

// unreadable returns the failure for a stack whose image cannot be read. Nil means that the stack continues with a
// different base. A stack without another base waits. Unless the error is permanent, the operator reads the image again
// in the background. A different base never replaces the base of a running configuration that was read from an image.
func unreadable(
	stack *stack, image *distribution.Resolved, running *rollout.Record, report *report.Report, err error,
) error {
	_, unsupported := errors.AsType[*baseconfig.UnsupportedVersionError](err)
	switch {
	case !wantsLabeledBase(stack):
		return nil
	case unsupported:
		return &status.Failure{
			Condition: v1alpha2.ConditionConfigGenerated, Reason: v1alpha2.ReasonUnsupportedConfigVersion,
			Retry: status.OnReferenceChange, Err: err,
			Message: fmt.Sprintf("The configuration of the image is not used: %s; to use another base configuration, set spec.baseConfig", status.Note(err.Error())),
		}
	case image.Base != nil && !readBefore(running):
		report.Warning(v1alpha2.EventImageLabelsUnreadable, ownCopyUsed(image, err))
		return nil
	case plan.BaseOptional(stack) && !readBefore(running):
		report.Warning(v1alpha2.EventImageLabelsUnreadable, imageDecides(image, err))
		return nil
	}
	return &status.Failure{
		Condition: v1alpha2.ConditionConfigGenerated, Reason: v1alpha2.ReasonBaseConfigUnavailable,
		Unknown: registry.Transient(err),
		Retry:   status.OnReferenceChange, Err: err,
		Message: fmt.Sprintf("The configuration of the image cannot be read: %s. %s; to use another base configuration, set spec.baseConfig", status.Note(err.Error()), whenRead(err)),
	}
}

// whenRead returns a sentence about the next attempt to read an image.
func whenRead(err error) string {
	if registry.Lasting(err) {
		return "The operator reads the image again when its name, the digest of its tag, or the key \"registries\" in the operator's configuration changes"
	}
	return "The operator tries again"
}

// readBefore reports whether the running configuration was read from the labels of an image.
func readBefore(running *rollout.Record) bool {
	return running.BaseSource == string(v1alpha2.ConfigSourceOCILabel)
}

// withoutBase reports whether the stack uses the image's own configuration because there was no base for this
// generation of its spec. The stack keeps this configuration until the spec changes, even if the image can be read
// later.
func withoutBase(stack *stack, image *distribution.Resolved, running *rollout.Record) bool {
	return image.Base == nil && plan.BaseOptional(stack) && running.ConfigHash == "" &&
		running.UID == stack.UID && running.Generation == stack.Generation
}

// maxCause bounds the length of the registry's response in a message, so that the remedy is not cut off.
const maxCause = 400

// ownCopyUsed returns the note of the event for an image whose labels cannot be read. The operator uses its own copy of
// the distribution's configuration, which may differ from the configuration in the image. The operator emits the event
// once, because the rollout that follows records the base.
func ownCopyUsed(image *distribution.Resolved, err error) string {
	return fmt.Sprintf("The labels of image %q cannot be read: %s; the operator uses its own copy of the %q configuration for release %s until the image, name or version in spec.distribution changes. "+
		"To let the operator read the image after such a change, add a pull Secret to spec.workload.overrides.imagePullSecrets, or correct the key \"registries\" in the operator's configuration; to use another base configuration, set spec.baseConfig",
		image.Image, status.Shorten(err.Error(), maxCause), image.Name, image.Release.Line)
}

// imageDecides returns the note of the event for an image whose labels cannot be read, if the stack needs a
// configuration only for the number of workers.
func imageDecides(image *distribution.Resolved, err error) string {
	return fmt.Sprintf("The labels of image %q cannot be read: %s; the server uses the image's own configuration, and spec.workload.workers has no effect. "+
		"To let the operator read the image, add a pull Secret to spec.workload.overrides.imagePullSecrets, or correct "+
		"the key \"registries\" in the operator's configuration. The operator reads the image again when the spec changes",
		image.Image, status.Shorten(err.Error(), maxCause))
}

func registryOptions(registries operatorconfig.Registries, identities registry.Identities) registry.Options {
	return registry.Options{
		Allow: registries.Allow, Insecure: registries.Insecure, Rewrite: registries.Rewrite,
		CheckInterval: registries.CheckInterval,
		CloudIdentity: registries.CloudIdentity, Identities: identities,
	}
}

func imageTarget(stack *stack, image string, running *rollout.Record) (registry.Target, error) {
	credentials, err := credentialsOf(stack)
	if err != nil {
		return registry.Target{}, err
	}
	found := running.Distribution
	if found.Digest != "" && found.Image == image && !strings.Contains(image, "@") {
		image += "@" + found.Digest // the stored base no longer exists, so the operator reads the same image again
	}
	return registry.Target{Stack: client.ObjectKeyFromObject(stack), Image: image, Credentials: credentials}, nil
}
