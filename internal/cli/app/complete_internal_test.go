package app

import (
	"fmt"
	"io"
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

// answers contains the responses of an API server with two stacks and two namespaces.
var answers = map[string]string{
	"/apis/llamastack.io/v1alpha2/namespaces/team-a/llamastackdistributions": `{"apiVersion": "llamastack.io/v1alpha2",
  "kind": "LlamaStackDistributionList", "items": [` + item("one") + "," + item("two") + "]}",
	"/api/v1/namespaces": `{"apiVersion": "v1", "kind": "NamespaceList", "items": [{"metadata": {"name": "team-a"}}, {"metadata": {"name": "team-b"}}]}`,
}

func item(name string) string {
	return `{"apiVersion": "llamastack.io/v1alpha2", "kind": "LlamaStackDistribution", "metadata": {"name": "` + name + `", "namespace": "team-a"}}`
}

// The completions are the stacks and namespaces of the cluster that the flags select, and the contexts of the
// kubeconfig. Without a kubeconfig, there are no completions.
func TestCompleteOnCluster(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		text, ok := answers[r.URL.Path]
		if who := r.Header.Get("Impersonate-User") + r.Header.Get("Impersonate-Group"); !ok || who == "nobody" {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, text)
	}))
	t.Cleanup(server.Close)
	kubeconfig := filepath.Join(t.TempDir(), "kubeconfig")
	text := fmt.Sprintf("apiVersion: v1\nkind: Config\ncurrent-context: here\nclusters: [{name: here, cluster: {server: %q}}]\n"+
		"users: [{name: me}]\ncontexts: [{name: here, context: {cluster: here, namespace: team-a}}]\n", server.URL)
	testutil.Must(t, os.WriteFile(kubeconfig, []byte(text), 0o600))
	for _, tc := range []struct {
		args []string
		want string
	}{
		{[]string{"look", "--kubeconfig", kubeconfig, ""}, "one two :4"},
		{[]string{"look", "--kubeconfig", kubeconfig, "one", ""}, ":4"},
		{[]string{"look", "--kubeconfig", kubeconfig, "-n", ""}, "team-a team-b :4"},
		{[]string{"look", "--kubeconfig", kubeconfig, "--context", ""}, "here :4"},
		{[]string{"look", "--kubeconfig", kubeconfig, "--cluster", ""}, "here :4"},
		{[]string{"look", "--kubeconfig", kubeconfig, "--user", ""}, "me :4"},
		{[]string{"look", "--kubeconfig", kubeconfig, "--as", "nobody", ""}, ":4"},
		{[]string{"look", "--kubeconfig", kubeconfig, "--as", "no", "--as-group", "body", ""}, ":4"},
		{[]string{"look", "--kubeconfig", kubeconfig + "x", ""}, ":4"},
		{[]string{"look", "--kubeconfig", kubeconfig + "x", "--context", ""}, ":4"},
	} {
		if diff := cmp.Diff(tc.want, completions(t, tc.args)); diff != "" {
			t.Errorf("%q (-want +got):\n%s", tc.args, diff)
		}
	}
}

// completions returns the completions of a command on a cluster, and their directive.
func completions(t *testing.T, args []string) string {
	t.Helper()
	var flags kube.Flags
	look := &cobra.Command{Use: "look NAME", Run: func(*cobra.Command, []string) {}}
	flags.AddScope(look)
	var out strings.Builder
	root := &cobra.Command{Use: "root", Version: "test"}
	root.AddCommand(look)
	root.SetOut(&out)
	root.SetErr(io.Discard)
	CompleteAll(root)
	root.SetArgs(append([]string{"__complete"}, args...))
	testutil.Must(t, root.Execute())
	return strings.Join(strings.Fields(out.String()), " ")
}
