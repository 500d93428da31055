package probe_test

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/cluster/probe"
	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil"
)

const canary = "cAnArY-7d1f"

func provider(api, id, providerType, status, message string) v1alpha2.ProviderInfo {
	return v1alpha2.ProviderInfo{
		API: api, ProviderID: id, ProviderType: providerType,
		Health: v1alpha2.ProviderHealthStatus{Status: status, Message: message},
	}
}

// entry returns a provider in the form in which a server lists it.
func entry(id, status, message string) string {
	return fmt.Sprintf(`{"api": "inference", "provider_id": %q, "provider_type": "remote::vllm",
		"config": {"api_token": %q, "host": %q}, "health": {"status": %q, "message": %q}}`,
		id, canary, ":"+canary+"@redis", status, message)
}

func listing(entries ...string) string { return `{"data": [` + strings.Join(entries, ",") + `]}` }

// TestProviders checks that the result contains the sorted names and the health of a server's providers, and contains
// no value that could be a secret.
func TestProviders(t *testing.T) {
	const vllmType = "remote::vllm"
	const details = "; read the server's log for details"
	vllm := func(status, message string) []v1alpha2.ProviderInfo {
		return []v1alpha2.ProviderInfo{provider("inference", "vllm", vllmType, status, message)}
	}
	const notImplemented = "Provider does not implement health check"
	failing := func(message string) string { return listing(entry("vllm", "Error", message)) }
	for name, tc := range map[string]struct {
		answer string
		want   []v1alpha2.ProviderInfo
	}{
		"no providers": {`{"data": []}`, []v1alpha2.ProviderInfo{}},
		"sorted": {
			listing(`{"api": "safety", "provider_id": "a", "provider_type": "inline::llama-guard", "health": {"status": "Not Implemented"}}`,
				entry("z", "Not Implemented", "not "+canary), entry("b", "Not Implemented", "")),
			[]v1alpha2.ProviderInfo{
				provider("inference", "b", vllmType, "Not Implemented", notImplemented),
				provider("inference", "z", vllmType, "Not Implemented", notImplemented),
				provider("safety", "a", "inline::llama-guard", "Not Implemented", notImplemented),
			},
		},
		"healthy":        {listing(entry("vllm", "OK", canary)), vllm("OK", "")},
		"unknown status": {listing(entry("vllm", canary, canary)), vllm("Unknown", "")},
		"without health": {listing(`{"api": "inference", "provider_id": "vllm", "provider_type": "remote::vllm"}`), vllm("Unknown", "")},
		"health is null": {listing(`{"api": "inference", "provider_id": "vllm", "provider_type": "remote::vllm", "health": null}`), vllm("Unknown", "")},
		"credentials":    {failing("Health check failed: Error code: 401 - {'error': 'Incorrect API key " + canary + "'}"), vllm("Error", "The provider's service rejects the credentials"+details)},
		"not found (0.2.24)": {
			failing("Health check failed: Client error '404 Not Found' for url 'http://" + canary + "/health'\nFor more information check: https://developer.mozilla.org"),
			vllm("Error", "The provider's service has nothing at the configured address"+details),
		},
		"rejected request":  {failing("Client error '422 " + canary), vllm("Error", "The provider's service rejects the request"+details)},
		"server error":      {failing("Server error '502 Bad Gateway' for url '" + canary), vllm("Error", "The provider's service reports an internal error"+details)},
		"too many requests": {failing("Error code: 429 " + canary), vllm("Error", "The provider's service receives too many requests"+details)},
		"a problem of the provider itself": {
			failing("status: 503 " + canary),
			vllm("Error", "The provider's service reports an internal error"+details),
		},
		"timeout":         {failing("Health check timed out at http://u:" + canary + "@h"), vllm("Error", "The provider's service does not respond in time"+details)},
		"unreachable":     {failing("Connection error. " + canary), vllm("Error", "The provider's service cannot be reached"+details)},
		"unknown message": {failing(canary), vllm("Error", "The provider reports an error"+details)},
		"invalid names are left out": {listing(entry("a b", "OK", ""), entry("<script>", "OK", ""), entry("", "OK", ""),
			entry(strings.Repeat("x", 200), "OK", ""), entry("vllm", "OK", "")), vllm("OK", "")},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := start(t, answering("0.2.20", tc.answer), false)
			target := probe.Target{Stack: stack("my"), Rollout: "1", Port: 8321}
			got := b.answered(t, target)
			if diff := cmp.Diff(probe.Answer{Version: "0.2.20", Providers: tc.want, Concluded: true}, got); diff != "" {
				t.Errorf("answer (-want +got):\n%s", diff)
			}
			if text := fmt.Sprintf("%+v", got) + b.logged(); strings.Contains(text, canary) {
				t.Errorf("the result contains a secret:\n%s", text)
			}
		})
	}
}

// answered waits for the server's answer.
func (b *bench) answered(t *testing.T, target probe.Target) probe.Answer {
	t.Helper()
	var answer probe.Answer
	testutil.Within(t, soon, func() error {
		if answer = b.Ask(target); !answer.Concluded {
			return errors.New("no answer yet")
		}
		return nil
	})
	return answer
}

// TestNoProviders checks that the answer contains the version if the request for the providers fails, that the prober
// stops sending requests, and that the log contains no part of the responses.
func TestNoProviders(t *testing.T) {
	many := strings.Split(strings.Repeat(entry("vllm", "OK", "")+"\n", 201), "\n")[:201]
	for name, tc := range map[string]struct {
		handler  http.HandlerFunc
		requests int32 // without the request for the version
	}{
		"authentication":    {status(401), 1},
		"forbidden":         {status(403), 1},
		"no such path":      {status(404), 1},
		"server error":      {status(500), 5},
		"too many requests": {status(429), 5},
		"redirect":          {elsewhere, 1},
		"not JSON":          {sending(canary), 1},
		"cut off":           {sending(`{"data": [{"api": "` + canary), 1},
		"no data":           {sending(`{"detail": "` + canary + `"}`), 1},
		"data is null":      {sending(`{"data": null}`), 1},
		"not a list":        {sending(`{"data": {"inference": "` + canary + `"}}`), 1},
		"an invalid entry":  {sending(`{"data": ["` + canary + `"]}`), 1},
		"deeply nested":     {sending(`{"data": [{"config": ` + strings.Repeat("[", 100_000) + `}]}`), 1},
		"too many":          {sending(listing(many...)), 1},
		"too large":         {sending(listing(entry("vllm", "OK", strings.Repeat("x", 600<<10)))), 1},
		"endless":           {endless, 1},
		"no response":       {func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }, 5},
		"slow response": {func(w http.ResponseWriter, r *http.Request) {
			tick := time.NewTicker(10 * time.Millisecond)
			defer tick.Stop()
			for {
				select {
				case <-r.Context().Done():
					return
				case <-tick.C:
					fmt.Fprint(w, " ")
					_ = http.NewResponseController(w).Flush() // an error means that the prober closed the connection
				}
			}
		}, 5},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := startWith(t, probe.Options{Timeout: 200 * time.Millisecond}, func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path == "/v1/version" {
					answer("0.7.1")(w, r)
					return
				}
				tc.handler(w, r)
			}, false)
			target := probe.Target{Stack: stack("my"), Rollout: "1", Port: 8321}
			if diff := cmp.Diff(probe.Answer{Version: "0.7.1", Concluded: true}, b.answered(t, target)); diff != "" {
				t.Errorf("answer (-want +got):\n%s", diff)
			}
			if got := b.quiet(t); got != 1+tc.requests {
				t.Errorf("%d requests, want %d", got, 1+tc.requests)
			}
			if log := b.logged(); strings.Contains(log, canary) || !strings.Contains(log, "my") {
				t.Errorf("log:\n%s", log)
			}
		})
	}
}

// TestCertificate checks that a server with the certificate from its Secret is accepted, and that no request is sent to
// a server with a different certificate. If the certificate is unknown, any certificate is accepted.
func TestCertificate(t *testing.T) {
	for name, tc := range map[string]struct {
		certificate func(shown string) string
		want        string
		requests    int32
	}{
		"certificate of the Secret": {func(shown string) string { return shown }, "0.7.1", 3},
		"another certificate":       {func(string) string { return strings.Repeat("0", 64) }, "", 0},
		"unknown certificate":       {func(string) string { return "" }, "0.7.1", 3},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := start(t, answer("0.7.1"), true)
			got := b.answered(t, probe.Target{
				Stack: stack("my"), Rollout: "1", Port: 8321, TLS: true, Certificate: tc.certificate(b.certificate),
			})
			if got.Version != tc.want || b.requests.Load() != tc.requests {
				t.Errorf("version %q after %d requests, want %q after %d", got.Version, b.requests.Load(), tc.want, tc.requests)
			}
			if reason := "does not present the certificate"; strings.Contains(b.logged(), reason) != (tc.want == "") {
				t.Errorf("log:\n%s", b.logged())
			}
		})
	}
}

// TestHealth checks that the prober repeatedly queries a server that checks its providers, and that it calls Notify
// only for a change. After two failed attempts, the health is unknown.
func TestHealth(t *testing.T) {
	const interval = 20 * time.Millisecond
	var status atomic.Pointer[string]
	set := func(s string) { status.Store(&s) }
	set("OK")
	b := startWith(t, probe.Options{Interval: interval}, func(w http.ResponseWriter, r *http.Request) {
		if s := *status.Load(); s != "" {
			answering("0.2.20", listing(entry("vllm", s, "")))(w, r)
			return
		}
		w.WriteHeader(http.StatusServiceUnavailable)
	}, false)
	target := probe.Target{Stack: stack("my"), Rollout: "1", Port: 8321}
	told := 0
	expect := func(want string) {
		t.Helper()
		testutil.Within(t, soon, func() error {
			answer := b.Ask(target)
			if len(answer.Providers) != 1 || answer.Providers[0].Health.Status != want {
				return fmt.Errorf("answer %+v, want %q", answer, want)
			}
			return nil
		})
		told++
		after := b.requests.Load() + 4
		testutil.Within(t, soon, func() error {
			if got := b.requests.Load(); got < after {
				return fmt.Errorf("%d requests", got)
			}
			return nil
		})
		if got := len(b.toldOf()); got != told {
			t.Errorf("notified %d times, want %d", got, told)
		}
	}
	expect("OK")
	set("Error")
	expect("Error")
	set("")
	expect("Unknown")
	set("OK")
	expect("OK")

	b.Rest(target.Stack)
	rests := b.quiet(t)
	b.Ask(target)
	testutil.Within(t, soon, func() error {
		if got := b.requests.Load(); got == rests {
			return fmt.Errorf("no request after Ask: %d requests", got)
		}
		return nil
	})
	target.Rollout = "2"
	expect("OK")
	b.Forget(target.Stack)
	b.quiet(t)
}

// TestHealthBacksOff checks that the interval between requests grows while a server does not respond.
func TestHealthBacksOff(t *testing.T) {
	var good atomic.Bool
	good.Store(true)
	healthy := answering("0.2.20", listing(entry("vllm", "OK", "")))
	b := startWith(t, probe.Options{Interval: retry}, whenGood(&good, healthy), false)
	b.answered(t, probe.Target{Stack: stack("my"), Rollout: "1", Port: 8321})
	good.Store(false)
	before, since := b.requests.Load(), time.Now()
	testutil.Within(t, soon, func() error {
		if got := b.requests.Load() - before; got < 6 {
			return fmt.Errorf("%d requests", got)
		}
		return nil
	})
	// The pauses are 1, 2, 4, 8, 12 and 12 intervals long. The first pause may already have ended.
	if took := time.Since(since); took < 38*retry {
		t.Errorf("six requests in %v", took)
	}
}
