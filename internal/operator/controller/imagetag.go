package controller

import (
	"fmt"
	"strings"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/cluster/resolve/registry"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/plan"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/rollout"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/status"
	"github.com/llamastack/llama-stack-k8s-operator/internal/operator/controller/report"
)

// imageTag is the result of comparing a stack's running image with its tag.
type imageTag struct {
	// moved is the digest that the tag refers to, if the pods run a different digest. Empty means that the pods run the
	// same digest, or that the digest of the tag is unknown.
	moved string
	// stale is a message about a running image that cannot be compared with its tag, or about pods that cannot follow the
	// tag. It is empty if there is no problem.
	stale string
}

// follows reports whether the pods have to run the image that the tag refers to, even after the tag moves.
func follows(stack *stack, image *resolvedImage) bool {
	return stack.Spec.Distribution.ImageUpdates == v1alpha2.ImageUpdatesFollow &&
		!strings.Contains(image.Distribution.Image, "@")
}

// keepDigest selects the recorded digest, so that the pods keep it even if the tag moves.
func (l *imageLabels) keepDigest(found rollout.Distribution) {
	if found.Digest != "" {
		l.digest, l.distribution.Entrypoint = found.Digest, plan.RecordedEntrypoint(found)
	}
}

// compareTag compares the running digest with the registry's response for the tag. If the stack follows its tag,
// compareTag selects the new image. The stack keeps the running image until it can use the new image.
func (r *Reconciler) compareTag(
	stack *stack, image *resolvedImage, labels *imageLabels, running *rollout.Record, report *report.Report,
) error {
	following := follows(stack, image)
	if image.From == v1alpha2.ImageFromCatalogue && running.Distribution.Image == image.Distribution.Image {
		labels.keepDigest(running.Distribution)
	}
	if !image.config.Registries.ReadLabels || strings.Contains(image.Distribution.Image, "@") || labels.digest == "" &&
		!following {
		r.pool.Forget(keyOf(stack))
		r.pool.Unwatch(keyOf(stack))
		labels.tag.stale = withoutComparison(stack, image)
		return nil
	}
	target, err := imageTarget(stack, image.Distribution.Image, &rollout.Record{})
	if err != nil {
		return err
	}
	tag, ended := r.pool.Watch(registry.Watched{Target: target, Soon: following})
	switch {
	case !ended && following && labels.digest == "" && running.Image == "":
		return waitForTag(image.Distribution.Image)
	case !ended:
		labels.tag = toldBefore(stack, labels)
	default:
		labels.tag = imageTag{moved: tag.Digest, stale: notCompared(tag.Err)}
	}
	if labels.tag.moved == "" || labels.tag.moved == labels.digest {
		labels.tag.moved = ""
		r.pool.Forget(keyOf(stack))
		return nil
	}
	if labels.digest != "" {
		noteMove(stack, labels, following, report)
	}
	if following {
		r.follow(target, stack, image, labels)
	} else {
		r.pool.Forget(keyOf(stack))
	}
	return nil
}

// withoutComparison returns a message if a stack has to follow its tag but cannot, and an empty string otherwise.
func withoutComparison(stack *stack, image *resolvedImage) string {
	switch {
	case stack.Spec.Distribution.ImageUpdates != v1alpha2.ImageUpdatesFollow:
		return ""
	case !image.config.Registries.ReadLabels:
		return "The pods do not follow the tag of their image: spec.distribution.imageUpdates is Follow, but the operator does not read images; " +
			"set registries.readLabels in the operator's configuration to true, or remove spec.distribution.imageUpdates"
	default:
		return fmt.Sprintf("The pods do not follow the tag of their image: spec.distribution.imageUpdates is Follow, but image %q has a digest; use an image without a digest, or remove spec.distribution.imageUpdates",
			image.Distribution.Image)
	}
}

// waitForTag returns the failure for a stack without pods that is waiting for the digest of its tag.
func waitForTag(image string) error {
	return &status.Failure{
		Condition: v1alpha2.ConditionConfigGenerated, Reason: v1alpha2.ReasonBaseConfigUnavailable, Unknown: true,
		Retry: status.OnReferenceChange, Message: fmt.Sprintf("The operator is resolving the tag of image %q", image),
	}
}

// toldBefore returns the tag's state from the status, for an operator that has not queried the registry yet.
func toldBefore(stack *stack, labels *imageLabels) imageTag {
	var told imageTag
	if in := stack.Status.ResolvedDistribution; in != nil && in.Image == labels.distribution.Image &&
		in.Digest == labels.digest {
		told.moved = in.TagDigest
	}
	for _, condition := range stack.Status.Conditions {
		if condition.Type == v1alpha2.ConditionDegraded && strings.HasPrefix(condition.Message, cannotCompare) {
			told.stale = condition.Message
		}
	}
	return told
}

// cannotCompare is the beginning of the status message for a tag that cannot be compared.
const cannotCompare = "The operator cannot compare the running image with its tag"

func notCompared(err error) string {
	if err == nil {
		return ""
	}
	return cannotCompare + ": " + status.Shorten(err.Error(), maxCause) +
		". The pods keep the image, and the operator tries again"
}

// noteMove adds an event unless the status already reports the move.
func noteMove(stack *stack, labels *imageLabels, following bool, report *report.Report) {
	if in := stack.Status.ResolvedDistribution; in != nil && in.TagDigest == labels.tag.moved {
		return
	}
	what := "The pods keep the old image; set spec.distribution.imageUpdates to Follow to run the new image"
	if following {
		what = "The operator is rolling out the new image, because spec.distribution.imageUpdates is Follow. If the " +
			"operator cannot use the new image, the pods keep the old image"
	}
	report.Normal(v1alpha2.EventImageTagMoved, fmt.Sprintf("The tag of image %q moved from %s to %s. %s",
		labels.distribution.Image, labels.digest, labels.tag.moved, what))
}

// follow selects the image that the tag refers to. If the image is not from the catalog, follow selects it only after
// the operator has read it. If the stack cannot use the image, the stack keeps the running image.
func (r *Reconciler) follow(target registry.Target, stack *stack, image *resolvedImage, labels *imageLabels) {
	if image.From == v1alpha2.ImageFromCatalogue {
		r.pool.Forget(keyOf(stack))
		labels.digest, labels.tag.moved = labels.tag.moved, ""
		return
	}
	target.Image += "@" + labels.tag.moved
	outcome, ended := r.pool.Read(target)
	if !ended {
		return
	}
	if err := labels.adopt(outcome, stack, image); err != nil {
		labels.tag.stale = fmt.Sprintf("The tag of image %q refers to %s, but the pods keep %s because the operator cannot use the new image: %s",
			image.Distribution.Image, labels.tag.moved, labels.digest, status.Shorten(err.Error(), maxCause))
	}
}

// adopt replaces the running image with the image that the operator has read. It returns an error if the read failed or
// the stack cannot use the image.
func (l *imageLabels) adopt(outcome registry.Outcome, stack *stack, image *resolvedImage) error {
	if outcome.Err != nil {
		return outcome.Err
	}
	read := outcome.Image
	if l.config != nil && read.Config == nil {
		return fmt.Errorf("the labels of the new image contain no configuration; add the configuration with %q",
			"kubectl llamastack image label")
	}
	changed := image.Distribution.WithLabel(read.Release, read.ReleaseLabel == registry.LabelRelease)
	changed.Entrypoint = read.Entrypoint
	l.distribution, l.digest, l.tag = changed, read.Digest, imageTag{}
	if wantsLabeledBase(stack) {
		l.config = read.Config
	}
	return nil
}
