//go:build node && all

package node

import (
	"fmt"
	"os/exec"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil"
	"github.com/llamastack/llama-stack-k8s-operator/test/node/image"
)

const (
	// olderCommit is the first commit without code for earlier builds of this operator.
	olderCommit = "fa52ec361d9f"
	olderTag    = "older"
)

const withVolume = "distribution: {name: starter}\nworkload: {resources: " + small + ", storage: {size: 1Gi}}"

// upgraded contains the manifests of stacks and of the objects that they need, keyed by the names of the stacks. %s is
// a placeholder for the namespace.
var upgraded = map[string]string{
	"plain": stack("plain", fmt.Sprintf(serving, "first", "")),
	"kept":  stack("kept", withVolume),
	"exposed": secret("creds", "token", "sk-abc") + stack("exposed", `
distribution: {name: starter}
providers: {inference: {provider: vllm, endpoint: "http://vllm:8000",
  apiKey: {secretKeyRef: {name: creds, key: token}}}}
resources: {models: [llama3.2-8b]}
networking: {expose: {hostname: %s.example.com}, allowedFrom: {namespaces: [web]}}
workload: {resources: `+small+`, replicas: 2, podDisruptionBudget: {minAvailable: 1}}
`),
	"own": "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: own}\ndata:\n  config.yaml: |\n    version: 2\n    distro_name: own\n" +
		"    apis: [inference]\n    providers: {inference: [{provider_id: vllm, provider_type: \"remote::vllm\", config: {base_url: \"http://vllm:8000/v1\"}}]}\n" +
		stack("own", "distribution: {name: starter}\noverrideConfig: {configMapName: own}\nworkload: {resources: "+small+"}"),
}

// The test installs the operator of an older commit from its manifest, and upgrades the operator while stacks run. No
// pod is replaced or restarted, no Deployment changes, and no child is created again. The test does not run in parallel
// with other scenarios.
func TestOperatorUpgrade(t *testing.T) {
	older, newest := olderManifest(t), currentManifest(t)
	if err := uninstall(t.Context(), newest); err != nil {
		t.Fatal(err)
	}
	if err := install(t.Context(), older); err != nil {
		t.Fatal(err)
	}
	s := newScenario(t)
	for _, manifest := range upgraded {
		s.apply(strings.ReplaceAll(manifest, "%s", s.namespace))
	}
	before := map[string]deployed{}
	for name := range upgraded {
		s.ready(name)
		s.operatedBy(name, olderTag)
		before[name] = s.deployed(name)
	}
	was := s.children()

	if err := install(t.Context(), newest); err != nil {
		t.Fatal(err)
	}
	for name := range upgraded {
		s.operatedBy(name, operatorTag)
		s.ready(name)
		if diff := cmp.Diff(before[name], s.deployed(name)); diff != "" {
			t.Errorf("%s, before and after the upgrade (-want +got):\n%s", name, diff)
		}
	}
	now := s.children()
	for child, made := range was {
		if now[child].UID != made.UID {
			t.Errorf("%s is %q, was %q", child, now[child].UID, made.UID)
		}
	}
	s.apply(stack("plain", fmt.Sprintf(serving, "second", "")))
	s.ready("plain")
	if after := s.deployed("plain"); cmp.Equal(after.Spec, before["plain"].Spec) {
		t.Error("the next change did not reach the Deployment")
	}
}

// olderManifest builds and pushes the image of the older commit, and returns the manifest of that commit.
func olderManifest(t *testing.T) []byte {
	t.Helper()
	source := t.TempDir()
	const unpack = `git archive "$0" | tar --extract --directory "$1"`
	command := exec.CommandContext(t.Context(), "bash", "-o", "pipefail", "-c", unpack, olderCommit, source)
	command.Dir = testutil.Root()
	if said, err := command.CombinedOutput(); err != nil {
		t.Fatalf("commit %s, from which the test upgrades, is not in this clone; run `git fetch --unshallow`: %v\n%s", olderCommit, err, said)
	}
	built, err := image.OperatorOf(t.Context(), source, t.TempDir(), olderTag)
	if err != nil {
		t.Fatal(err)
	}
	if err := image.Push(t.Context(), operatorImage(pushRegistry(), olderTag), built); err != nil {
		t.Fatal(err)
	}
	manifest, err := operatorManifest(t.Context(), source, olderTag)
	if err != nil {
		t.Fatal(err)
	}
	return manifest
}
