package controller

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/operatorconfig"
	"github.com/llamastack/llama-stack-k8s-operator/internal/status"
)

// TestBoundsOfAStack checks that the administrator's bounds for a namespace are enforced, and that only older stacks in
// the namespace count toward the maximum number of stacks. If two stacks were created in the same second, the names
// determine which one is older.
func TestBoundsOfAStack(t *testing.T) {
	const plain = `{distribution: {name: starter}}`
	const (
		ask    = `ask an administrator to change the key "bounds" in the operator's ConfigMap`
		places = `Namespace "team" can have at most 1 stack, and this stack exceeds the limit; delete older stacks, or ` + ask
	)
	another := func(namespace, name string, age time.Duration) client.Object {
		other := newStack(t, plain)
		other.Namespace, other.Name, other.UID = namespace, name, "other"
		other.CreationTimestamp = metav1.NewTime(time.Unix(1e9, 0).Add(-age))
		return other
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
		"an older stack": {
			"[{stacks: 1}]", plain, []client.Object{another("team", "z", time.Hour)}, places,
		},
		"a newer stack": {
			"[{stacks: 1}]", plain, []client.Object{another("team", "a", -time.Hour)}, "",
		},
		"a stack that was created in the same second": {"[{stacks: 1}]", plain, []client.Object{another("team", "a", 0)}, places},
		"an older stack in another namespace": {
			"[{stacks: 1}]", plain, []client.Object{another("theirs", "a", time.Hour)}, "",
		},
	} {
		t.Run(name, func(t *testing.T) {
			own := newStack(t, tc.spec)
			own.CreationTimestamp = metav1.NewTime(time.Unix(1e9, 0))
			f := newFixture(t, append(tc.others, own.DeepCopy(), newOperatorConfigMap(operatorconfig.KeyBounds, tc.rules))...)
			_, err := f.runSteps(t, own, "bounds")
			var want *status.Failure
			if tc.message != "" {
				want = &status.Failure{
					Condition: v1alpha2.ConditionValidationSucceeded, Reason: v1alpha2.ReasonForbiddenByBounds, Message: tc.message,
				}
			}
			checkFailure(t, err, want)
		})
	}
}
