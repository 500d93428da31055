package contract

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/llamastack/llama-stack-k8s-operator/internal/cli"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
)

// podOf renders a stack with this spec.server, together with a ConfigMap `mine`, and returns the stack's pod.
func podOf(t *testing.T, server, config string) *corev1.PodSpec {
	t.Helper()
	manifest := "apiVersion: llamastack.io/v1alpha1\nkind: LlamaStackDistribution\nmetadata: {name: mine}\nspec:\n  server:\n    " +
		strings.ReplaceAll(strings.TrimSpace(server), "\n", "\n    ") +
		"\n---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: mine}\ndata:\n  config.yaml: " + string(quoted(t, config)) + "\n"
	file := filepath.Join(t.TempDir(), "stack.yaml")
	if err := os.WriteFile(file, []byte(manifest), 0o600); err != nil {
		t.Fatal(err)
	}
	var out, errs bytes.Buffer
	if code := cli.Run(cli.Streams{In: strings.NewReader(""), Out: &out, Err: &errs}, "test",
		[]string{"render", "-f", file, "-o", "all"}); code != 0 {
		t.Fatalf("%s\n%s", manifest, errs.String())
	}
	objects, err := documents(out.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	at := slices.IndexFunc(objects, func(object map[string]any) bool { return object["kind"] == "Deployment" })
	if at < 0 {
		t.Fatalf("no Deployment in\n%s", out.String())
	}
	deployment := &appsv1.Deployment{}
	if err := json.Unmarshal(quoted(t, objects[at]), deployment); err != nil {
		t.Fatal(err)
	}
	return &deployment.Spec.Template.Spec
}

func quoted(t *testing.T, value any) []byte {
	t.Helper()
	data, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

const ownConfig = "version: 2\nimage_name: mine\nproviders: {}\n"

// Pods keep the environment variables for Services, because a configuration can read them. The exception in this test
// is the pod with a generated configuration, which does not have these variables.
func TestServiceLinks(t *testing.T) {
	for server, want := range map[string]bool{
		"distribution: {name: starter}":                                                     true,
		"distribution: {name: starter}\nuserConfig: {configMapName: mine}":                  true,
		"distribution: {image: quay.io/team/llama:prod}":                                    true,
		"distribution: {name: starter}\nuserConfig: {configMapName: mine}\nworkers: 2":      true,
		"distribution: {name: starter}\nresources: {models: [{name: m, provider: openai}]}": false,
	} {
		pod := podOf(t, server, ownConfig+"vector_stores: {x: '${env.VLLM_SERVICE_HOST:=}'}\n")
		if links := pod.EnableServiceLinks == nil || *pod.EnableServiceLinks; links != want {
			t.Errorf("%s\nthe pod has the variables of Services: %v, want %v", server, links, want)
		}
	}
}

// The script of the launcher contains a pattern for server versions with a suffix.
func TestLauncherReadsVersionsWithSuffixes(t *testing.T) {
	command := podOf(t, "distribution: {name: starter}\nuserConfig: {configMapName: mine}", ownConfig).Containers[0].Command
	if len(command) != 3 || !strings.Contains(command[2], "0.2.1[0-6][!0-9]*") {
		t.Errorf("command %q", command)
	}
}

// If a stack mounts its own configuration and sets a number of workers, the operator does not mount a second
// configuration.
func TestOwnMountAndWorkers(t *testing.T) {
	pod := podOf(t, `distribution: {name: starter}
workers: 4
podOverrides:
  volumes: [{name: own, configMap: {name: mine}}]
  volumeMounts: [{name: own, mountPath: /etc/llama-stack}]`, ownConfig)
	server := pod.Containers[0]
	if len(server.Command) > 0 || slices.ContainsFunc(server.Env,
		func(e corev1.EnvVar) bool { return e.Name == names.EnvRunConfig }) {
		t.Errorf("command %q, environment %v", server.Command, server.Env)
	}
	var volumes []string
	for _, mount := range server.VolumeMounts {
		volumes = append(volumes, mount.Name+" "+mount.MountPath)
	}
	if want := []string{"lls-storage /.llama", "own /etc/llama-stack"}; !slices.Equal(volumes, want) {
		t.Errorf("mounts %q, want %q", volumes, want)
	}
	if !slices.ContainsFunc(server.Env, func(e corev1.EnvVar) bool {
		return e.Name == names.EnvWorkers &&
			e.Value == "4"
	}) {
		t.Errorf("environment %v", server.Env)
	}
}

// The tag of a custom image does not change the container, but the version in the tag of a published image does.
func TestTagOfAnOwnImage(t *testing.T) {
	for _, image := range []string{"quay.io/team/llama:1.2", "quay.io/team/llama:v1.4.2", "quay.io/team/llama:prod"} {
		pod := podOf(t, "distribution: {image: "+image+"}", ownConfig)
		server := pod.Containers[0]
		if len(server.Args)+len(server.Command) > 0 || len(server.VolumeMounts) != 1 {
			t.Errorf("%s: command %q, arguments %q, mounts %v", image, server.Command, server.Args, server.VolumeMounts)
		}
	}
	published := podOf(t, "distribution: {image: docker.io/ogxai/distribution-starter:1.2.5}", ownConfig).Containers[0]
	if !slices.Equal(published.Args, []string{"--insecure"}) {
		t.Errorf("a published image: arguments %q", published.Args)
	}
}
