package controller

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/distribution"
	"github.com/llamastack/llama-stack-k8s-operator/internal/operatorconfig"
	"github.com/llamastack/llama-stack-k8s-operator/internal/plan"
	"github.com/llamastack/llama-stack-k8s-operator/internal/resolve/registry"
	"github.com/llamastack/llama-stack-k8s-operator/internal/rollout"
	"github.com/llamastack/llama-stack-k8s-operator/internal/stackconfig/baseconfig"
	"github.com/llamastack/llama-stack-k8s-operator/internal/status"
)

// imageLabels holds the content of an image's labels.
type imageLabels struct {
	// distribution is the image's distribution, with the release from its label.
	distribution distribution.Resolved
	// config is the configuration in the labels, or nil if it is not the stack's base. digest is the digest of the
	// image when it was read.
	config []byte
	digest string
	// tag is the result of comparing the image with its tag.
	tag imageTag
	// unread is the reason why there is no configuration yet. Nil means that the stack continues.
	unread error
}

// imageLabels collects the content of the image's labels: its configuration and the server's release. The catalogue's
// images are known and are not read. Any other image is read once, and the result is used until image, name or version
// changes. If a registry cannot be asked, a stack waits only if it has no other base, and a running stack does not
// change.
func (r *Reconciler) imageLabels(
	ctx context.Context, stack *stack, image *resolvedImage, running *rollout.Record, report *report,
) (imageLabels, error) {
	registries := image.config.Registries
	r.pool.Configure(registryOptions(registries, r.identities))
	found, known := imageLabels{distribution: image.distribution}, image.from == v1alpha2.ImageFromCatalogue
	if !known {
		var err error
		if known, err = r.recordedLabels(ctx, stack, running, &found); err != nil {
			return found, err
		}
	}
	if known {
		return found, r.compareTag(stack, image, &found, running, report)
	}
	r.pool.Unwatch(keyOf(stack))
	if !registries.ReadLabels {
		found.unread = withoutLabels(stack, &found.distribution, running)
		return found, nil
	}
	var read *registry.Image
	if read, found.unread = r.readImage(stack, &found.distribution, running, report); read == nil {
		return found, nil
	}
	var err error
	found.distribution, err = found.distribution.WithLabel(read.Release, read.ReleaseLabel == registry.LabelRelease)
	if err != nil {
		return found, err
	}
	if wantsLabelledBase(stack) && read.Config != nil {
		found.config, found.digest, found.distribution.Entrypoint = read.Config, read.Digest, read.Entrypoint
	}
	if follows(stack, image) {
		found.digest, found.distribution.Entrypoint = read.Digest, read.Entrypoint
	}
	return found, nil
}

// readImage returns what was read of the stack's image. If there is nothing, the error explains what the stack waits
// for. A nil error means that the stack continues without it.
func (r *Reconciler) readImage(
	stack *stack, image *distribution.Resolved, running *rollout.Record, report *report,
) (*registry.Image, error) {
	target, err := imageTarget(stack, image.Image, running)
	if err != nil {
		return nil, err
	}
	outcome, ended := r.pool.Read(target)
	switch {
	case !ended:
		return nil, &status.Failure{
			Condition: v1alpha2.ConditionConfigGenerated, Reason: v1alpha2.ReasonBaseConfigUnavailable, Unknown: true,
			Retry: status.OnReferenceChange, Message: fmt.Sprintf("Reading the labels of image %q", image.Image),
		}
	case outcome.Err != nil:
		return nil, unreadable(stack, image, running, report, outcome.Err)
	default:
		return outcome.Image, nil
	}
}

// wantsLabelledBase reports whether the stack's configuration is made from that of the image.
func wantsLabelledBase(stack *stack) bool {
	return plan.NeedsBase(&stack.Spec) && stack.Spec.BaseConfig == nil
}

// recordedLabels uses the result of an earlier read of the image for this stack. It returns false if the image has to
// be read.
func (r *Reconciler) recordedLabels(
	ctx context.Context, stack *stack, running *rollout.Record, labels *imageLabels,
) (bool, error) {
	asked, found := stack.Spec.Distribution, running.Distribution
	if found.Image != labels.distribution.Image || found.Name != asked.Name || found.Version != asked.Version {
		return false, nil
	}
	if wantsLabelledBase(stack) {
		switch v1alpha2.ConfigSource(running.BaseSource) {
		case v1alpha2.ConfigSourceEmbedded:
			if labels.distribution.Base == nil {
				return false, nil
			}
		case v1alpha2.ConfigSourceOCILabel:
			kept, err := r.configMaps.KeptBase(ctx, keyOf(stack), stack.UID, running.BaseConfigMap)
			if kept == nil || err != nil {
				return false, err
			}
			labels.config = kept
		default:
			if !withoutBase(stack, &labels.distribution, running) {
				return false, nil
			}
		}
	}
	labels.keepDigest(found)
	if found.Label == "" {
		return true, nil
	}
	var err error
	labels.distribution, err = labels.distribution.WithLabel(found.Label, true)
	return true, err
}

// withoutLabels continues without reading an image, if reading images is disabled.
func withoutLabels(stack *stack, image *distribution.Resolved, running *rollout.Record) error {
	if !wantsLabelledBase(stack) || !readBefore(running) && (image.Base != nil || plan.BaseOptional(stack)) {
		return nil
	}
	return &status.Failure{
		Condition: v1alpha2.ConditionConfigGenerated, Reason: v1alpha2.ReasonBaseConfigRequired,
		Retry: status.OnReferenceChange,
		Message: fmt.Sprintf("The configuration of image %q is unknown, and the operator does not read images "+
			"(registries.readLabels in its configuration); set spec.baseConfig", image.Image),
	}
}

// unreadable continues with what else is known of an image, but never replaces a running configuration that was read.
// Without any base, the stack waits, and the image is tried again in the background.
func unreadable(stack *stack, image *distribution.Resolved, running *rollout.Record, report *report, err error) error {
	_, unsupported := errors.AsType[*baseconfig.UnsupportedVersionError](err)
	switch {
	case !wantsLabelledBase(stack):
		return nil
	case unsupported:
		return &status.Failure{
			Condition: v1alpha2.ConditionConfigGenerated, Reason: v1alpha2.ReasonUnsupportedConfigVersion,
			Retry: status.OnReferenceChange, Err: err,
			Message: fmt.Sprintf("The configuration of the image is not used: %s; to use another base, set spec.baseConfig", truncateMessage(err.Error())),
		}
	case image.Base != nil && !readBefore(running):
		report.warningEvent(v1alpha2.EventImageLabelsUnreadable, ownCopyUsed(image, err))
		return nil
	case plan.BaseOptional(stack) && !readBefore(running):
		report.warningEvent(v1alpha2.EventImageLabelsUnreadable, imageDecides(image, err))
		return nil
	}
	return &status.Failure{
		Condition: v1alpha2.ConditionConfigGenerated, Reason: v1alpha2.ReasonBaseConfigUnavailable,
		Unknown: registry.Transient(err),
		Retry:   status.OnReferenceChange, Err: err,
		Message: fmt.Sprintf("The configuration of the image cannot be read: %s. %s; to use another base, set spec.baseConfig", truncateMessage(err.Error()), whenRead(err)),
	}
}

// whenRead returns a text about when an unreadable image is read again.
func whenRead(err error) string {
	if registry.Lasting(err) {
		return "The operator reads it again when the image, the digest of its tag, or registries in the operator's configuration changes"
	}
	return "The operator tries again"
}

// readBefore reports whether the running configuration was read from the labels of an image.
func readBefore(running *rollout.Record) bool {
	return running.BaseSource == string(v1alpha2.ConfigSourceOCILabel)
}

// withoutBase reports whether the stack runs the image's own configuration because there was no base for this
// generation of its spec. That stays so until the spec changes, so that a registry that answers again restarts no pods.
func withoutBase(stack *stack, image *distribution.Resolved, running *rollout.Record) bool {
	return image.Base == nil && plan.BaseOptional(stack) && running.ConfigHash == "" &&
		running.UID == stack.UID && running.Generation == stack.Generation
}

// maxCause leaves room for the remedy after the registry's answer.
const maxCause = 400

// ownCopyUsed is the note of the event for an image whose labels cannot be read. The operator uses its own copy of the
// distribution's configuration, and the image may hold another one. The event is emitted once, because the roll-out
// that follows records the base.
func ownCopyUsed(image *distribution.Resolved, err error) string {
	return fmt.Sprintf("The labels of image %q cannot be read: %s; the operator uses its own copy of the configuration of %q in release %s until image, name or version changes. "+
		"For the image to be read then, add a pull Secret to spec.workload.overrides.imagePullSecrets, or fix registries in the operator's configuration; to use another base, set spec.baseConfig",
		image.Image, status.Shorten(err.Error(), maxCause), image.Name, image.Release.Line)
}

// imageDecides is the note of the event for an image whose labels cannot be read, if only the number of workers needs
// its configuration.
func imageDecides(image *distribution.Resolved, err error) string {
	return fmt.Sprintf("The labels of image %q cannot be read: %s; the image's own configuration runs, and spec.workload.workers has no effect. "+
		"The operator reads the image again when the spec changes", image.Image, status.Shorten(err.Error(), maxCause))
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
		image += "@" + found.Digest // the kept base is lost: the same image is read again
	}
	return registry.Target{Stack: keyOf(stack), Image: image, Credentials: credentials}, nil
}
