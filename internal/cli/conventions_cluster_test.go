package cli_test

import (
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/llamastack/llama-stack-k8s-operator/internal/cli"
	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil"
	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil/fakeapi"
)

// clusterCases are the test cases for a command that needs a cluster.
type clusterCases struct {
	// flags contains the command's shorthands from the set -n, -A, -l and -o.
	flags string
	// success contains arguments that result in exit code 0, such as the name of an existing stack. rejected contains
	// arguments that result in exit code 1, such as the name of a missing object.
	success, rejected []string
	// usage contains invalid arguments.
	usage []string
}

// ofCluster contains the test cases for every command that needs a cluster. {good} is a file with a stack that does not
// exist in the cluster.
var ofCluster = map[string]clusterCases{
	"status":         {"nAlo", []string{"my"}, []string{"missing"}, []string{"my", "-o", "xml"}},
	"chat":           {"n", []string{"my"}, []string{"missing"}, []string{"my", "--max-tokens", "-1"}},
	"models":         {"no", []string{"my", "--live"}, []string{"missing"}, []string{"my", "-o", "xml"}},
	"events":         {"no", []string{"my"}, []string{"missing"}, []string{"my", "--since", "-1m"}},
	"logs":           {"n", []string{"my"}, []string{"missing"}, []string{"my", "--tail", "-2"}},
	"open":           {"n", []string{"my", "--print-only"}, []string{"missing"}, []string{"my", "--port", "x"}},
	"doctor":         {"nAlo", nil, []string{}, []string{"-o", "xml"}}, // the operator is not installed
	"support-bundle": {"nAlo", []string{"my", "-o", "-"}, []string{"missing", "-o", "-"}, []string{"my"}},
	"upgrade-check":  {"nAlo", []string{"my", "--to", "0.8"}, []string{"missing", "--to", "0.8"}, []string{"my"}},
	"version":        {"no", []string{}, nil, []string{"-o", "xml"}},
	"migrate":        {"no", []string{"--dry-run"}, nil, []string{"-o", "xml"}},
	"validate":       {"nlo", nil, nil, []string{"-f", "{good}", "-o", "xml"}},
	"diff":           {"no", nil, nil, []string{"-f", "{good}", "-o", "xml"}},
}

// Commands that need a cluster have consistent flags, and the exit codes that docs/reference/cli/README.md specifies.
func TestConventionsOfClusterVerbs(t *testing.T) {
	root := cli.NewCommand(cli.Streams{}, "test")
	folder := write(t, map[string]string{"good.yaml": stack(simple)})
	for _, verb := range leaves(root) {
		command, _, err := root.Find(strings.Fields(verb))
		testutil.Must(t, err)
		if command.Flags().Lookup("kubeconfig") == nil {
			continue
		}
		tc, listed := ofCluster[verb]
		if !listed {
			t.Errorf("the table has no row for the command %s", verb)
			continue
		}
		t.Run(verb, func(t *testing.T) {
			checkFlags(t, command, tc.flags)
			checkClusterCodes(t, verb, tc, filepath.Join(folder, "good.yaml"))
		})
	}
}

// Every request of a command that needs a cluster goes to --server with the user, the groups and the token of the
// command line, and with the time limit.
func TestConnectionFlags(t *testing.T) {
	good := filepath.Join(write(t, map[string]string{"good.yaml": stack(simple)}), "good.yaml")
	connections := map[string][]string{
		"validate": {"-f", good, "--dry-run=server"}, "diff": {"-f", good}, "doctor": {},
	}
	for verb, tc := range ofCluster {
		t.Run(verb, func(t *testing.T) {
			api := conventionalCluster(t)
			seen, server := front(t, api)
			args := tc.success
			if other, set := connections[verb]; set {
				args = other
			}
			run(t, "", slices.Concat(strings.Fields(verb), args, []string{
				"--kubeconfig", api.Kubeconfig, "--server", server, "--as", "alice", "--as-group", "a", "--as-group", "b",
				"--token", "mine", "--request-timeout", "7s", "--insecure-skip-tls-verify",
			})...)
			if len(*seen) == 0 || len(*seen) != len(api.Requests()) {
				t.Errorf("%d requests to --server, %d requests in all", len(*seen), len(api.Requests()))
			}
			for _, request := range *seen {
				got := []string{
					request.Header.Get("Impersonate-User"), request.Header.Get("Authorization"),
					strings.Join(request.Header.Values("Impersonate-Group"), " "), request.URL.Query().Get("timeout"),
				}
				if diff := cmp.Diff([]string{"alice", "Bearer mine", "a b", "7s"}, got); diff != "" {
					t.Errorf("%s %s (-want +got):\n%s", request.Method, request.URL, diff)
				}
			}
		})
	}
}

// front returns the address of a proxy for the API server, and the requests to it.
func front(t *testing.T, api *fakeapi.Server) (seen *[]*http.Request, address string) {
	t.Helper()
	config, err := clientcmd.LoadFromFile(api.Kubeconfig)
	testutil.Must(t, err)
	to, err := url.Parse(config.Clusters["here"].Server)
	testutil.Must(t, err)
	proxy := httputil.NewSingleHostReverseProxy(to)
	seen = &[]*http.Request{}
	var lock sync.Mutex
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		lock.Lock()
		*seen = append(*seen, r)
		lock.Unlock()
		proxy.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	return seen, server.URL
}

// conventionalCluster returns an API server with one ready stack, and no operator.
func conventionalCluster(t *testing.T) *fakeapi.Server {
	t.Helper()
	api := fakeapi.Start(t)
	status := object{
		"serviceURL": "http://my-service.team-a.svc:8321", "configGeneration": object{"configMapName": "my-config-1"},
		"conditions": []any{object{"type": "Ready", "status": "True", "reason": "MinimumReplicasAvailable"}},
	}
	servedStack(t, api, starterSpec(), status, modelServer(t, oneModel, nil, false))
	stacks := []any{object{
		"apiVersion": "llamastack.io/v1alpha2", "kind": "LlamaStackDistribution", "spec": starterSpec(), "status": status,
		"metadata": object{"name": "my", "namespace": "team-a"},
	}}
	for _, path := range []string{stacksOfA, allStacks} {
		api.PutList(t, path, "llamastack.io/v1alpha2", "LlamaStackDistributionList", stacks...)
	}
	for path, kind := range map[string]string{
		"/apis/apps/v1/deployments":        "apps/v1 Deployment",
		"/api/v1/namespaces/team-a/events": "v1 Event", "/api/v1/configmaps": "v1 ConfigMap",
		"/apis/apps/v1/namespaces/team-a/deployments": "apps/v1 Deployment",
		operatorDeployments:                           "apps/v1 Deployment",
	} {
		version, name, _ := strings.Cut(kind, " ")
		api.PutList(t, path, version, name+"List")
	}
	api.Put(t, "/apis", object{"kind": "APIGroupList", "apiVersion": "v1", "groups": []any{}})
	api.Put(t, "/api", object{"kind": "APIVersions", "versions": []string{"v1"}})
	api.Put(t, pathOfPods+"/my-1/log", "INFO up\n")
	return api
}

// conventional maps shorthands to the names of their flags.
var conventional = map[rune]string{'n': "namespace", 'A': "all-namespaces", 'l': "selector", 'o': "output"}

func checkFlags(t *testing.T, command *cobra.Command, want string) {
	t.Helper()
	for shorthand, name := range conventional {
		flag := command.Flags().Lookup(name)
		if has := flag != nil; has != strings.ContainsRune(want, shorthand) {
			t.Errorf("--%s exists: %t, want %t", name, has, !has)
		} else if has && flag.Shorthand != string(shorthand) {
			t.Errorf("--%s has the shorthand %q", name, flag.Shorthand)
		}
	}
	for _, name := range []string{"context", "kubeconfig"} {
		if flag := command.Flags().Lookup(name); flag == nil || flag.Shorthand != "" {
			t.Errorf("--%s is missing, or has a shorthand", name)
		}
	}
}

func checkClusterCodes(t *testing.T, verb string, tc clusterCases, good string) {
	t.Helper()
	api := conventionalCluster(t)
	noContext := 2
	if verb == "version" { // the command still prints its own version
		noContext = 1
	}
	check := func(want int, args ...string) {
		t.Helper()
		line := append(strings.Fields(verb), args...)
		for i := range line {
			line[i] = strings.ReplaceAll(line[i], "{good}", good)
		}
		run(t, "", append(line, "--kubeconfig", api.Kubeconfig)...).exits(t, want, line)
	}
	shown := tc.success
	if verb == "doctor" {
		shown = tc.rejected
	}
	if shown != nil {
		checkData(t, slices.Concat(strings.Fields(verb), shown, []string{"--kubeconfig", api.Kubeconfig}))
	}
	if tc.success != nil {
		check(0, tc.success...)
		check(noContext, append(slices.Clone(tc.success), "--context", "missing")...)
	}
	if tc.rejected != nil {
		check(1, tc.rejected...)
	}
	if verb == "diff" {
		check(1, "-f", good) // a new stack is a difference
		check(2, "-f", good, "--context", "missing")
	}
	check(2, tc.usage...)
	check(2, "--no-such-flag")
}
