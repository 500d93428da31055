package cli_test

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil"
	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil/upgrade"
)

// The test runs the complete rollback from the command line. At the end, the cluster accepts the CRD of the previous
// operator.
func TestMigrateBack(t *testing.T) {
	const count = 10
	c := upgrade.Start(t)
	webhook := upgrade.StartWebhook(t)
	c.Install(t, upgrade.Older(t))
	c.MakeStacks(t, count)
	c.Install(t, upgrade.Today(t, webhook))
	t.Setenv("KUBECONFIG", c.Kubeconfig)
	migrate := func(code int, args ...string) result {
		t.Helper()
		got := run(t, "", append([]string{"migrate"}, args...)...)
		got.mustExit(t, code)
		return got
	}

	migrate(0, "--storage", "v1alpha2")
	if out, err := replaceDefinition(t); err == nil || !strings.Contains(out, "v1alpha2 was previously a storage version") {
		t.Errorf("CRD of the previous operator before the migration: %v\n%s", err, out)
	}
	got := migrate(0, "--storage", "v1alpha1", "--dry-run")
	if lines := strings.Fields(got.out); len(lines) != count || lines[0] != "team-0/stack-000" {
		t.Errorf("listed %q", lines)
	}
	contains(t, got.err, "without --dry-run, the command stores the listed stacks (10) in v1alpha1")
	if diff := cmp.Diff(map[string]int{"v1alpha2": count}, upgrade.Versions(c.Stored(t))); diff != "" {
		t.Errorf("stored in etcd after a dry run (-want +got):\n%s", diff)
	}

	webhook.Down.Store(true)
	got = migrate(1, "--storage", "v1alpha1")
	contains(t, got.err, "conversion webhook for llamastack.io/v1alpha2, Kind=LlamaStackDistribution failed")
	contains(t, got.err, "run the same command again to continue")
	webhook.Down.Store(false)

	got = migrate(0, "--storage", "v1alpha1")
	contains(t, got.err, "10 of 10 stacks")
	contains(t, got.err, "ok: every stack is stored in v1alpha1")
	if got.out != "" {
		t.Errorf("standard output: %q", got.out)
	}
	if diff := cmp.Diff(map[string]int{"v1alpha1": count}, upgrade.Versions(c.Stored(t))); diff != "" {
		t.Errorf("stored in etcd (-want +got):\n%s", diff)
	}
	migrate(0, "--storage", "v1alpha1") // repeated
	if out, err := replaceDefinition(t); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	c.AwaitStorage(t)
	if got := c.Stacks(t, "v1alpha1"); len(got) != count {
		t.Errorf("%d stacks, want %d", len(got), count)
	}
	contains(t, migrate(1, "--storage", "v1alpha2").err, `serves only v1alpha1, and not "v1alpha2"`)
}

// replaceDefinition follows docs/how-to/go-back.md.
func replaceDefinition(t *testing.T) (string, error) {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), testutil.Kubectl(), "replace", "-f", "../../test/api/testdata/definition-before.yaml").CombinedOutput()
	return string(out), err
}

func TestMigrateCommandLine(t *testing.T) {
	t.Setenv("KUBECONFIG", "")
	t.Setenv("HOME", t.TempDir())
	empty := write(t, map[string]string{"config": ""}) + "/config"
	for name, tc := range map[string]struct {
		args []string
		want string
	}{
		"no version":      {nil, `required flag(s) "storage" not set`},
		"unknown version": {[]string{"--storage", "v1"}, `--storage: "v1" is not a valid value; use one of v1alpha1, v1alpha2`},
		"missing file": {
			[]string{"--storage", "v1alpha1", "--kubeconfig", "/nowhere"},
			"read the kubeconfig: stat /nowhere",
		},
		"empty file": {[]string{"--storage", "v1alpha1", "--kubeconfig", empty}, "no cluster is configured; "},
		"unknown context": {
			[]string{"--storage", "v1alpha1", "--kubeconfig", empty, "--context", "elsewhere"},
			`context "elsewhere" does not exist`,
		},
		"no kubeconfig":       {[]string{"--storage", "v1alpha1"}, "no cluster is configured; "},
		"unexpected argument": {[]string{"now", "--storage", "v1alpha1"}, `unknown command "now"`},
	} {
		t.Run(name, func(t *testing.T) {
			got := run(t, "", append([]string{"migrate"}, tc.args...)...)
			got.exits(t, 2)
			contains(t, got.err, tc.want)
		})
	}
	unreachable := write(t, map[string]string{"config": `{apiVersion: v1, kind: Config, current-context: c, contexts: [{name: c, context: {cluster: c}}],
	  clusters: [{name: c, cluster: {server: "http://127.0.0.1:1"}}]}`}) + "/config"
	got := run(t, "", "migrate", "--storage", "v1alpha1", "--kubeconfig", unreachable)
	got.exits(t, 1, "unreachable cluster")
	contains(t, got.err, "connection refused")
	got = run(t, "", "migrate", "--dry-run", "--operator-config", "nowhere.yaml", "--kubeconfig", unreachable)
	if got.code != 2 || strings.Contains(got.err, "could not be read") {
		t.Errorf("missing --operator-config: exit code %d, want 2\n%s", got.code, got.err)
	}
	contains(t, got.err, "--operator-config: ")
	if _, err := os.Stat(os.Getenv("HOME") + "/.kube"); err == nil {
		t.Error("the command created a folder")
	}
}
