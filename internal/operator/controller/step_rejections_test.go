package controller

import (
	"errors"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/llamastack/llama-stack-k8s-operator/internal/cluster/apply"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/refusal"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/render"
)

// TestReportRejections checks that the error contains permanent rejections and omits transient ones, and that
// rejectedExposure reports whether the API server rejected a new exposure, so that the existing exposure is kept.
func TestReportRejections(t *testing.T) {
	conflict := apierrors.NewConflict(schema.GroupResource{Resource: "services"}, "my", errors.New("changed"))
	denied := errors.New("denied")
	kind := func(name string) apply.Child {
		return apply.Child{Kind: schema.GroupVersionKind{Kind: name}, Name: "my"}
	}
	var done applied
	if err := reportRejections(done.rejections); err != nil || done.rejectedExposure() {
		t.Errorf("error %v without a rejection", err)
	}
	done.rejections = []rejection{{kind("Service"), conflict}}
	if err := reportRejections(done.rejections); !refusal.Transient(err) || done.rejectedExposure() {
		t.Errorf("error %v, want a transient error", err)
	}
	done.rejections = append(done.rejections, rejection{kind(render.HTTPRouteKind.Kind), denied})
	if err := reportRejections(done.rejections); err == nil || err.Error() != "denied" {
		t.Errorf("error %v, want the lasting rejection", err)
	}
	if !done.rejectedExposure() {
		t.Error("the Ingress does not stay while the HTTPRoute is rejected")
	}
}
