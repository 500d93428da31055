package webhook

import (
	"fmt"
	"strings"
	"testing"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha1"
	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil"
)

// rounds is the number of times that the same manifest is applied.
const rounds = 50

// manifest is a v1alpha1 stack with fields of every kind: fields with defaults, values that disable a feature in
// v1alpha1, and fields that v1alpha2 stores in annotations.
const manifest = `apiVersion: llamastack.io/v1alpha1
kind: LlamaStackDistribution
metadata:
  name: %s
  namespace: default
  labels: {team: ml}
spec:
  replicas: 2
  network: {allowedFrom: {namespaces: ["*"]}}
  server:
    distribution: {name: starter}
    containerSpec:
      port: 8321
      env: [{name: A, value: b}]
      resources: {requests: {memory: 2048Mi, cpu: "0.5"}}
    autoscaling: {maxReplicas: 0}
    userConfig: {configMapName: ""}
    storage: {size: 20Gi, mountPath: /data}
    tlsConfig: {caBundle: {configMapName: ca, configMapNamespace: other, configMapKeys: [a.crt]}}
`

// If users and tools apply the same v1alpha1 manifest repeatedly, nothing changes: `kubectl diff` shows no difference,
// and the generation remains 1.
func TestApplyAgain(t *testing.T) {
	c := startCluster(t)
	c.Install(t)
	o := c.StartOperator(t)
	testutil.Within(t, patience, o.Ready)
	c.Publish(t, o)
	trial := writeFile(t, "trial.yaml", fmt.Appendf(nil, manifest, "trial"))
	testutil.Within(t, patience, func() error {
		_, err := c.Kubectl(t, "apply", "--dry-run=server", "-f", trial)
		return err
	})
	ways := map[string]struct{ apply, diff []string }{
		"client-side": {apply: []string{"apply"}, diff: []string{"diff"}},
		"server-side": {apply: []string{"apply", "--server-side"}, diff: []string{"diff", "--server-side"}},
		"argo-cd": {
			apply: []string{"apply", "--server-side", "--force-conflicts", "--field-manager=argocd-controller"},
			diff:  []string{"diff", "--server-side", "--force-conflicts", "--field-manager=argocd-controller"},
		},
		"flux": {
			apply: []string{"apply", "--server-side", "--force-conflicts", "--field-manager=kustomize-controller"},
			diff:  []string{"diff", "--server-side", "--force-conflicts", "--field-manager=kustomize-controller"},
		},
		"replace": {apply: []string{"replace", "--save-config"}, diff: []string{"diff"}},
	}
	for name, way := range ways {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			file := writeFile(t, "stack.yaml", fmt.Appendf(nil, manifest, name))
			if way.apply[0] == "replace" {
				c.MustKubectl(t, "apply", "-f", file)
			}
			for range rounds {
				c.applyAgain(t, append(way.apply, "-f", file)...)
			}
			if got := c.get(t, v1alpha1.GroupVersion.Version, name).GetGeneration(); got != 1 {
				t.Errorf("generation %d, want 1", got)
			}
			// Exit code 1 means that there are differences.
			if output, err := c.Kubectl(t, append(way.diff, "-f", file)...); err != nil || strings.TrimSpace(output) != "" {
				t.Errorf("kubectl diff: %v\n%s", err, output)
			}
		})
	}
}

// applyAgain runs kubectl until the API server accepts the request. `kubectl replace` reads the object first, and the
// API server rejects its request with a conflict if the operator writes the status between the two requests.
func (c *cluster) applyAgain(t *testing.T, args ...string) {
	t.Helper()
	testutil.Within(t, patience, func() error {
		output, err := c.Kubectl(t, args...)
		if err != nil && !strings.Contains(output, "(Conflict)") {
			t.Fatalf("kubectl %s: %v\n%s", strings.Join(args, " "), err, output)
		}
		return err
	})
}
