package trial

import (
	"context"
	"fmt"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/llamastack/llama-stack-k8s-operator/internal/cluster/share"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/refusal"
)

// Result is the API server's judgment of the objects of a stack.
type Result struct {
	// Errors lists the invalid fields of objects, each with the path in the spec if it is known.
	Errors []string
	// Warnings lists rejections that an administrator or another state of the cluster can change, and invalid fields that
	// the stored stack has too.
	Warnings []string
	// Unchecked lists the objects that the API server did not judge, with the cause.
	Unchecked []string
}

// Run tries the objects of a stack, all at the same time. stored is the stack that an update replaces, or nil.
func Run(ctx context.Context, writer client.Writer, rendered, stored *Rendering) Result {
	var found Result
	var refused []refusedObject
	var unfit []string
	answers := each(rendered.objects, func(one object) error { return apply(ctx, writer, one) })
	for i, one := range rendered.objects {
		err := answers[i]
		switch {
		case err == nil:
		case refusal.Invalid(err) && one.GetKind() == kindPod:
			unfit = rendered.explain(err, one)
		case refusal.Invalid(err):
			refused = append(refused, refusedObject{one, err})
		case !depends(err):
			found.leaveOut(one, err)
		case stored == nil || !rendered.frees(one, err):
			found.Warnings = append(found.Warnings, currently(one, err))
		}
	}
	if !slices.ContainsFunc(refused, func(one refusedObject) bool { return one.GetKind() == kindDeployment }) {
		// The template in the Deployment is valid, so admission has changed the pod. For example, a LimitRange sets a limit
		// that is less than the request.
		found.Warnings = append(found.Warnings, unfit...)
	}
	judge(ctx, writer, &found, rendered, stored, refused)
	return found
}

type object = *unstructured.Unstructured

// refusedObject is an object that the API server rejects as invalid.
type refusedObject struct {
	object
	err error
}

// judge determines which of the refused objects make the stack invalid.
func judge(
	ctx context.Context, writer client.Writer, found *Result, rendered, stored *Rendering, refused []refusedObject,
) {
	var again, before []object
	for _, one := range refused {
		again, before = append(again, one.object), append(before, stored.find(one.object))
	}
	alone := each(again, func(one object) error { return create(ctx, writer, one) })
	earlier := each(before, func(one object) error { return apply(ctx, writer, one) })
	for i, one := range refused {
		if !lasting(one, alone[i]) {
			continue
		}
		var known []string
		if before[i] != nil {
			known = stored.explain(earlier[i], before[i])
		}
		for _, text := range rendered.own(one, alone[i]) {
			if slices.Contains(known, text) {
				found.Warnings = append(found.Warnings, text)
			} else {
				found.Errors = append(found.Errors, text)
			}
		}
	}
}

// lasting reports whether the API server would also reject a real apply of a refused object. alone is the answer to a
// new object with the same content. If only the change to an existing object is refused, the operator usually avoids
// the refusal: it keeps what cannot change in a volume claim, and first takes over the fields of other programs.
func lasting(one refusedObject, alone error) bool {
	if refusal.Invalid(alone) || strings.Contains(one.err.Error(), "metadata.name:") {
		return true
	}
	return alone == nil && one.GetKind() != kindClaim && strings.Contains(one.err.Error(), "immutable")
}

// own explains the refusal of an object without the problems of an object with the same name. The API server merges the
// two, so that its answer repeats values of the existing object, which the clients of the webhook might not be allowed
// to read. alone is the answer to a new object.
func (r *Rendering) own(one refusedObject, alone error) []string {
	found := r.explain(alone, one.object)
	for _, text := range r.explain(one.err, one.object) {
		if strings.HasPrefix(text, "metadata.name:") || strings.HasSuffix(text, "immutable") {
			found = append(found, text)
		}
	}
	return found
}

// frees reports whether old pods stop before new ones start, so that the quota that rejects a pod now has enough room
// for it in an update.
func (r *Rendering) frees(one object, err error) bool {
	return one.GetKind() == kindPod && strings.Contains(err.Error(), "exceeded quota") &&
		slices.ContainsFunc(r.objects, replaces)
}

// depends reports whether the API server rejected an object because of the state of the cluster: a quota, a LimitRange,
// Pod Security, a policy or a webhook. It returns false for a missing ServiceAccount, because tools create objects in
// any order.
func depends(err error) bool {
	if refusal.Denied(err) {
		return true
	}
	message := err.Error()
	return (apierrors.IsForbidden(err) || strings.Contains(message, " denied request")) &&
		!refusal.LacksPermission(err) && !strings.Contains(message, "error looking up service account") &&
		!apierrors.HasStatusCause(err, "NamespaceTerminating")
}

// currently returns the warning about a rejection that depends on the state of the cluster. It contains no consumption,
// because the clients of the webhook are not authenticated.
func currently(one object, err error) string {
	reason, _, _ := strings.Cut(reasonOf(err), ", used: ")
	return fmt.Sprintf("the API server currently rejects %s %q: %s", one.GetKind(), refusal.Name(one), reason)
}

// leaveOut records that an object was not judged. One text names all objects with the same cause.
func (r *Result) leaveOut(one object, err error) {
	cause := reasonOf(err)
	if refusal.LacksPermission(err) {
		cause = "a dry run needs the permissions to create and to patch objects of this kind"
	}
	name, separator := fmt.Sprintf("%s %q", one.GetKind(), refusal.Name(one)), " not judged by the API server: "
	for i, text := range r.Unchecked {
		if names, same := strings.CutSuffix(text, separator+cause); same {
			r.Unchecked[i] = names + ", " + name + separator + cause
			return
		}
	}
	r.Unchecked = append(r.Unchecked, name+separator+cause)
}

// reasonOf returns the API server's message without the name of the object.
func reasonOf(err error) string {
	message := refusal.Reason(err.Error())
	if _, reason, ok := strings.Cut(message, " is forbidden: "); ok {
		return reason
	}
	return message
}

// each sends all objects at the same time, and returns the errors. It skips objects that are nil.
func each(objects []object, send func(object) error) []error {
	errs := make([]error, len(objects))
	var all []int
	for i, one := range objects {
		if one != nil {
			all = append(all, i)
		}
	}
	share.Parallel(all, func(i int) { errs[i] = send(objects[i]) })
	return errs
}

// apply applies an object as package apply does, but without looking for an existing object first. A pod is always a
// new object.
func apply(ctx context.Context, writer client.Writer, one object) error {
	if one.GetKind() == kindPod {
		return create(ctx, writer, one)
	}
	data, err := one.MarshalJSON()
	if err != nil {
		return fmt.Errorf("encode %s %q: %w", one.GetKind(), one.GetName(), err)
	}
	answer := &metav1.PartialObjectMetadata{}
	answer.SetGroupVersionKind(one.GroupVersionKind())
	answer.SetNamespace(one.GetNamespace())
	answer.SetName(one.GetName())
	return writer.Patch(ctx, answer, client.RawPatch(types.ApplyPatchType, data), client.DryRunAll,
		client.ForceOwnership, client.FieldOwner(names.FieldManager), client.FieldValidation(metav1.FieldValidationIgnore))
}

// create creates an object with the same content and a new name.
func create(ctx context.Context, writer client.Writer, one object) error {
	one = one.DeepCopy()
	if name := one.GetName(); name != "" {
		one.SetGenerateName(name + "-")
		one.SetName("")
	}
	return writer.Create(ctx, one, client.DryRunAll, client.FieldOwner(names.FieldManager))
}
