//go:build node && all

package node

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil"
	"github.com/llamastack/llama-stack-k8s-operator/test/node/image"
)

const (
	// olderCommit is the commit from which the test upgrades while no release is tagged.
	olderCommit = "90fbdf04b4e4"
	olderTag    = "older"
)

const serving = `
distribution: {name: starter}
providers: {inference: {id: %[1]s, provider: vllm, endpoint: "http://%[1]s:8000"}}
workload: {resources: ` + small + `, overrides: {env: [%[2]s]}}
`

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

// way is a way to install the operator. A tree is a work tree, and a tag is the tag of the operator's image.
type way struct {
	name    string
	install func(ctx context.Context, tree, tag string) error
	// back goes back to the operator that was installed before.
	back   func(ctx context.Context, tree, tag string) error
	remove func(ctx context.Context) error
}

var ways = []way{
	{name: "manifest", install: installManifest, back: installManifest, remove: removeManifest},
	{name: "Helm", install: installChart, back: rollBackChart, remove: removeChart},
}

// The test installs the operator of the newest release, upgrades the operator while stacks run, goes one step back, and
// upgrades it again. No pod is replaced or restarted, no Deployment changes, and no child is created again. The test
// does not run in parallel with other scenarios.
func TestOperatorUpgrade(t *testing.T) {
	older := olderTree(t)
	if err := removeManifest(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { // the other scenarios need this operator
		if err := installManifest(context.WithoutCancel(t.Context()), testutil.Root(), operatorTag); err != nil {
			t.Error(err)
		}
	})
	for _, way := range ways {
		t.Run(way.name, func(t *testing.T) {
			if err := way.install(t.Context(), older, olderTag); err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() {
				if err := way.remove(context.WithoutCancel(t.Context())); err != nil {
					t.Error(err)
				}
			})
			upgradeAndBack(t, &way, older)
		})
	}
}

func upgradeAndBack(t *testing.T, by *way, older string) {
	t.Helper()
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
	for _, step := range []struct {
		tag, tree string
		act       func(ctx context.Context, tree, tag string) error
	}{
		{operatorTag, testutil.Root(), by.install},
		{olderTag, older, by.back},
		{operatorTag, testutil.Root(), by.install},
	} {
		if err := step.act(t.Context(), step.tree, step.tag); err != nil {
			t.Fatal(err)
		}
		for name := range upgraded {
			s.operatedBy(name, step.tag)
			s.ready(name)
			if diff := cmp.Diff(before[name], s.deployed(name)); diff != "" {
				t.Errorf("%s, before and after the operator %s was installed (-want +got):\n%s", name, step.tag, diff)
			}
		}
		now := s.children()
		for child, made := range was {
			if now[child].UID != made.UID {
				t.Errorf("%s is %q, was %q", child, now[child].UID, made.UID)
			}
		}
		t.Logf("step: no pod changed when the operator %s was installed by %s", step.tag, by.name)
	}
	s.apply(stack("plain", fmt.Sprintf(serving, "second", "")))
	s.ready("plain")
	if after := s.deployed("plain"); cmp.Equal(after.Spec, before["plain"].Spec) {
		t.Error("the next change did not reach the Deployment")
	}
}

// The bundle for OLM replaces the operator for v1alpha1 while its stacks run. No pod is replaced or restarted. The test
// applies the objects that OLM makes. It does not run in parallel with other scenarios.
func TestTakeOverByOLM(t *testing.T) {
	run := newTakeOver(t)
	objects, err := testutil.Objects(run.ours)
	if err != nil {
		t.Fatal(err)
	}
	objects = slices.DeleteFunc(objects, func(object *unstructured.Unstructured) bool {
		return object.GetKind() == "ConfigMap" // a bundle does not configure the operator
	})
	made := testutil.OLMObjects(t, []byte(manifest(t, objects)), names.OperatorNamespace)
	run.ours = []byte(manifest(t, made))
	t.Cleanup(func() { // the other scenarios need this operator
		ctx := context.WithoutCancel(t.Context())
		if err := errors.Join(uninstall(ctx, run.ours), installManifest(ctx, testutil.Root(), operatorTag)); err != nil {
			t.Error(err)
		}
	})
	run.begin()
	run.readBothVersions()
}

// olderTree returns a work tree of the newest release before HEAD, or of olderCommit if there is none. It builds and
// pushes the image of that tree.
func olderTree(t *testing.T) string {
	t.Helper()
	commit, tree := olderCommit, t.TempDir()
	describe := exec.CommandContext(t.Context(), "git", "describe", "--tags", "--abbrev=0", "--match=v*", "HEAD^")
	describe.Dir = testutil.Root()
	if tag, err := describe.Output(); err == nil {
		commit = strings.TrimSpace(string(tag))
	}
	const unpack = `git archive "$0" | tar --extract --directory "$1"`
	command := exec.CommandContext(t.Context(), "bash", "-o", "pipefail", "-c", unpack, commit, tree)
	command.Dir = testutil.Root()
	if said, err := command.CombinedOutput(); err != nil {
		t.Fatalf("commit %s, from which the test upgrades, is not in this clone; run `git fetch --unshallow`: %v\n%s", commit, err, said)
	}
	built, err := image.OperatorOf(t.Context(), tree, t.TempDir(), olderTag)
	if err != nil {
		t.Fatal(err)
	}
	if err := image.Push(t.Context(), operatorImage(pushRegistry(), olderTag), built); err != nil {
		t.Fatal(err)
	}
	return tree
}

func installManifest(ctx context.Context, tree, tag string) error {
	manifest, err := operatorManifest(ctx, tree, tag)
	if err != nil {
		return err
	}
	return install(ctx, manifest)
}

func removeManifest(ctx context.Context) error {
	manifest, err := operatorManifest(ctx, testutil.Root(), operatorTag)
	if err != nil {
		return err
	}
	return uninstall(ctx, manifest)
}

// chart is the name of the chart's folder and of its release.
const chart = "llama-stack-k8s-operator"

func installChart(ctx context.Context, tree, tag string) error {
	data := map[string]any{}
	for key, text := range operatorConfig().Object["data"].(map[string]any) {
		var value any
		if err := yaml.Unmarshal([]byte(text.(string)), &value); err != nil {
			return fmt.Errorf("read the key %s: %w", key, err)
		}
		data[key] = value
	}
	values, err := yaml.Marshal(map[string]any{
		"image": map[string]any{
			"repository": strings.TrimSuffix(operatorImage(registry, ""), ":"), "tag": tag, "pullPolicy": "Always",
		},
		"resources":      map[string]any{"requests": map[string]any{"cpu": "100m"}},
		"operatorConfig": map[string]any{"data": data},
	})
	if err != nil {
		return fmt.Errorf("write the values: %w", err)
	}
	folder := filepath.Join(tree, "charts", chart)
	parts := exec.CommandContext(ctx, "go", "run", "./hack/chart", filepath.Join(folder, "files"))
	parts.Dir = tree
	if said, err := parts.CombinedOutput(); err != nil {
		return fmt.Errorf("make the chart: %w: %s", err, said)
	}
	if err := helm(ctx, values, "upgrade", "--install", "--create-namespace", "--values=-", chart, folder); err != nil {
		return err
	}
	return available(ctx)
}

func rollBackChart(ctx context.Context, _, _ string) error {
	if err := helm(ctx, nil, "rollback", chart); err != nil {
		return err
	}
	return available(ctx)
}

func removeChart(ctx context.Context) error {
	_, err := kubectl(ctx, nil, "delete", "crd/"+names.CustomResourceDefinition, "--timeout=110s")
	err = errors.Join(err, helm(ctx, nil, "uninstall", chart))
	_, deleted := kubectl(ctx, nil, "delete", "namespace", names.OperatorNamespace, "--timeout=110s")
	return errors.Join(err, deleted)
}

// helm runs the helm that the Makefile builds, in the namespace of the operator.
func helm(ctx context.Context, input []byte, arguments ...string) error {
	command := exec.CommandContext(ctx, filepath.Join(testutil.Root(), ".cache", "bin", "helm"),
		append(arguments, "--namespace="+names.OperatorNamespace)...)
	command.Stdin = bytes.NewReader(input)
	if said, err := command.CombinedOutput(); err != nil {
		return fmt.Errorf("helm %s: %w: %s", arguments[0], err, said)
	}
	return nil
}
