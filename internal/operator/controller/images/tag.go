package images

import (
	"fmt"
	"strings"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/cluster/resolve/registry"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/plan"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/rollout"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/status"
	"github.com/llamastack/llama-stack-k8s-operator/internal/operator/controller/report"
)

// Tag is the result of comparing a stack's running image with its tag.
type Tag struct {
	// Moved is the digest that the tag refers to, if the pods run a different digest. Empty means that the pods run the
	// same digest, or that the digest of the tag is unknown.
	Moved string
	// Stale is a message about a running image that cannot be compared with its tag, or about pods that cannot follow the
	// tag. It is empty if there is no problem.
	Stale string
}

// follows reports whether the pods have to run the image that the tag refers to, even after the tag moves.
func follows(stack *stack, image *Image) bool {
	return stack.Spec.Distribution.ImageUpdates == v1alpha2.ImageUpdatesFollow &&
		!strings.Contains(image.Distribution.Image, "@")
}

// keepDigest selects the recorded digest, so that the pods keep it even if the tag moves.
func (l *Labels) keepDigest(found rollout.Distribution) {
	if found.Digest != "" {
		l.Digest, l.Distribution.Entrypoint = found.Digest, plan.RecordedEntrypoint(found)
	}
}

// compareTag compares the running digest with the registry's response for the tag. If the stack follows its tag,
// compareTag selects the new image. The stack keeps the running image until it can use the new image.
func (r *Reader) compareTag(
	stack *stack, image *Image, labels *Labels, running *rollout.Record, report *report.Report,
) error {
	following := follows(stack, image)
	if image.From == v1alpha2.ImageFromCatalogue && running.Distribution.Image == image.Distribution.Image {
		labels.keepDigest(running.Distribution)
	}
	if !image.Config.Registries.ReadLabels || strings.Contains(image.Distribution.Image, "@") || labels.Digest == "" &&
		!following {
		r.Pool.Forget(client.ObjectKeyFromObject(stack))
		r.Pool.Unwatch(client.ObjectKeyFromObject(stack))
		labels.Tag.Stale = withoutComparison(stack, image)
		return nil
	}
	target, err := imageTarget(stack, image.Distribution.Image, &rollout.Record{})
	if err != nil {
		return err
	}
	tag, ended := r.Pool.Watch(registry.Watched{Target: target, Soon: following})
	switch {
	case !ended && following && labels.Digest == "" && running.Image == "":
		return waitForTag(image.Distribution.Image)
	case !ended:
		labels.Tag = toldBefore(stack, labels)
	default:
		labels.Tag = Tag{Moved: tag.Digest, Stale: notCompared(tag.Err)}
	}
	if labels.Tag.Moved == "" || labels.Tag.Moved == labels.Digest {
		labels.Tag.Moved = ""
		r.Pool.Forget(client.ObjectKeyFromObject(stack))
		return nil
	}
	if labels.Digest != "" {
		noteMove(stack, labels, following, report)
	}
	if following {
		r.follow(target, stack, image, labels)
	} else {
		r.Pool.Forget(client.ObjectKeyFromObject(stack))
	}
	return nil
}

// withoutComparison returns a message if a stack has to follow its tag but cannot, and an empty string otherwise.
func withoutComparison(stack *stack, image *Image) string {
	switch {
	case stack.Spec.Distribution.ImageUpdates != v1alpha2.ImageUpdatesFollow:
		return ""
	case !image.Config.Registries.ReadLabels:
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
func toldBefore(stack *stack, labels *Labels) Tag {
	var told Tag
	if in := stack.Status.ResolvedDistribution; in != nil && in.Image == labels.Distribution.Image &&
		in.Digest == labels.Digest {
		told.Moved = in.TagDigest
	}
	for _, condition := range stack.Status.Conditions {
		if condition.Type == v1alpha2.ConditionDegraded && strings.HasPrefix(condition.Message, cannotCompare) {
			told.Stale = condition.Message
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
func noteMove(stack *stack, labels *Labels, following bool, report *report.Report) {
	if in := stack.Status.ResolvedDistribution; in != nil && in.TagDigest == labels.Tag.Moved {
		return
	}
	what := "The pods keep the old image; set spec.distribution.imageUpdates to Follow to run the new image"
	if following {
		what = "The operator is rolling out the new image, because spec.distribution.imageUpdates is Follow. If the " +
			"operator cannot use the new image, the pods keep the old image"
	}
	report.Normal(v1alpha2.EventImageTagMoved, fmt.Sprintf("The tag of image %q moved from %s to %s. %s",
		labels.Distribution.Image, labels.Digest, labels.Tag.Moved, what))
}

// follow selects the image that the tag refers to. If the image is not from the catalog, follow selects it only after
// the operator has read it. If the stack cannot use the image, the stack keeps the running image.
func (r *Reader) follow(target registry.Target, stack *stack, image *Image, labels *Labels) {
	if image.From == v1alpha2.ImageFromCatalogue {
		r.Pool.Forget(client.ObjectKeyFromObject(stack))
		labels.Digest, labels.Tag.Moved = labels.Tag.Moved, ""
		return
	}
	target.Image += "@" + labels.Tag.Moved
	outcome, ended := r.Pool.Read(target)
	if !ended {
		return
	}
	if err := labels.adopt(outcome, stack, image); err != nil {
		labels.Tag.Stale = fmt.Sprintf("The tag of image %q refers to %s, but the pods keep %s because the operator cannot use the new image: %s",
			image.Distribution.Image, labels.Tag.Moved, labels.Digest, status.Shorten(err.Error(), maxCause))
	}
}

// adopt replaces the running image with the image that the operator has read. It returns an error if the read failed or
// the stack cannot use the image.
func (l *Labels) adopt(outcome registry.Outcome, stack *stack, image *Image) error {
	if outcome.Err != nil {
		return outcome.Err
	}
	read := outcome.Image
	if l.Config != nil && read.Config == nil {
		return fmt.Errorf("the labels of the new image contain no configuration; add the configuration with %q",
			"kubectl llamastack image label")
	}
	changed := image.Distribution.WithLabel(read.Release, read.ReleaseLabel == registry.LabelRelease)
	changed.Entrypoint = read.Entrypoint
	l.Distribution, l.Digest, l.Tag = changed, read.Digest, Tag{}
	if wantsLabeledBase(stack) {
		l.Config = read.Config
	}
	return nil
}
