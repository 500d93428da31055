package server_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/llamastack/llama-stack-k8s-operator/internal/cli/app/server"
	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil"
)

const canary = "cAnArY-7d1f-51e2"

func clientOf(t *testing.T, handler http.HandlerFunc, change ...func(*server.Options)) *server.Client {
	t.Helper()
	backend := httptest.NewServer(handler)
	t.Cleanup(backend.Close)
	options := server.Options{URL: backend.URL}
	for _, c := range change {
		c(&options)
	}
	client, err := server.New(options)
	testutil.Must(t, err)
	t.Cleanup(client.Close)
	return client
}

func says(code int, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(code)
		fmt.Fprint(w, body)
	}
}

func TestNew(t *testing.T) {
	for _, url := range []string{"", "vllm:8000", "http://", "http://a b"} {
		if _, err := server.New(server.Options{URL: url}); err == nil {
			t.Errorf("no error for URL %q", url)
		}
	}
	if _, err := server.New(server.Options{URL: "http://a", Token: canary + "\nX: y"}); err == nil ||
		strings.Contains(err.Error(), canary) {
		t.Errorf("got %v", err)
	}
}

// Models decodes the responses from releases 0.3, 0.4 and 1.5, and rejects all other responses.
func TestModels(t *testing.T) {
	llm := server.Model{ID: "vllm/llama", Type: "llm", Provider: "vllm", ProviderModel: "llama"}
	for name, tc := range map[string]struct {
		body string
		want []server.Model
		err  string
	}{
		"0.3": {`{"data": [{"identifier": "vllm/llama", "provider_resource_id": "llama", "provider_id": "vllm", "type": "model", "metadata": {}, "model_type": "llm"}]}`, []server.Model{llm}, ""},
		"0.4": {`{"data": [{"id": "vllm/llama", "object": "model", "created": 1, "owned_by": "llama_stack", "custom_metadata": {"model_type": "llm", "provider_id": "vllm", "provider_resource_id": "llama"}}]}`, []server.Model{llm}, ""},
		"1.5, sorted": {
			`{"object": "list", "data": [{"id": "vllm/llama", "custom_metadata": {"model_type": "llm", "provider_id": "vllm", "provider_resource_id": "llama"}},
			 {"id": "st/embed\u001b[31m", "custom_metadata": {"model_type": "embedding", "provider_id": "st",
			 "provider_resource_id": "embed"}}, {"id": ""}]}`,
			[]server.Model{{ID: "st/embed[31m", Type: "embedding", Provider: "st", ProviderModel: "embed"}, llm},
			"",
		},
		"no models":  {`{"data": []}`, []server.Model{}, ""},
		"not JSON":   {canary, nil, "the server's response is not a list of models"},
		"other JSON": {`{"detail": "` + canary + `"}`, nil, "the server's response is not a list of models"},
		"too large":  {`{"data": ["` + strings.Repeat("x", 5<<20), nil, "the response to a request for /v1/models has more than 4194304 bytes"},
		"too many models": {
			`{"data": [` + strings.Repeat(`{"id":"a"},`, 5000) + `{"id":"b"}]}`, nil,
			"the response has more than 5000 models; set allowed_models in the settings of the inference providers to list fewer models",
		},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := clientOf(t, says(200, tc.body)).Models(t.Context())
			if diff := cmp.Diff(tc.want, got); diff != "" || text(err) != tc.err {
				t.Errorf("error %v, models (-want +got):\n%s", err, diff)
			}
		})
	}
}

func text(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

func TestRefusals(t *testing.T) {
	token := func(o *server.Options) { o.Token = canary }
	for name, tc := range map[string]struct {
		code   int
		body   string
		change []func(*server.Options)
		want   string
	}{
		"no token":    {401, "", nil, "the server requires a token; use --token-file FILE (status 401)"},
		"wrong token": {401, canary, []func(*server.Options){token}, "the server does not accept the token; check the token, or log in again (status 401)"},
		"forbidden":   {403, "", nil, "the server does not allow a request for /v1/models; ask its administrator for access (status 403)"},
		"rate limit":  {429, "", nil, "the server received too many requests; try again later (status 429)"},
		"error with a message": {
			400, `{"error": {"message": "no \u0007such thing as ` + canary + `, api_key=` + canary + `"}}`,
			[]func(*server.Options){token},
			"the server responded to a request for /v1/models with status 400: no such thing as <redacted>, api_key=<redacted>",
		},
		"pydantic":     {422, `{"error": {"detail": {"errors": [{"loc": ["a"], "msg": "Field required"}]}}}`, nil, "the server responded to a request for /v1/models with status 422: Field required"},
		"detail":       {404, `{"detail": "Not Found"}`, nil, "the server responded to a request for /v1/models with status 404: Not Found"},
		"server error": {500, `{"detail": "` + canary + `"}`, nil, "the server responded to a request for /v1/models with status 500; look at the server log"},
		"redirect":     {302, canary, nil, "the server responded to a request for /v1/models with status 302"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := clientOf(t, says(tc.code, tc.body), tc.change...).Models(t.Context())
			if text(err) != tc.want {
				t.Errorf("got  %v\nwant %s", err, tc.want)
			}
			if refused, is := errors.AsType[*server.RefusedError](err); !is || refused.Code != tc.code {
				t.Errorf("got %#v", err)
			}
		})
	}
}

func TestUnanswered(t *testing.T) {
	hanging := clientOf(t, func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() },
		func(o *server.Options) { o.Timeout = 20 * time.Millisecond })
	if _, err := hanging.Models(t.Context()); !strings.Contains(text(err), "the server did not respond to a request for /v1/models within the time limit; look at the server log, or set a longer --timeout") {
		t.Errorf("got %v", err)
	}
	gone := httptest.NewServer(http.NotFoundHandler())
	gone.Close()
	client, err := server.New(server.Options{URL: gone.URL})
	testutil.Must(t, err)
	if _, err := client.Models(t.Context()); !strings.Contains(text(err), "connection refused") {
		t.Errorf("got %v", err)
	}
}

// The client checks that a trusted authority issued the server's certificate, unless Authorities is nil. If no trusted
// authority issued the certificate, the client does not send a request, and therefore does not send the token.
func TestCertificate(t *testing.T) {
	for name, tc := range map[string]struct {
		authorities func(own *x509.Certificate) []*x509.Certificate
		want        string
	}{
		"certificate of the server": {func(own *x509.Certificate) []*x509.Certificate { return []*x509.Certificate{own} }, ""},
		"no known authority":        {func(*x509.Certificate) []*x509.Certificate { return nil }, ""},
		"no trusted authority":      {func(*x509.Certificate) []*x509.Certificate { return []*x509.Certificate{} }, "the server's certificate is not trusted: "},
	} {
		t.Run(name, func(t *testing.T) {
			requests := 0
			backend := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				requests++
				fmt.Fprint(w, `{"data": []}`)
			}))
			defer backend.Close()
			backend.Config.ErrorLog = nil
			client, err := server.New(server.Options{
				URL: backend.URL, Authorities: tc.authorities(backend.Certificate()),
				Token: canary,
			})
			testutil.Must(t, err)
			_, err = client.Models(t.Context())
			if (tc.want == "") != (err == nil) || !strings.Contains(text(err), tc.want) || (requests == 1) != (err == nil) {
				t.Errorf("%d requests, error %v", requests, err)
			}
		})
	}
}

// The certificate authority that issued an invalid certificate may already be trusted, so the remedy is a new
// certificate.
func TestInvalidCertificate(t *testing.T) {
	invalid := &tls.CertificateVerificationError{Err: x509.CertificateInvalidError{Reason: x509.Expired}}
	got := text(&server.UnansweredError{Path: "/v1/models", Err: invalid})
	for _, want := range []string{
		"the server's certificate is not valid: ", "has expired",
		"; replace the certificate in the Secret in spec.networking.tls.secretName",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestChoose(t *testing.T) {
	a := server.Model{ID: "vllm/llama-a", Type: "llm", Provider: "vllm", ProviderModel: "llama-a"}
	b := server.Model{ID: "openai/gpt", Type: "llm", Provider: "openai", ProviderModel: "gpt"}
	c := server.Model{ID: "azure/gpt", Type: "llm", Provider: "azure", ProviderModel: "gpt"}
	embed := server.Model{ID: "st/embed", Type: "embedding", Provider: "st", ProviderModel: "embed"}
	for name, tc := range map[string]struct {
		models []server.Model
		name   string
		wanted []server.Wanted
		want   string
		err    string
	}{
		"only one LLM": {[]server.Model{embed, a}, "", nil, a.ID, ""},
		"first wanted model": {
			[]server.Model{c, b, embed, a}, "", []server.Wanted{{Name: "embed"}, {Name: "llama-a"}, {Name: "gpt"}}, a.ID, "",
		},
		"wanted model of a provider": {
			[]server.Model{c, b, a}, "", []server.Wanted{{Name: "gpt", Provider: "openai"}}, b.ID, "",
		},
		"no wanted model":             {[]server.Model{b, a}, "", []server.Wanted{{Name: "x"}}, "", "the server has several models; select one with --model: openai/gpt, vllm/llama-a"},
		"no LLM":                      {[]server.Model{embed}, "", nil, "", "the server has no model of type llm; add a model to spec.resources.models, or check the inference providers of the server"},
		"by ID":                       {[]server.Model{b, a}, "openai/gpt", nil, b.ID, ""},
		"by the name of the provider": {[]server.Model{b, a}, "gpt", nil, b.ID, ""},
		"ambiguous":                   {[]server.Model{b, c}, "gpt", nil, "", `several providers have a model "gpt"; use one of: openai/gpt, azure/gpt`},
		"misspelt":                    {[]server.Model{b, a}, "lama-a", nil, "", `the server has no model "lama-a"; did you mean "llama-a"?`},
		"unknown":                     {[]server.Model{b, a}, "zzzzzz", nil, "", `the server has no model "zzzzzz"; models of the server: openai/gpt, vllm/llama-a`},
		"server without models":       {nil, "zzzzzz", nil, "", `the server has no model "zzzzzz"; models of the server: none`},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := server.Choose(tc.models, tc.name, tc.wanted)
			if got.ID != tc.want || text(err) != tc.err {
				t.Errorf("got %q, %v", got.ID, err)
			}
		})
	}
}

func event(parts ...string) string {
	var all strings.Builder
	for _, part := range parts {
		all.WriteString("data: " + part + "\n\n")
	}
	return all.String()
}

func token(content string) string {
	data, _ := json.Marshal(map[string]any{"choices": []any{map[string]any{"delta": map[string]any{"content": content}}}})
	return string(data)
}

const stop = `{"choices":[{"delta":{},"finish_reason":"stop"}]}`

func streamed(body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
		fmt.Fprint(w, body)
	}
}

func TestChat(t *testing.T) {
	for name, tc := range map[string]struct {
		handler http.HandlerFunc
		want    string
		reason  string
		err     string
	}{
		"streamed": {
			streamed(": ping\n\n" + event(token("Hel"), token("lo\n"), token("\x1b[2J"), stop, "[DONE]")),
			"Hello\n[2J", "stop", "",
		},
		"without DONE": {streamed(event(token("a"), stop)), "a", "stop", ""},
		"not streamed": {says(200, `{"choices":[{"message":{"content":"Hello"},"finish_reason":"length"}]}`), "Hello", "length", ""},
		"cut off":      {streamed(event(token("a"))), "a", "", "the answer is incomplete because the server closed the connection; look at the server log"},
		"error in the stream": {
			streamed(event(token("a"), `{"error":{"message":"500: Error code: 401 - Incorrect API key sk-`+canary+`"}}`)), "a", "",
			`the model server for "m" failed (in the middle of an answer): The provider's service rejects the credentials; read the stack's server log for details`,
		},
		"not JSON": {streamed(event(canary)), "", "", "the model's answer is not JSON; look at the server log"},
		"unknown model": {
			says(404, `{"error":{"message":"Model 'm' not found"}}`), "", "", "the server responded to a request for /v1/chat/completions with status 404: Model 'm' not found",
		},
		"provider unreachable": {
			says(500, `{"error":{"message":"Connection error `+canary+`"}}`), "", "",
			`the model server for "m" failed (status 500): The provider's service cannot be reached; read the stack's server log for details`,
		},
		"provider's credentials": {
			says(401, `{"error":{"message":"Error code: 401 - `+canary+`"}}`), "", "",
			`the model server for "m" failed (status 401): The provider's service rejects the credentials; read the stack's server log for details`,
		},
		"no token": {says(401, `{"error":{"message":"Authentication required"}}`), "", "", "the server requires a token; use --token-file FILE (status 401)"},
	} {
		t.Run(name, func(t *testing.T) {
			var out strings.Builder
			reason, err := clientOf(t, tc.handler).Chat(t.Context(), server.Question{Model: "m", Text: "q"}, &out)
			if out.String() != tc.want || reason != tc.reason || text(err) != tc.err {
				t.Errorf("got %q, %q, %v", out.String(), reason, err)
			}
		})
	}
}

// The request contains the question and the maximum number of tokens. For a server of release 0.2, the path differs. If
// the server has just started, the client sends the request again.
func TestChatRequests(t *testing.T) {
	var got []string
	client := clientOf(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		got = append(got, r.URL.Path+" "+r.Header.Get("Authorization")+" "+string(body))
		switch len(got) {
		case 1:
			says(404, `{"detail":"Not Found"}`)(w, r)
		case 2:
			says(500, `{"error":{"message":"Event loop is closed"}}`)(w, r)
		default:
			streamed(event(token("a"), stop))(w, r)
		}
	}, func(o *server.Options) { o.Token = "t" })
	_, err := client.Chat(t.Context(), server.Question{Model: "m", System: "s", Text: "q", MaxTokens: 5}, io.Discard)
	testutil.Must(t, err)
	const body = ` Bearer t {"model":"m","messages":[{"role":"system","content":"s"},{"role":"user","content":"q"}],"stream":true,"max_tokens":5}`
	want := []string{
		"/v1/chat/completions" + body, "/v1/openai/v1/chat/completions" + body,
		"/v1/openai/v1/chat/completions" + body,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("requests (-want +got):\n%s", diff)
	}
}

// Chat writes each part of the answer as soon as it arrives, and stops when the context is canceled.
func TestChatStreams(t *testing.T) {
	client := clientOf(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		fmt.Fprint(w, event(token("first")))
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
	})
	ctx, cancel := context.WithCancel(t.Context())
	read, write := io.Pipe()
	ended := make(chan error)
	go func() {
		_, err := client.Chat(ctx, server.Question{Model: "m", Text: "q"}, write)
		ended <- err
	}()
	part := make([]byte, 5)
	if _, err := io.ReadFull(read, part); err != nil || string(part) != "first" {
		t.Fatalf("got %q, %v", part, err)
	}
	cancel()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}
