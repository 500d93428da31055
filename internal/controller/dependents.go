package controller

import (
	"context"
	"errors"
	"slices"

	"github.com/llamastack/llama-stack-k8s-operator/internal/apply"
	"github.com/llamastack/llama-stack-k8s-operator/internal/render"
)

// refusal is a child that the API server refused.
type refusal struct {
	child apply.Child
	err   error
}

// applyPods applies what the pods need to start, who may connect to them, and the
// Deployment. The first refusal ends it: without one of these the pods would not
// start, or would serve whom they may not, and those that run are left as they are,
// with the Service that fits them.
func (r *Reconciler) applyPods(ctx context.Context, s *state) error {
	needed := slices.DeleteFunc(slices.Clone(s.claims[:s.firstDependent()]), func(claim apply.Desired) bool {
		applied := claim.Wanted.GetKind() == kindClaim && claim.Live != nil // by applyVolume
		return applied || comesLater(claim)
	})
	applied, err := r.applier.Set(ctx, s.owner(), needed)
	s.applied = append(s.applied, applied...)
	return err
}

// applyDependents applies what points at the pods, each whatever becomes of the
// others: a quota of Services is no reason to leave a NetworkPolicy out.
func (r *Reconciler) applyDependents(ctx context.Context, s *state) {
	for i, claim := range s.claims {
		if i < s.firstDependent() && !comesLater(claim) {
			continue
		}
		applied, err := r.applier.Set(ctx, s.owner(), []apply.Desired{claim})
		if err != nil {
			child := apply.Child{Kind: claim.Wanted.GroupVersionKind(), Name: claim.Wanted.GetName()}
			s.refused = append(s.refused, refusal{child, err})
		}
		s.applied = append(s.applied, applied...)
	}
}

// comesLater reports whether it is a NetworkPolicy that is in force already. The pods
// that run answer on the port that it names: it changes after the Deployment did.
func comesLater(claim apply.Desired) bool {
	return claim.Wanted.GetKind() == kindNetworkPolicy && claim.Live != nil
}

const kindNetworkPolicy = "NetworkPolicy"

// firstDependent is where in the claims stands what comes after the Deployment.
func (s *state) firstDependent() int {
	return 1 + slices.IndexFunc(s.claims, func(c apply.Desired) bool { return isDeployment(c.Wanted) })
}

// refusedAny says that a child of one of these kinds was refused.
func (s *state) refusedAny(kinds ...string) bool {
	return slices.ContainsFunc(s.refused, func(r refusal) bool { return slices.Contains(kinds, r.child.Kind.Kind) })
}

// refusedExposure says that what should expose the stack was refused.
func (s *state) refusedExposure() bool {
	for _, kind := range render.ExposureKinds() {
		if s.refusedAny(kind.Kind) {
			return true
		}
	}
	return false
}

// refused ends a reconcile some of whose children were refused. What passes by
// itself is told only when there is nothing else to tell.
func (*Reconciler) refused(_ context.Context, s *state) error {
	var lasting, all []error
	for _, refused := range s.refused {
		all = append(all, refused.err)
		if !passing(refused.err) {
			lasting = append(lasting, refused.err)
		}
	}
	if len(lasting) > 0 {
		return errors.Join(lasting...)
	}
	return errors.Join(all...)
}
