package cli_test

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/llamastack/llama-stack-k8s-operator/internal/cli"
	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil/fakeapi"
)

// clusterCases are the conventions of a verb of a cluster.
type clusterCases struct {
	// flags are the shorthands among -n, -A, -l and -o that the verb has.
	flags string
	// success are arguments for a stack that is served. rejected are those that the cluster has no object for.
	success, rejected []string
	// usage are wrong arguments.
	usage []string
}

// ofCluster returns the cases of every verb of a cluster. {good} is a file with a stack that the cluster does not have.
var ofCluster = map[string]clusterCases{
	"status":         {"nAlo", []string{"my"}, []string{"missing"}, []string{"my", "-o", "xml"}},
	"chat":           {"n", []string{"my"}, []string{"missing"}, []string{}},
	"models":         {"no", []string{"my", "--live"}, []string{"missing"}, []string{"my", "-o", "xml"}},
	"events":         {"no", []string{"my"}, []string{"missing"}, []string{"my", "--since", "-1m"}},
	"logs":           {"n", []string{"my"}, []string{"missing"}, []string{"my", "--tail", "-2"}},
	"open":           {"n", []string{"my", "--print-only"}, []string{"missing"}, []string{"my", "--port", "x"}},
	"doctor":         {"nAlo", nil, []string{}, []string{"-o", "xml"}}, // the operator is not installed
	"support-bundle": {"nAlo", []string{"my", "-o", "-"}, []string{"missing", "-o", "-"}, []string{"my"}},
	"upgrade-check":  {"nAlo", []string{"my", "--to", "0.8"}, []string{"missing", "--to", "0.8"}, []string{"my"}},
	"version":        {"o", []string{}, nil, []string{"-o", "xml"}},
	"migrate":        {"no", []string{"--dry-run"}, nil, []string{"-o", "xml"}},
	"diff":           {"no", nil, nil, []string{"-f", "{good}", "-o", "xml"}},
}

// Verbs of a cluster have the same flags for the same things, and the exit codes of docs/cli.md.
func TestConventionsOfClusterVerbs(t *testing.T) {
	root := cli.NewCommand(cli.Streams{}, "test")
	folder := write(t, map[string]string{"good.yaml": stack(simple)})
	for _, verb := range leaves(root) {
		command, _, err := root.Find(strings.Fields(verb))
		if err != nil {
			t.Fatal(err)
		}
		if command.Flags().Lookup("kubeconfig") == nil {
			continue
		}
		tc, listed := ofCluster[verb]
		if !listed {
			t.Errorf("%s has no row in the table", verb)
			continue
		}
		t.Run(verb, func(t *testing.T) {
			checkFlags(t, command, tc.flags)
			checkClusterCodes(t, verb, tc, filepath.Join(folder, "good.yaml"))
		})
	}
}

// conventionalCluster has one stack that is ready, and no operator.
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
	for _, path := range []string{pathOfStacks, "/apis/llamastack.io/v1alpha2/llamastackdistributions"} {
		api.PutList(t, path, "llamastack.io/v1alpha2", "LlamaStackDistributionList", stacks...)
	}
	for path, kind := range map[string]string{
		"/apis/apps/v1/namespaces/team-a/replicasets": "apps/v1 ReplicaSet", "/apis/apps/v1/deployments": "apps/v1 Deployment",
		"/api/v1/namespaces/team-a/events": "v1 Event", "/api/v1/configmaps": "v1 ConfigMap",
		"/apis/apps/v1/namespaces/team-a/deployments": "apps/v1 Deployment",
	} {
		version, name, _ := strings.Cut(kind, " ")
		api.PutList(t, path, version, name+"List")
	}
	api.Put(t, "/apis", object{"kind": "APIGroupList", "apiVersion": "v1", "groups": []any{}})
	api.Put(t, "/api", object{"kind": "APIVersions", "versions": []string{"v1"}})
	api.Put(t, pathOfPods+"/my-1/log", "INFO up\n")
	return api
}

// conventional are the names of shorthands.
var conventional = map[rune]string{'n': "namespace", 'A': "all-namespaces", 'l': "selector", 'o': "output"}

func checkFlags(t *testing.T, command *cobra.Command, want string) {
	t.Helper()
	for shorthand, name := range conventional {
		flag := command.Flags().Lookup(name)
		if has := flag != nil; has != strings.ContainsRune(want, shorthand) {
			t.Errorf("--%s: %t", name, has)
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
	if verb == "version" { // it prints its own version, so only a part of the work is not done
		noContext = 1
	}
	check := func(want int, args ...string) {
		t.Helper()
		line := append(strings.Fields(verb), args...)
		for i := range line {
			line[i] = strings.ReplaceAll(line[i], "{good}", good)
		}
		if got := run(t, "", append(line, "--kubeconfig", api.Kubeconfig)...); got.code != want {
			t.Errorf("%q: exit code %d, want %d\n%s", line, got.code, want, got.err)
		}
	}
	if tc.success != nil {
		check(0, tc.success...)
		check(noContext, append(slices.Clone(tc.success), "--context", "missing")...)
	}
	if tc.rejected != nil {
		check(1, tc.rejected...)
	}
	if verb == "diff" {
		check(1, "-f", good) // a new stack is a difference, and an error has the exit code 2, as of kubectl diff
		check(2, "-f", good, "--context", "missing")
	}
	check(2, tc.usage...)
	check(2, "--no-such-flag")
}
