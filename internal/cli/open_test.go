package cli_test

import (
	"bytes"
	"context"
	"encoding/pem"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/llamastack/llama-stack-k8s-operator/internal/cli"
	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil"
	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil/fakeapi"
)

const (
	pathOfPods = "/api/v1/namespaces/team-a/pods"
	pathOfSets = "/apis/apps/v1/namespaces/team-a/replicasets"
	canary     = "cAnArY-7d1f-51e2"

	pathOfDeployment = "/apis/apps/v1/namespaces/team-a/deployments/my"
)

type object = map[string]any

// servedStack adds a stack with one ready pod to the API server. The port of the pod is forwarded to a backend.
func servedStack(t *testing.T, api *fakeapi.Server, spec, status object, backend *httptest.Server) {
	t.Helper()
	stack := object{
		"apiVersion": "llamastack.io/v1alpha2", "kind": "LlamaStackDistribution",
		"metadata": object{"name": "my", "namespace": "team-a", "uid": "s"}, "spec": spec, "status": status,
	}
	api.Put(t, stacksOfA+"/my", stack)
	api.PutList(t, stacksOfA, "llamastack.io/v1alpha2", "LlamaStackDistributionList", stack)
	api.Put(t, pathOfDeployment, object{
		"apiVersion": "apps/v1", "kind": "Deployment",
		"metadata": object{"name": "my", "namespace": "team-a", "uid": "d", "ownerReferences": controlledBy("s")},
	})
	api.PutList(t, pathOfSets, "apps/v1", "ReplicaSetList",
		object{"metadata": object{"name": "my-1", "namespace": "team-a", "uid": "r", "ownerReferences": controlledBy("d")}})
	api.PutList(t, pathOfPods, "v1", "PodList", servingPod("my-1", "r", object{}))
	_, address, _ := strings.Cut(backend.URL, "://")
	api.Forward("team-a/my-1", address)
}

func controlledBy(uid string) []any { return []any{object{"uid": uid, "controller": true}} }

// servingPod returns a ready pod whose controller has this UID. The pod is newer than the pods without an age.
func servingPod(name, controller string, spec object) object {
	return object{
		"metadata": object{
			"name": name, "namespace": "team-a", "labels": object{"app": "llama-stack"},
			"ownerReferences": controlledBy(controller),
		},
		"spec":   spec,
		"status": object{"phase": "Running", "conditions": []any{object{"type": "Ready", "status": "True"}}},
	}
}

func starterSpec() object { return object{"distribution": object{"name": "starter"}} }

// modelServer starts a fake stack server.
func modelServer(t *testing.T, models string, chat http.HandlerFunc, tls bool) *httptest.Server {
	t.Helper()
	handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.URL.Path == "/v1/models":
			fmt.Fprint(w, models)
		case chat != nil:
			chat(w, r)
		default:
			w.Header().Set("Content-Type", "text/event-stream")
			body, _ := io.ReadAll(r.Body)
			fmt.Fprintf(w, "data: {\"choices\":[{\"delta\":{\"content\":%q}}]}\n\n", "got "+string(body))
			fmt.Fprint(w, "data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"length\"}]}\n\ndata: [DONE]\n\n")
		}
	})
	start := httptest.NewServer
	if tls {
		start = httptest.NewTLSServer
	}
	server := start(handler)
	t.Cleanup(server.Close)
	return server
}

const (
	oneModel  = `{"data": [{"id": "vllm/llama", "custom_metadata": {"model_type": "llm", "provider_id": "vllm", "provider_resource_id": "llama"}}]}`
	twoModels = `{"data": [{"id": "vllm/llama"}, {"id": "vllm/other"}]}`
)

func TestChat(t *testing.T) {
	for name, tc := range map[string]struct {
		models string
		chat   http.HandlerFunc
		spec   object
		stdin  string
		args   []string
		code   int
		out    string
		err    string
	}{
		"list": {models: oneModel, out: "MODEL       TYPE  PROVIDER\nvllm/llama  llm   vllm\n"},
		"question without a name": {
			models: oneModel, args: []string{"What", "is it?", "--max-tokens", "5"}, err: "note: the answer is cut off at the maximum number of tokens",
			out: `got {"model":"vllm/llama","messages":[{"role":"user","content":"What is it?"}],"stream":true,"max_tokens":5}` + "\n",
		},
		"standard input": {
			models: oneModel, stdin: "What?\n", args: []string{"-", "--system", "Be short."}, err: "note: model vllm/llama",
			out: `got {"model":"vllm/llama","messages":[{"role":"system","content":"Be short."},{"role":"user","content":"What?"}],"stream":true}` + "\n",
		},
		"model of the spec": {
			models: twoModels, args: []string{"q"}, err: "note: model vllm/other",
			spec: object{"distribution": object{"name": "starter"}, "resources": object{"models": []any{"vllm/other"}}},
			out:  `got {"model":"vllm/other","messages":[{"role":"user","content":"q"}],"stream":true}` + "\n",
		},
		"several models": {models: twoModels, args: []string{"q"}, code: 1, err: "error: the server has several models; select one with --model: vllm/llama, vllm/other"},
		"misspelt":       {models: twoModels, args: []string{"q", "--model", "vllm/lama"}, code: 1, err: `error: the server has no model "vllm/lama"; did you mean "vllm/llama"?`},
		"fails": {
			models: oneModel, args: []string{"q"}, code: 1, out: "\n",
			chat: func(w http.ResponseWriter, _ *http.Request) {
				http.Error(w, `{"error":{"message":"Connection error `+canary+`"}}`, http.StatusInternalServerError)
			},
			err: `error: the model server for "vllm/llama" failed (status 500): The provider's service cannot be reached; read the stack's server log for details; to see the server log, run: kubectl llamastack logs my -n team-a`,
		},
		"empty input": {models: oneModel, args: []string{"-"}, code: 2, err: "the question on standard input is empty"},
		"negative tokens": {
			models: oneModel, args: []string{"q", "--max-tokens", "-1"}, code: 2,
			err: "--max-tokens -1: must be at least 1",
		},
		"timeout of 0": {
			models: oneModel, args: []string{"q", "--timeout", "0s"}, code: 2,
			err: "--timeout 0s: must be more than 0",
		},
		"missing token file": {
			models: oneModel, args: []string{"q", "--token-file", "/nowhere"}, code: 2,
			err: "--token-file: open /nowhere",
		},
	} {
		t.Run(name, func(t *testing.T) {
			api := fakeapi.Start(t)
			if tc.spec == nil {
				tc.spec = starterSpec()
			}
			servedStack(t, api, tc.spec, nil, modelServer(t, tc.models, tc.chat, false))
			if !strings.Contains(name, "without a name") {
				tc.args = append([]string{"my"}, tc.args...)
			}
			got := run(t, tc.stdin, append([]string{"chat", "--kubeconfig", api.Kubeconfig}, tc.args...)...)
			if got.code != tc.code || got.out != tc.out || !strings.Contains(got.err, tc.err) ||
				strings.Contains(got.out+got.err, canary) {
				t.Errorf("exit code %d, output %q, messages:\n%s", got.code, got.out, got.err)
			}
		})
	}
}

func TestModelsLiveDenied(t *testing.T) {
	api := fakeapi.Start(t)
	servedStack(t, api, starterSpec(), nil, modelServer(t, oneModel, nil, false))
	api.Deny(pathOfPods + "/my-1/portforward")
	run(t, "", "models", "my", "--live", "--kubeconfig", api.Kubeconfig).refuses(t, 1,
		`error: you cannot create pods/portforward in namespace "team-a"; ask an administrator for that permission`)
}

// Flags that concern the server require --live.
func TestModelsWithoutLive(t *testing.T) {
	for _, flag := range []string{"token-file", "ca-file"} {
		got := run(t, "", "models", "my", "--"+flag, canary)
		want := "error: --" + flag + ": without --live, the command does not connect to the server; set --live, or remove --" + flag
		if got.code != 2 || !strings.HasPrefix(got.err, want) || strings.Contains(got.out+got.err, canary) {
			t.Errorf("--%s: exit code %d, messages:\n%s", flag, got.code, got.err)
		}
	}
}

// The commands send the token to the server, and do not print it.
func TestToken(t *testing.T) {
	backend := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer "+canary {
			http.Error(w, `{"error":{"message":"Invalid token `+strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")+`"}}`, http.StatusUnauthorized)
			return
		}
		fmt.Fprint(w, oneModel)
	}))
	defer backend.Close()
	api := fakeapi.Start(t)
	servedStack(t, api, starterSpec(), nil, backend)
	file := filepath.Join(t.TempDir(), "token")
	testutil.Must(t, os.WriteFile(file, []byte(canary+"\n"), 0o600))
	for _, command := range [][]string{{"chat", "my"}, {"models", "my", "--live"}} {
		t.Run(command[0], func(t *testing.T) {
			with := func(stdin string, args ...string) result {
				return run(t, stdin, slices.Concat(command, []string{"--kubeconfig", api.Kubeconfig}, args)...)
			}
			for _, got := range []result{with("", "--token-file", file), with(canary+"\n", "--token-file", "-")} {
				got.exits(t, 0)
				contains(t, got.out, "vllm/llama")
			}
			contains(t, with("").err, "error: the server requires a token; use --token-file FILE (status 401)")
			got := with("x"+canary, "--token-file", "-")
			contains(t, got.err, "error: the server does not accept the token; check the token, or log in again (status 401)")
			if strings.Contains(got.out+got.err, canary) {
				t.Errorf("a message contains the token:\n%s", got.err)
			}
		})
	}
}

// The commands verify an HTTPS server with the certificates in the operator's ConfigMap or in the Secret. Without a
// usable certificate, they print a warning and do not verify the server.
func TestServerCertificate(t *testing.T) {
	backend := modelServer(t, oneModel, nil, true)
	certificate := string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: backend.Certificate().Raw}))
	foreign := "-----BEGIN CERTIFICATE-----\n-----END CERTIFICATE-----\n"
	spec := starterSpec()
	spec["networking"] = object{"tls": object{"enabled": true, "secretName": "tls"}}
	for name, tc := range map[string]struct {
		prepare func(api *fakeapi.Server)
		code    int
		err     string
	}{
		"ConfigMap": {prepare: func(api *fakeapi.Server) {
			api.Put(t, "/api/v1/namespaces/team-a/configmaps/my-server-ca", object{"data": object{"ca.crt": certificate}})
		}},
		"Secret": {prepare: func(api *fakeapi.Server) {
			api.Put(t, "/api/v1/namespaces/team-a/secrets/tls", object{"data": object{"tls.crt": []byte(certificate)}})
		}},
		"unknown": {
			prepare: func(api *fakeapi.Server) { api.Deny("/api/v1/namespaces/team-a/secrets/tls") },
			err:     `warning: the command does not verify the server's certificate, because Secret "tls" cannot be used`,
		},
		"empty Secret": {
			prepare: func(api *fakeapi.Server) {
				api.Put(t, "/api/v1/namespaces/team-a/secrets/tls", object{"data": object{"tls.crt": []byte(foreign)}})
			},
			err: `because Secret "tls" cannot be used (the Secret contains no certificate)`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			api := fakeapi.Start(t)
			servedStack(t, api, spec, nil, backend)
			tc.prepare(api)
			for _, command := range [][]string{{"chat", "my"}, {"models", "my", "--live"}} {
				got := run(t, "", append(command, "--kubeconfig", api.Kubeconfig)...)
				if got.code != tc.code || !strings.Contains(got.err, tc.err) || tc.err == "" && got.err != "" {
					t.Errorf("%s: exit code %d, messages:\n%s", command[0], got.code, got.err)
				}
			}
		})
	}
}

// The message about a stack that cannot be opened contains the reason.
func TestNotOpen(t *testing.T) {
	backend := modelServer(t, oneModel, nil, false)
	noPods := func(api *fakeapi.Server) { api.PutList(t, pathOfPods, "v1", "PodList") }
	const notReady = `error: no pod of stack "my" in namespace "team-a" is ready`
	for name, tc := range map[string]struct {
		spec, status object
		prepare      func(api *fakeapi.Server)
		want         string
	}{
		"no right to list pods": {
			prepare: func(api *fakeapi.Server) { api.Deny(pathOfPods) }, want: `error: you cannot list pods in namespace "team-a"`,
		},
		"no right to list ReplicaSets": {
			prepare: func(api *fakeapi.Server) { api.Deny(pathOfSets) },
			want:    `error: you cannot list replicasets.apps in namespace "team-a"`,
		},
		"only pods that look like pods of the stack": {prepare: func(api *fakeapi.Server) {
			api.PutList(t, pathOfPods, "v1", "PodList", servingPod("my-1", "forged", object{}),
				servingPod("my-2", "r", object{"hostNetwork": true}))
			api.Forward("team-a/my-2", backend.Listener.Addr().String())
		}, want: notReady},
		"a Deployment that the stack does not control": {prepare: func(api *fakeapi.Server) {
			api.Put(t, pathOfDeployment, object{
				"apiVersion": "apps/v1", "kind": "Deployment",
				"metadata": object{"name": "my", "namespace": "team-a", "uid": "d", "ownerReferences": controlledBy("other")},
			})
		}, want: notReady},
		"no right to forward ports": {
			prepare: func(api *fakeapi.Server) { api.Deny(pathOfPods + "/my-1/portforward") },
			want:    `error: you cannot create pods/portforward in namespace "team-a"`,
		},
		"not ready": {
			status: object{"conditions": []any{
				object{"type": "Ready", "reason": "SecretNotFound", "message": "Secret s is missing"},
			}},
			prepare: noPods, want: notReady + ": SecretNotFound: Secret s is missing; see kubectl llamastack status my -n team-a",
		},
		"new": {prepare: noPods, want: "is ready: the operator has not reconciled the stack yet"},
		"scaled to 0": {
			spec:    object{"distribution": object{"name": "starter"}, "workload": object{"replicas": 0}},
			prepare: noPods, want: "is ready: the stack is scaled to 0 replicas",
		},
	} {
		for _, verb := range []string{"open", "chat"} {
			t.Run(verb+" "+name, func(t *testing.T) {
				api := fakeapi.Start(t)
				if tc.spec == nil {
					tc.spec = starterSpec()
				}
				servedStack(t, api, tc.spec, tc.status, backend)
				tc.prepare(api)
				run(t, "", verb, "my", "--kubeconfig", api.Kubeconfig).refuses(t, 1, tc.want)
			})
		}
	}
}

func TestOpenPrintOnly(t *testing.T) {
	backend := modelServer(t, oneModel, nil, false)
	for name, tc := range map[string]struct {
		status object
		code   int
		out    string
		err    string
	}{
		"exposed": {object{"serviceURL": "http://inside", "routeURL": "https://outside"}, 0, "https://outside\n", ""},
		"inside":  {object{"serviceURL": "http://inside"}, 0, "http://inside\n", ""},
		"neither": {nil, 1, "", `error: the status of stack "my" in namespace "team-a" has no URL yet; wait until the stack is Ready`},
	} {
		t.Run(name, func(t *testing.T) {
			api := fakeapi.Start(t)
			servedStack(t, api, starterSpec(), tc.status, backend)
			got := run(t, "", "open", "my", "--print-only", "--kubeconfig", api.Kubeconfig)
			if got.code != tc.code || got.out != tc.out || strings.TrimSpace(got.err) != tc.err {
				t.Errorf("%+v", got)
			}
		})
	}
}

// lockedBuffer is a buffer that a command writes to while a test reads it.
type lockedBuffer struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (b *lockedBuffer) Write(data []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(data)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}

// The command open forwards the port until the user interrupts the command.
func TestOpen(t *testing.T) {
	api := fakeapi.Start(t)
	servedStack(t, api, starterSpec(), nil, modelServer(t, oneModel, nil, false))
	var out, messages lockedBuffer
	ended := make(chan int)
	go func() {
		ended <- cli.Run(cli.Streams{In: strings.NewReader(""), Out: &out, Err: &messages}, "test",
			[]string{"open", "my", "--kubeconfig", api.Kubeconfig})
	}()
	deadline := time.Now().Add(20 * time.Second)
	for !strings.HasSuffix(out.String(), "\n") {
		if time.Now().After(deadline) {
			t.Fatalf("no URL; messages:\n%s", messages.String())
		}
		<-time.After(time.Millisecond)
	}
	url := strings.TrimSpace(out.String())
	request, err := http.NewRequestWithContext(context.Background(), http.MethodGet, url+"/v1/models", http.NoBody)
	testutil.Must(t, err)
	response, err := http.DefaultClient.Do(request)
	testutil.Must(t, err)
	body, _ := io.ReadAll(response.Body)
	response.Body.Close()
	if string(body) != oneModel {
		t.Errorf("got %q", body)
	}
	testutil.Must(t, syscall.Kill(os.Getpid(), syscall.SIGINT))
	if code := <-ended; code != 0 || !strings.Contains(messages.String(), "is forwarded to pod my-1; press Ctrl-C to end the command") {
		t.Errorf("exit code %d, messages:\n%s", code, messages.String())
	}
}
