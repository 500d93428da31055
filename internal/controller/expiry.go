package controller

import (
	"fmt"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
)

// expiryNotice is how long before its end a certificate is warned of.
const expiryNotice = 14 * 24 * time.Hour

// expiring warns of a certificate that ends soon. Nothing changes in the cluster
// when that time comes, nor when the certificate ends: the stack is looked at
// again at both.
func (r *Reconciler) expiring(s *state) string {
	secret, end := s.secrets.Expiry()
	if secret == "" {
		return ""
	}
	if notice := end.Add(-expiryNotice); r.now().Before(notice) {
		s.wakeAt(notice)
		return ""
	}
	s.wakeAt(end.Add(time.Second)) // its last second is a good one
	warning := fmt.Sprintf("; the certificate in Secret %q expires on %s: renew it, the pods are then replaced once",
		secret, end.UTC().Format(time.DateOnly))
	was := meta.FindStatusCondition(s.object.Status.Conditions, v1alpha2.ConditionSecretsResolved)
	if was == nil || !strings.HasSuffix(was.Message, warning) {
		s.events = append(s.events, warn(v1alpha2.EventCertificateExpires, strings.TrimPrefix(warning, "; ")))
	}
	return warning
}

// wakeAt asks for another reconcile at a time, the earliest that is asked for.
func (s *state) wakeAt(at time.Time) {
	if s.wake.IsZero() || at.Before(s.wake) {
		s.wake = at
	}
}

// wakeAfter is the time until then; zero: nobody asked.
func (s *state) wakeAfter(now time.Time) time.Duration {
	if s.wake.IsZero() {
		return 0
	}
	return max(s.wake.Sub(now), time.Second)
}
