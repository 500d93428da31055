package controller

import (
	"fmt"
	"strings"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/plan"
	"github.com/llamastack/llama-stack-k8s-operator/internal/resolve/registry"
	"github.com/llamastack/llama-stack-k8s-operator/internal/rollout"
	"github.com/llamastack/llama-stack-k8s-operator/internal/status"
)

// imageTag is what the tag of a stack's image stands for.
type imageTag struct {
	// moved is the digest that the tag stands for, while the pods have another one. Empty: they have the same, or nobody
	// knows.
	moved string
	// stale is why the image that runs cannot be compared with its tag, or cannot follow it. Empty: nothing is wrong.
	stale string
}

// follows reports whether the pods are to run what the tag of the image stands for.
func follows(stack *stack, image *resolvedImage) bool {
	return stack.Spec.Distribution.ImageUpdates == v1alpha2.ImageUpdatesFollow && !strings.Contains(image.distribution.Image, "@")
}

// keepDigest keeps the digest that the pods run, whatever becomes of the tag.
func (l *imageLabels) keepDigest(found rollout.Distribution) {
	if found.Digest != "" {
		l.digest, l.distribution.Entrypoint = found.Digest, plan.RecordedEntrypoint(found)
	}
}

// compareTag compares the digest that runs with what the registry says of the tag, and takes the other image where the
// stack follows its tag. Whatever becomes of that, the image that runs stays in force until the other one can be used.
func (r *Reconciler) compareTag(
	stack *stack, image *resolvedImage, labels *imageLabels, running *rollout.Record, report *report,
) error {
	following := follows(stack, image)
	if image.from == v1alpha2.ImageFromCatalogue && running.Distribution.Image == image.distribution.Image {
		labels.keepDigest(running.Distribution)
	}
	if !image.config.Registries.ReadLabels || strings.Contains(image.distribution.Image, "@") || labels.digest == "" && !following {
		r.pool.Forget(keyOf(stack))
		r.pool.Unwatch(keyOf(stack))
		labels.tag.stale = withoutComparison(stack, image)
		return nil
	}
	target, err := imageTarget(stack, image.distribution.Image, &rollout.Record{})
	if err != nil {
		return err
	}
	tag, ended := r.pool.Watch(registry.Watched{Target: target, Soon: following})
	switch {
	case !ended && following && labels.digest == "" && running.Image == "":
		return waitForTag(image.distribution.Image)
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

// withoutComparison says why a stack does not follow its tag although it is to.
func withoutComparison(stack *stack, image *resolvedImage) string {
	switch {
	case stack.Spec.Distribution.ImageUpdates != v1alpha2.ImageUpdatesFollow:
		return ""
	case !image.config.Registries.ReadLabels:
		return "The pods do not follow the tag of their image: spec.distribution.imageUpdates is Follow, and the operator does not read images " +
			"(registries.readLabels of its configuration)"
	default:
		return fmt.Sprintf("The pods do not follow the tag of their image: spec.distribution.imageUpdates is Follow, and image %q has a digest",
			image.distribution.Image)
	}
}

// waitForTag keeps a stack that has no pods waiting for the digest that they shall run.
func waitForTag(image string) error {
	return &status.Failure{
		Condition: v1alpha2.ConditionConfigGenerated, Reason: v1alpha2.ReasonBaseConfigUnavailable, Unknown: true,
		Retry: status.OnReferenceChange, Message: fmt.Sprintf("Asking what the tag of image %q stands for", image),
	}
}

// toldBefore is what the status says of the tag, for an operator that has not asked yet since it started.
func toldBefore(stack *stack, labels *imageLabels) imageTag {
	var told imageTag
	if in := stack.Status.ResolvedDistribution; in != nil && in.Image == labels.distribution.Image && in.Digest == labels.digest {
		told.moved = in.TagDigest
	}
	for _, condition := range stack.Status.Conditions {
		if condition.Type == v1alpha2.ConditionDegraded && strings.HasPrefix(condition.Message, cannotCompare) {
			told.stale = condition.Message
		}
	}
	return told
}

// cannotCompare begins what the status says of a tag that cannot be compared.
const cannotCompare = "The image that runs cannot be compared with its tag, and the pods keep it: "

func notCompared(err error) string {
	if err == nil {
		return ""
	}
	return cannotCompare + status.Shorten(err.Error(), maxCause) + ". It is tried again"
}

// noteMove records an event when the status does not tell of the move yet.
func noteMove(stack *stack, labels *imageLabels, following bool, report *report) {
	if in := stack.Status.ResolvedDistribution; in != nil && in.TagDigest == labels.tag.moved {
		return
	}
	what := "The pods keep it; set spec.distribution.imageUpdates to Follow to run what the tag stands for"
	if following {
		what = "The pods roll to the new one when it can be used, because spec.distribution.imageUpdates is Follow"
	}
	report.normalEvent(v1alpha2.EventImageTagMoved, fmt.Sprintf("The tag of image %q was moved from %s to %s. %s",
		labels.distribution.Image, labels.digest, labels.tag.moved, what))
}

// follow takes the image that the tag stands for now. An image of the catalogue is known by its name; any other is read
// before.
func (r *Reconciler) follow(target registry.Target, stack *stack, image *resolvedImage, labels *imageLabels) {
	if image.from == v1alpha2.ImageFromCatalogue {
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
		labels.tag.stale = fmt.Sprintf("The tag of image %q stands for %s, which cannot be used, and the pods keep %s: %s",
			image.distribution.Image, labels.tag.moved, labels.digest, status.Shorten(err.Error(), maxCause))
	}
}

// adopt takes an image that was read in place of the one that runs.
func (l *imageLabels) adopt(outcome registry.Outcome, stack *stack, image *resolvedImage) error {
	if outcome.Err != nil {
		return outcome.Err
	}
	read := outcome.Image
	if l.config != nil && read.Config == nil {
		return fmt.Errorf("it has no configuration in its labels, see %q", "kubectl llamastack image label")
	}
	changed, err := image.distribution.WithLabel(read.Release, read.ReleaseLabel == registry.LabelRelease)
	if err != nil {
		return err
	}
	changed.Entrypoint = read.Entrypoint
	l.distribution, l.digest, l.tag = changed, read.Digest, imageTag{}
	if wantsLabelledBase(stack) {
		l.config = read.Config
	}
	return nil
}
