package controller

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/cluster/stub"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/status"
	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil"
)

func TestClassify(t *testing.T) {
	services := schema.GroupResource{Resource: "services"}
	terminating := apierrors.NewForbidden(services, "x", errors.New("namespace is being terminated"))
	terminating.ErrStatus.Details.Causes = []metav1.StatusCause{{Type: corev1.NamespaceTerminatingCause}}
	fields := apierrors.NewInvalid(schema.GroupKind{Kind: "Service"}, "x", field.ErrorList{field.Required(field.NewPath("spec"), "")})
	quota := apierrors.NewForbidden(services, "x", errors.New("exceeded quota: q"))
	denied := apierrors.NewInvalid(schema.GroupKind{Kind: "Service"}, "x", nil)
	own := &status.Failure{Condition: "C", Reason: "R", Retry: status.Later}
	type outcome struct {
		retry  status.Retry
		reason string
	}
	wait := outcome{status.Quiet, v1alpha2.ReasonProgressing}
	again := outcome{status.Backoff, v1alpha2.ReasonDeploymentUpdateFailed}
	invalid := outcome{status.Invalid, v1alpha2.ReasonDeploymentUpdateFailed}
	for name, tc := range map[string]struct {
		err  error
		want outcome
	}{
		"failure of a step":          {fmt.Errorf("wrapped: %w", own), outcome{status.Later, "R"}},
		"conflict":                   {apierrors.NewConflict(services, "x", errors.New("changed")), wait},
		"wrapped conflict":           {fmt.Errorf("apply: %w", apierrors.NewConflict(services, "x", nil)), wait},
		"object already exists":      {apierrors.NewAlreadyExists(services, "x"), wait},
		"too many requests":          {apierrors.NewTooManyRequests("later", 1), wait},
		"server timeout":             {apierrors.NewTimeoutError("slow", 1), wait},
		"API server is unreachable":  {&url.Error{Op: "Patch", URL: "https://h", Err: errors.New("refused")}, wait},
		"deadline exceeded":          {context.DeadlineExceeded, wait},
		"namespace is being deleted": {terminating, wait},
		"exceeded quota":             {quota, again},
		"a child that is too large": {
			fmt.Errorf("read: %w", &stub.TooLargeError{}), outcome{status.OnReferenceChange, again.reason},
		},
		"invalid field":                    {fmt.Errorf("apply: %w", fields), invalid},
		"two invalid fields":               {errors.Join(fields, fields), invalid},
		"invalid field and exceeded quota": {errors.Join(fields, quota), again},
		"denied by a policy":               {denied, again},
		"denied by a webhook":              {denial(http.StatusForbidden), again},
		"denied with a conflict's code":    {denial(http.StatusConflict), again},
		"denied as too many requests":      {denial(http.StatusTooManyRequests), again},
		"failed webhook":                   {apierrors.NewInternalError(errors.New("failed calling webhook")), again},
		"unknown error of the apply":       {errors.New("surprise"), again},
	} {
		t.Run(name, func(t *testing.T) {
			got := classify(tc.err, v1alpha2.ConditionDeploymentUpdated)
			if is := (outcome{got.Retry, got.Reason}); is != tc.want {
				t.Errorf("classify: %+v, want %+v", is, tc.want)
			}
		})
	}
	for _, err := range []error{errors.New("surprise"), apierrors.NewForbidden(services, "x", nil)} {
		got := classify(err, v1alpha2.ConditionConfigGenerated)
		if got.Retry != status.Backoff || got.Reason != v1alpha2.ReasonInternalError {
			t.Errorf("classify of a step before the apply: %+v", got)
		}
	}
}

// denial returns the API server's error for a rejection by a webhook.
func denial(code int32) error {
	return fmt.Errorf("apply: %w", &apierrors.StatusError{ErrStatus: metav1.Status{
		Status: metav1.StatusFailure, Code: code, Message: `admission webhook "a.example.com" denied the request: no`,
	}})
}

// TestRemedy checks that the messages about a webhook that cannot be reached and about a missing permission contain a
// remedy, and that other messages from the API server do not change.
func TestRemedy(t *testing.T) {
	failed := apierrors.NewInternalError(errors.New(`failed calling webhook "a.example.com": EOF`))
	want := `Internal error occurred: failed calling webhook "a.example.com": EOF; the webhook does not belong to the operator: ` +
		`ask the administrator of the webhook to make the webhook available or to remove the webhook configuration`
	if got := classify(failed, v1alpha2.ConditionDeploymentUpdated).Message; got != want {
		t.Errorf("message %q, want %q", got, want)
	}
	forbidden := func(cause string) error {
		return fmt.Errorf("read: %w", apierrors.NewForbidden(schema.GroupResource{Resource: "secrets"}, "x", errors.New(cause)))
	}
	lacking := forbidden(`User "system:serviceaccount:o:m" cannot get resource "secrets" in API group "" in the namespace "a"`)
	want = lacking.Error() + "; the operator's roles differ from those in its release: ask an administrator to install " +
		"the operator's manifest or chart again"
	if got := classify(lacking, v1alpha2.ConditionSecretsResolved).Message; got != want {
		t.Errorf("message %q, want %q", got, want)
	}
	for _, unchanged := range []error{denial(http.StatusForbidden), forbidden("exceeded quota: q")} {
		if got := classify(unchanged, v1alpha2.ConditionDeploymentUpdated).Message; got != unchanged.Error() {
			t.Errorf("message %q, want %q", got, unchanged)
		}
	}
}

// TestRejectedValue checks that the message about an invalid field does not contain the API server's form of an object.
func TestRejectedValue(t *testing.T) {
	invalid := apierrors.NewInvalid(schema.GroupKind{Group: "apps", Kind: "Deployment"}, "x", field.ErrorList{
		field.Invalid(field.NewPath("spec", "a"), map[string]any{"Capabilities": nil}, "cannot set this"),
		field.Invalid(field.NewPath("spec", "b"), "A_b", "not a label"),
	})
	const want = `Deployment.apps "x" is invalid: [spec.a: cannot set this, spec.b: Invalid value: "A_b": not a label]`
	if got := classify(invalid, v1alpha2.ConditionDeploymentUpdated).Message; got != want {
		t.Errorf("message %q, want %q", got, want)
	}
}

func TestResult(t *testing.T) {
	for name, tc := range map[string]struct {
		failure *status.Failure
		asked   time.Duration
		after   time.Duration
		fails   bool
	}{
		"no failure":                        {nil, 0, 0, false},
		"until the stack changes":           {&status.Failure{Retry: status.OnObjectChange}, 0, 0, false},
		"until a referenced object changes": {&status.Failure{Retry: status.OnReferenceChange}, 0, 0, false},
		"invalid object":                    {&status.Failure{Retry: status.Invalid}, 0, status.InvalidRetry, false},
		"object of another owner":           {&status.Failure{Retry: status.Later}, time.Hour, status.OwnershipRetry, false},
		"retry with growing delays":         {&status.Failure{Retry: status.Backoff}, time.Hour, 0, true},
		"requested time without a failure":  {nil, time.Hour, time.Hour, false},
		"requested time with a failure":     {&status.Failure{Retry: status.OnReferenceChange}, time.Hour, time.Hour, false},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := result(tc.failure, tc.asked)
			if got != (reconcile.Result{RequeueAfter: tc.after}) || (err != nil) != tc.fails {
				t.Errorf("result: %+v, %v", got, err)
			}
		})
	}
}

// TestPause checks that a stack is retried within a few seconds if the API server does not respond, even after many
// attempts. It also checks that the pause after conflicts grows up to lastRetry, and that the pauses are short again
// after a response.
func TestPause(t *testing.T) {
	refused := &url.Error{Op: "Patch", URL: "https://h", Err: errors.New("refused")}
	quiet := func(err error) *status.Failure { return &status.Failure{Retry: status.Quiet, Err: err} }
	for name, tc := range map[string]struct {
		failure *status.Failure
		err     error
		longest time.Duration
	}{
		"no failure":                {nil, nil, 0},
		"no response to a step":     {quiet(refused), nil, 7500 * time.Millisecond},
		"no response to the status": {nil, fmt.Errorf("write status: %w", refused), 7500 * time.Millisecond},
		"too many requests":         {quiet(apierrors.NewTooManyRequests("later", 1)), nil, 7500 * time.Millisecond},
		"a conflict":                {quiet(apierrors.NewConflict(schema.GroupResource{}, "x", nil)), nil, lastRetry},
		"a cache that lags behind":  {quiet(nil), nil, lastRetry},
		"quiet failure and error":   {quiet(nil), errors.New("a defect"), 0},
		"an unreachable registry":   {&status.Failure{Retry: status.OnReferenceChange, Err: refused}, nil, 0},
		"a rejection":               {&status.Failure{Retry: status.Backoff, Err: apierrors.NewForbidden(schema.GroupResource{}, "x", nil)}, nil, 0},
		"rejection and no response": {&status.Failure{Retry: status.Backoff}, refused, 7500 * time.Millisecond},
	} {
		t.Run(name, func(t *testing.T) {
			retries, longest := newRetries(), time.Duration(0)
			for range 20 {
				longest = max(longest, retries.pause(reconcile.Request{}, tc.failure, tc.err))
			}
			if longest > tc.longest || longest < tc.longest*2/3 {
				t.Errorf("longest pause %v, want up to %v", longest, tc.longest)
			}
		})
	}
	retries := newRetries()
	for range 20 {
		retries.pause(reconcile.Request{}, quiet(refused), nil)
	}
	retries.pause(reconcile.Request{}, nil, nil)
	if first := retries.pause(reconcile.Request{}, quiet(refused), nil); first > 300*time.Millisecond {
		t.Errorf("the first pause after a response is %v", first)
	}
}

// TestPanicIsAFailure checks that runStep converts a panic to a failure of the step, and that the failure does not
// contain the value of the panic, which may contain secrets.
func TestPanicIsAFailure(t *testing.T) {
	panics := step{"plan", v1alpha2.ConditionConfigGenerated, func(context.Context, *Reconciler, *state) error { panic("secret value") }}
	err := (&Reconciler{}).runStep(t.Context(), panics, nil)
	failure, ok := errors.AsType[*status.Failure](err)
	if !ok {
		t.Fatalf("runStep: %v, want a failure", err)
	}
	want := status.Failure{
		Condition: v1alpha2.ConditionConfigGenerated, Reason: v1alpha2.ReasonInternalError, Retry: status.Backoff,
		Message: `The operator has a defect in step "plan"; report the defect with the details in the operator's log`,
	}
	if strings.Contains(failure.Error(), "secret") {
		t.Errorf("the error contains the panic's value: %v", failure)
	}
	failure.Err = nil
	if *failure != want {
		t.Errorf("runStep: %+v, want %+v", *failure, want)
	}
}

// TestTooLargeDeployment checks that the status names a Deployment that is too large for the work with it, and that the
// operator waits for a change to it. The other fields of the status follow the Deployment.
func TestTooLargeDeployment(t *testing.T) {
	own := testutil.NewStack(t, `{distribution: {name: starter}}`)
	deployment := &appsv1.Deployment{ObjectMeta: testutil.ChildMeta(own, own.Name)}
	deployment.Annotations = map[string]string{"digest of the whole object": "", "a": strings.Repeat("x", 5<<20)}
	deployment.Status.AvailableReplicas = 3
	f := newFixture(t, own, deployment)
	got, err := f.Reconcile(t.Context(), reconcile.Request{NamespacedName: keyOf(own)})
	if err != nil || got.RequeueAfter != 0 || len(f.writes) > 0 || f.status == nil {
		t.Fatalf("requeued after %v; writes %v; status %v; error %v", got.RequeueAfter, f.writes, f.status, err)
	}
	const want = `Deployment "my" needs more than 4 MiB of memory; remove the entries, labels and annotations that other programs added to it`
	updated := meta.FindStatusCondition(f.status.Conditions, v1alpha2.ConditionDeploymentUpdated)
	if updated.Reason != v1alpha2.ReasonDeploymentUpdateFailed || updated.Message != want ||
		f.status.AvailableReplicas != 3 {
		t.Errorf("%d available replicas, condition %+v", f.status.AvailableReplicas, updated)
	}
}
