package faults_test

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil"
)

// stormLasts is the duration of most faults in this file.
const stormLasts = 3 * time.Second

// storms lists the faults between the operator and the API server.
var storms = []fault{
	{name: "every write is answered with 409", strikes: []strike{storm(answers(http.StatusConflict))}, spec: changed},
	{
		name: "every write is answered with 429", slow: true,
		strikes: []strike{storm(answers(http.StatusTooManyRequests))}, spec: changed,
	},
	{
		name: "every write is answered with 500", slow: true,
		strikes: []strike{storm(answers(http.StatusInternalServerError))}, spec: changed,
	},
	{
		name: "every second write is answered with 409", slow: true,
		strikes: []strike{storm(everySecond(answers(http.StatusConflict)))}, spec: changed,
	},
	{name: "every call is delayed by a second", slow: true, strikes: []strike{storm(late)}, spec: changed},
	{name: "the API server is unavailable", strikes: []strike{outage(stormLasts)}, spec: changed},
	{name: "the API server is unavailable for two minutes", slow: true, strikes: []strike{outage(2 * time.Minute)}, spec: changed},
	{name: "no call arrives", strikes: []strike{storm(func(call) verdict { return verdict{lost: true} })}, spec: changed},
	{
		name: "no response arrives", slow: true,
		strikes: []strike{storm(func(c call) verdict { return verdict{unanswered: c.write > 0} })}, spec: changed,
	},
	{name: "the API server's certificate has expired", strikes: []strike{expiredCertificate}, spec: changed},
	{name: "the operator's token becomes invalid, and is rotated", slow: true, strikes: []strike{voidToken}, spec: changed},
}

// storm applies a rule for the duration of stormLasts.
func storm(rule rule) strike {
	return func(t *testing.T, th *theatre, _ *stage) func() {
		t.Helper()
		th.operator.set(rule)
		return func() {
			eventually(t, "the end of the storm", after(stormLasts))
			th.operator.calm()
		}
	}
}

// outage makes the API server unreachable for the given duration.
func outage(lasts time.Duration) strike {
	return func(t *testing.T, th *theatre, _ *stage) func() {
		t.Helper()
		th.operator.outage()
		return func() {
			testutil.Within(t, lasts+patience, after(lasts))
			th.operator.calm()
		}
	}
}

func answers(code int) rule {
	return func(c call) verdict {
		if c.write == 0 {
			return verdict{}
		}
		return verdict{status: code}
	}
}

func everySecond(r rule) rule {
	return func(c call) verdict {
		if c.write%2 == 0 {
			return verdict{}
		}
		return r(c)
	}
}

func late(call) verdict { return verdict{delay: time.Second} }

// expiredCertificate makes the gate use an expired certificate, so that new connections fail.
func expiredCertificate(t *testing.T, th *theatre, _ *stage) func() {
	t.Helper()
	th.operator.show(th.operator.expired)
	return func() {
		eventually(t, "the end of the storm", after(stormLasts))
		th.operator.show(th.operator.good)
	}
}

// voidToken deletes the object to which the operator's token is bound, and gives the operator a new token at the end.
func voidToken(t *testing.T, th *theatre, s *stage) func() {
	t.Helper()
	bound := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: names.OperatorNamespace, Name: "bound"}}
	s.create(t, bound)
	token := th.operator.giveToken(t, bound)
	th.operator.restart(t)
	eventually(t, "the operator works with its token", func() error { return th.operator.answered(http.StatusOK) })
	testutil.Must(t, s.Delete(t.Context(), bound))
	eventually(t, "the API server rejects the token", func() error { return th.refuses(t, token) })
	return func() {
		eventually(t, "the API server rejects a call of the operator", func() error { return th.operator.answered(http.StatusUnauthorized) })
		th.operator.giveToken(t, nil)
	}
}

// refuses returns an error until the API server rejects a token. The API server caches the validity of a token for a
// few seconds.
func (c *cluster) refuses(t *testing.T, token string) error {
	t.Helper()
	config := rest.AnonymousClientConfig(c.Plane.Config)
	config.BearerToken = token
	bearer, err := client.New(config, client.Options{Scheme: c.Scheme()})
	if err == nil {
		err = bearer.Create(t.Context(), &authenticationv1.SelfSubjectReview{})
	}
	if !apierrors.IsUnauthorized(err) {
		return fmt.Errorf("the API server does not reject the token: %w", err)
	}
	return nil
}

// answered returns nil if a call has received a response with this status since the last change to the rule.
func (g *gate) answered(status int) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.answers[status] == 0 {
		return fmt.Errorf("no call was answered with status %d", status)
	}
	return nil
}
