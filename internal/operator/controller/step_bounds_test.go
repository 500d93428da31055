package controller

import (
	"errors"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/operatorconfig"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/status"
	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil"
)

// TestBoundsOfAStack checks that the administrator's bounds for a namespace are enforced, and that only older stacks in
// the namespace count toward the maximum number of stacks. If two stacks were created in the same second, the deployed
// one precedes, and otherwise the names determine the order. A user can therefore not deploy any number of stacks with
// descending names.
func TestBoundsOfAStack(t *testing.T) {
	const plain = `{distribution: {name: starter}}`
	const (
		ask    = `ask an administrator to change the key "bounds" in the operator's ConfigMap`
		places = `Namespace "team" can have at most 1 stack, and this stack exceeds the limit; delete older stacks, or ` + ask
	)
	another := func(namespace, name string, age time.Duration) client.Object {
		other := testutil.NewStack(t, plain)
		other.Namespace, other.Name, other.UID = namespace, name, "other"
		other.CreationTimestamp = metav1.NewTime(time.Unix(1e9, 0).Add(-age))
		return other
	}
	deployed := func(other client.Object) client.Object {
		stack := other.(*v1alpha2.LlamaStackDistribution)
		stack.Status.Conditions = []metav1.Condition{{
			Type: v1alpha2.ConditionValidationSucceeded, Status: metav1.ConditionTrue, Reason: v1alpha2.ReasonSpecValid,
		}}
		return stack
	}
	labeled := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "team", Labels: map[string]string{"tier": "trial"}}}
	for name, tc := range map[string]struct {
		rules, spec string
		others      []client.Object
		message     string
	}{
		"no rules":                    {"", plain, nil, ""},
		"rules of another namespace":  {"[{namespaces: [theirs], stacks: 0}]", plain, nil, ""},
		"invalid rules":               {"[{stacks: many}]", plain, nil, `The key "bounds" in the operator's ConfigMap is invalid, so the bounds for this stack are unknown; ask an administrator to correct the key`},
		"forbidden field":             {"[{podTemplate: false}]", `{distribution: {name: starter}, workload: {overrides: {podTemplate: {spec: {hostNetwork: true}}}}}`, nil, "spec.workload.overrides.podTemplate: is not allowed in this namespace: remove this field, or " + ask},
		"forbidden image":             {"[{images: [quay.io/team]}]", `{distribution: {image: "example.com/mine:1"}}`, nil, `spec.distribution.image: the image "example.com/mine:1" is not from a source that is allowed in this namespace: use an image from quay.io/team; or ` + ask},
		"allowed image":               {"[{images: [example.com]}]", `{distribution: {image: "example.com/mine:1"}}`, nil, ""},
		"one stack, limit one":        {"[{stacks: 1}]", plain, nil, ""},
		"one stack, limit zero":       {"[{stacks: 0}]", plain, nil, `Namespace "team" can have at most 0 stacks, and this stack exceeds the limit; delete older stacks, or ` + ask},
		"the labels of the namespace": {"[{namespaceLabels: {tier: full}}, {namespaceLabels: {tier: trial}, stacks: 1}]", plain, []client.Object{labeled, another("team", "z", time.Hour)}, places},
		"other labels":                {"[{namespaceLabels: {tier: full}, stacks: 0}]", plain, []client.Object{labeled}, ""},
		"an older stack":              {"[{stacks: 1}]", plain, []client.Object{another("team", "z", time.Hour)}, places},
		"a newer stack":               {"[{stacks: 1}]", plain, []client.Object{another("team", "a", -time.Hour)}, ""},
		"a stack that was created in the same second":  {"[{stacks: 1}]", plain, []client.Object{another("team", "a", 0)}, places},
		"a stack of the same second with a later name": {"[{stacks: 1}]", plain, []client.Object{another("team", "z", 0)}, ""},
		"a deployed stack of the same second with a later name": {
			"[{stacks: 1}]", plain, []client.Object{deployed(another("team", "z", 0))}, places,
		},
		"an older stack in another namespace": {
			"[{stacks: 1}]", plain, []client.Object{another("theirs", "a", time.Hour)}, "",
		},
	} {
		t.Run(name, func(t *testing.T) {
			own := testutil.NewStack(t, tc.spec)
			own.CreationTimestamp = metav1.NewTime(time.Unix(1e9, 0))
			config := testutil.NewOperatorConfigMap(operatorconfig.KeyBounds, tc.rules)
			f := newFixture(t, append(tc.others, own.DeepCopy(), config)...)
			_, err := f.runSteps(t, own, "bounds")
			var want *status.Failure
			if tc.message != "" {
				want = &status.Failure{
					Condition: v1alpha2.ConditionValidationSucceeded, Reason: v1alpha2.ReasonForbiddenByBounds, Message: tc.message,
				}
			}
			checkFailure(t, err, want)
			if len(f.writes) > 0 {
				t.Errorf("writes %v", f.writes)
			}
		})
	}
}

// TestStacksOfOneSecond checks that a stack waits until the other stacks of its second are known, if there are too
// many.
func TestStacksOfOneSecond(t *testing.T) {
	const spec = `{distribution: {name: starter}}`
	own, other := testutil.NewStack(t, spec), testutil.NewStack(t, spec)
	own.CreationTimestamp = metav1.NewTime(time.Now().Add(time.Hour).Truncate(time.Second))
	other.Name, other.UID, other.CreationTimestamp = "z", "other", own.CreationTimestamp
	for rule, wait := range map[string]bool{"[{stacks: 1}]": true, "[{stacks: 2}]": false} {
		f := newFixture(t, own.DeepCopy(), other.DeepCopy(), testutil.NewOperatorConfigMap(operatorconfig.KeyBounds, rule))
		_, err := f.runSteps(t, own.DeepCopy(), "bounds")
		failure, is := errors.AsType[*status.Failure](err)
		if waits := is && failure.Retry == status.Quiet; waits != wait {
			t.Errorf("%s: %v, want a quiet failure: %t", rule, err, wait)
		}
	}
}
