package kube_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"

	"github.com/llamastack/llama-stack-k8s-operator/internal/cli/app/kube"
	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil"
)

const (
	hub   = "/apis/llamastack.io/v1alpha2"
	older = "/apis/llamastack.io/v1alpha1"
)

// apiServer starts an API server that serves the given responses by path, and responds with 404 to other paths. It
// returns the kubeconfig of the server, and the requests that the server receives.
func apiServer(t *testing.T, rows map[string]answer) (kubeconfig string, requests *[]string) {
	t.Helper()
	requests = &[]string{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		*requests = append(*requests, r.URL.RequestURI())
		row, found := rows[r.URL.Path]
		if !found {
			http.Error(w, "404 page not found", http.StatusNotFound)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(row.code)
		fmt.Fprint(w, row.body)
	}))
	t.Cleanup(server.Close)
	return kubeconfigOf(t, server.URL, "team-a"), requests
}

type answer struct {
	code int
	body string
}

func kubeconfigOf(t *testing.T, url, namespace string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "kubeconfig")
	text := fmt.Sprintf(`apiVersion: v1
kind: Config
current-context: here
clusters: [{name: here, cluster: {server: %q}}]
contexts: [{name: here, context: {cluster: here, user: me, namespace: %q}}]
users: [{name: me, user: {token: t}}]
`, url, namespace)
	testutil.Must(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

// status is a response with a Status object.
func status(code int, reason, message string) answer {
	body, _ := json.Marshal(map[string]any{
		"kind": "Status", "apiVersion": "v1", "status": "Failure", "code": code, "reason": reason, "message": message,
		"details": map[string]any{"name": "my", "kind": "llamastackdistributions"},
	})
	return answer{code, string(body)}
}

// connect parses the flags as a command does, and connects to the cluster.
func connect(t *testing.T, kubeconfig string, args ...string) *kube.Cluster {
	t.Helper()
	var flags kube.Flags
	command := &cobra.Command{Run: func(*cobra.Command, []string) {}}
	flags.AddScope(command)
	command.SetArgs(append([]string{"--kubeconfig", kubeconfig}, args...))
	testutil.Must(t, command.Execute())
	cluster, err := flags.Connect("1.2.3")
	testutil.Must(t, err)
	return cluster
}

const (
	stackOfHub = `{"apiVersion":"llamastack.io/v1alpha2","kind":"LlamaStackDistribution",` +
		`"metadata":{"name":"my","namespace":"team-a"},"spec":{"distribution":{"name":"starter"},"later":{"field":1}}}`
	stackOfOlder = `{"apiVersion":"llamastack.io/v1alpha1","kind":"LlamaStackDistribution",` +
		`"metadata":{"name":"my","namespace":"team-a"},"spec":{"server":{"distribution":{"name":"starter"}}}}`
)

// Stack reads a stack in v1alpha2, or in v1alpha1 if the cluster serves only v1alpha1. It ignores unknown fields.
func TestStack(t *testing.T) {
	const at = "/namespaces/team-a/llamastackdistributions/my"
	for name, rows := range map[string]map[string]answer{
		"v1alpha2":      {hub + at: {200, stackOfHub}},
		"v1alpha1 only": {older + at: {200, stackOfOlder}},
	} {
		t.Run(name, func(t *testing.T) {
			kubeconfig, _ := apiServer(t, rows)
			stack, err := connect(t, kubeconfig).Stack(t.Context(), "my")
			testutil.Must(t, err)
			if stack.Spec.Distribution.Name != "starter" || stack.Namespace != "team-a" {
				t.Errorf("got %+v", stack)
			}
		})
	}
}

// The requests select the stacks by namespace and label.
func TestStacks(t *testing.T) {
	list := func(version, items string) string {
		return `{"apiVersion":"llamastack.io/` + version + `","kind":"LlamaStackDistributionList","metadata":{},"items":[` + items + `]}`
	}
	for name, tc := range map[string]struct {
		args []string
		path string
		body string
		want []string
	}{
		"namespace of the context": {nil, hub + "/namespaces/team-a/llamastackdistributions", list("v1alpha2", stackOfHub), []string{"limit=50"}},
		"another namespace": {
			[]string{"-n", "b"},
			hub + "/namespaces/b/llamastackdistributions",
			list("v1alpha2", stackOfHub),
			[]string{"limit=50"},
		},
		"all, by label": {
			[]string{"-A", "-l", "team=a"},
			hub + "/llamastackdistributions", list("v1alpha2", stackOfHub),
			[]string{"labelSelector=team%3Da&limit=50"},
		},
		"v1alpha1 only": {
			[]string{"-A"},
			older + "/llamastackdistributions", list("v1alpha1", stackOfOlder),
			[]string{"limit=50", "limit=50"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			kubeconfig, requests := apiServer(t, map[string]answer{tc.path: {200, tc.body}})
			stacks, err := connect(t, kubeconfig, tc.args...).Stacks(t.Context())
			testutil.Must(t, err)
			if len(stacks) != 1 || stacks[0].Name != "my" || stacks[0].Spec.Distribution.Name != "starter" {
				t.Errorf("got %+v", stacks)
			}
			var queries []string
			for _, request := range *requests {
				_, query, _ := strings.Cut(request, "?")
				queries = append(queries, query)
			}
			if diff := cmp.Diff(tc.want, queries); diff != "" {
				t.Errorf("queries (-want +got):\n%s", diff)
			}
		})
	}
}

// A list keeps only outlines of the specs, unless a command needs the specs.
func TestOutlines(t *testing.T) {
	const path = hub + "/namespaces/team-a/llamastackdistributions"
	list := `{"apiVersion":"llamastack.io/v1alpha2","kind":"LlamaStackDistributionList","metadata":{},"items":[` +
		strings.Replace(stackOfHub, `"later"`, `"workload":{"replicas":2},"later"`, 1) + `]}`
	kubeconfig, _ := apiServer(t, map[string]answer{path: {200, list}})
	cluster := connect(t, kubeconfig)
	outlines, err := cluster.Stacks(t.Context())
	if err != nil || outlines[0].Spec.Workload != nil {
		t.Errorf("outline %+v: %v", outlines, err)
	}
	stacks, err := cluster.WholeStacks(t.Context())
	if err != nil || stacks[0].Spec.Workload == nil {
		t.Errorf("whole stack %+v: %v", stacks, err)
	}
}

// A suggested command has the flags for the connection, without secrets.
func TestSelection(t *testing.T) {
	kubeconfig := kubeconfigOf(t, "http://127.0.0.1", "team-a")
	cluster := connect(t, kubeconfig, "--as", "alice", "--as-group", "a",
		"--as-group", "b", "--insecure-skip-tls-verify", "--token", "secret", "-n", "b")
	want := " --kubeconfig " + kubeconfig + " --as alice --as-group a --as-group b --insecure-skip-tls-verify=true"
	if got := cluster.Selection(); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// The message about each failure contains a remedy.
func TestFailures(t *testing.T) {
	const at = "/namespaces/team-a/llamastackdistributions/my"
	for name, tc := range map[string]struct {
		rows map[string]answer
		want string
	}{
		"missing stack": {
			map[string]answer{hub + at: status(404, "NotFound", "not found")},
			`there is no stack "my" in namespace "team-a"; to list all stacks, run kubectl get llsd -A`,
		},
		"missing right": {
			map[string]answer{hub + at: status(403, "Forbidden", "forbidden: User t")},
			`you cannot get llamastackdistributions.llamastack.io in namespace "team-a"; ask an administrator for that permission, ` +
				"and check it with: kubectl auth can-i get llamastackdistributions.llamastack.io -n team-a",
		},
		"expired credentials": {
			map[string]answer{hub + at: status(401, "Unauthorized", "Unauthorized")},
			"the cluster does not accept your credentials; log in again: Unauthorized",
		},
		"no definition": {
			nil,
			"the cluster does not serve llamastackdistributions.llamastack.io; install the operator, or check your kubeconfig " +
				"context: the server could not find the requested resource (get llamastackdistributions.llamastack.io my)",
		},
	} {
		t.Run(name, func(t *testing.T) {
			kubeconfig, _ := apiServer(t, tc.rows)
			_, err := connect(t, kubeconfig).Stack(t.Context(), "my")
			if err == nil || err.Error() != tc.want {
				t.Errorf("got  %v\nwant %s", err, tc.want)
			}
		})
	}
}

func TestNoCluster(t *testing.T) {
	t.Run("unreachable", func(t *testing.T) {
		server := httptest.NewServer(http.NotFoundHandler())
		server.Close()
		_, err := connect(t, kubeconfigOf(t, server.URL, "team-a")).Stack(t.Context(), "my")
		if err == nil || !strings.HasPrefix(err.Error(), "cannot reach the cluster; check your kubeconfig context and your network: ") {
			t.Errorf("got %v", err)
		}
	})
	t.Run("no kubeconfig", func(t *testing.T) {
		t.Setenv("HOME", t.TempDir())
		t.Setenv("KUBECONFIG", "")
		t.Setenv("KUBERNETES_SERVICE_HOST", "")
		_, err := new(kube.Flags).Connect("1.2.3")
		if err == nil || !strings.HasPrefix(err.Error(), "no cluster is configured; set $KUBECONFIG") {
			t.Errorf("got %v", err)
		}
	})
	t.Run("a file that does not exist", func(t *testing.T) {
		if _, err := (&kube.Flags{Kubeconfig: "missing"}).Connect("1.2.3"); err == nil || !strings.HasPrefix(err.Error(), "read the kubeconfig: ") {
			t.Errorf("got %v", err)
		}
	})
	t.Run("a selector that cannot be parsed", func(t *testing.T) {
		kubeconfig, _ := apiServer(t, nil)
		_, err := connect(t, kubeconfig, "-l", "a in (").Stacks(t.Context())
		if err == nil || !strings.HasPrefix(err.Error(), `--selector "a in (": `) {
			t.Errorf("got %v", err)
		}
	})
}
