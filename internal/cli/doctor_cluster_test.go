package cli_test

import (
	"strings"
	"testing"

	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil/upgrade"
)

// On a real API server with the operator's manifests and a stack, the commands work for an administrator and for a user
// without permissions.
func TestDoctorAndSupportBundleOnCluster(t *testing.T) {
	c := upgrade.Start(t)
	webhook := upgrade.StartWebhook(t)
	c.Install(t, upgrade.Today(t, webhook))
	makeStack(t, c, "default", "my", `{server: {distribution: {name: starter}}}`)
	t.Setenv("KUBECONFIG", c.Kubeconfig)

	got := run(t, "", "doctor", "-n", "default")
	t.Log(got.out + got.err)
	contains(t, got.out,
		"api-server       Kubernetes v", "the definition serves v1alpha1, v1alpha2", "the CA bundle of the conversion webhook is valid",
		"you have the permissions that the commands for stacks require", "default/my: the operator has not reconciled the stack yet; remedy: run kubectl llamastack status my -n default")
	if strings.Contains(got.out, "cannot read") {
		t.Errorf("an administrator cannot read some objects:\n%s", got.out)
	}

	bundle := run(t, "", "support-bundle", "my", "-n", "default", "-o", "-")
	bundle.mustExit(t, 0)
	files := untar(t, []byte(bundle.out))
	if files["namespaces/default/LlamaStackDistribution/my.yaml"] == "" {
		t.Error("the archive does not contain the stack")
	}
	if left := files["left-out.txt"]; strings.Count(left, "\n") != 1 {
		t.Errorf("left-out.txt does not have exactly 1 line:\n%s", left)
	}

	nobody := impersonating(t, c, "nobody")
	denied := run(t, "", "doctor", "-n", "default", "--kubeconfig", nobody)
	t.Log(denied.out + denied.err)
	if denied.code != 0 || strings.Contains(denied.out, "\nerror") {
		t.Errorf("exit code %d, output:\n%s", denied.code, denied.out)
	}
	contains(t, denied.out, `you do not have permission to create pods/portforward in namespace "default"`)
}
