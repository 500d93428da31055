package plan_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/intent"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/plan"
)

// marked returns a stack that was created as v1alpha1, with these files in its userConfig.
func marked(t *testing.T, spec string, files map[string][]byte) plan.Input {
	t.Helper()
	in := input(t, spec)
	in.Object.Annotations = map[string]string{names.AnnotationCompat: names.CompatV1Alpha1}
	if in.Override != nil {
		in.Override.Key = intent.OverrideKey(in.Object, files)
		in.Override.Data, in.Override.Files = files[in.Override.Key], files
	}
	return in
}

func TestUserConfigOfAnOlderStack(t *testing.T) {
	const config, own = "overrideConfig: {configMapName: mine}\n", "workload: {workers: 2, overrides: {command: [run]}}\n"
	for name, tc := range map[string]struct {
		spec     string
		files    []string
		path     string
		launched bool
		warns    bool
	}{
		"usual file": {
			config,
			[]string{"config.yaml", "more.py"},
			"/etc/llama-stack/config.yaml", true,
			false,
		},
		"file of older releases":    {config, []string{"run.yaml"}, "/etc/llama-stack/run.yaml", true, true},
		"both":                      {config, []string{"run.yaml", "config.yaml"}, "/etc/llama-stack/config.yaml", true, false},
		"own command":               {config + own, []string{"run.yaml"}, "/etc/llama-stack/run.yaml", false, false},
		"own command, another file": {config + own, []string{"mine.yaml"}, "/etc/llama-stack/config.yaml", false, false},
		"workers": {
			config + "workload: {workers: 4}\n",
			[]string{"config.yaml"},
			"/etc/llama-stack/config.yaml", true, false,
		},
	} {
		files := make(map[string][]byte)
		for _, file := range tc.files {
			files[file] = []byte("version: 2\ndistro_name: a\nproviders: {}\nserver: {tls_certfile: /a, tls_keyfile: /b}\n")
		}
		built := build(t, marked(t, tc.spec, files))
		server := container(t, built)
		if built.Config != nil || built.ConfigMapName != "mine" {
			t.Errorf("%s: mounts ConfigMap %q, want the user's ConfigMap", name, built.ConfigMapName)
		}
		if !slices.Contains(environment(server), "LLAMA_STACK_CONFIG="+tc.path) {
			t.Errorf("%s: environment is %v, want the path %s", name, environment(server), tc.path)
		}
		if launched := len(server.Command) == 3 && strings.Contains(server.Command[2], "uvicorn"); launched != tc.launched {
			t.Errorf("%s: command is %q", name, server.Command)
		}
		if built.ServesTLS == tc.launched && strings.HasSuffix(tc.path, tc.files[0]) {
			t.Errorf("%s: serves TLS %v; only a user's own command may read the certificate", name, built.ServesTLS)
		}
		if warns := len(built.Warnings) > 0; warns != tc.warns {
			t.Errorf("%s: warnings %v", name, built.Warnings)
		}
	}
}

// A change to any file in the ConfigMap replaces the pods, because the configuration can include another file.
func TestAnyFileOfAUserConfigReplacesThePods(t *testing.T) {
	const config = "overrideConfig: {configMapName: mine}\n"
	own := []byte("distro_name: a\nproviders: {}\n")
	one := build(t, marked(t, config, map[string][]byte{"config.yaml": own, "more.py": []byte("1")}))
	other := build(t, marked(t, config, map[string][]byte{"config.yaml": own, "more.py": []byte("2")}))
	if one.ConfigHash == other.ConfigHash || one.Rendered.Record.Inputs == other.Rendered.Record.Inputs {
		t.Error("a changed file does not change the hash")
	}
}

// If a v1alpha1 stack has a certificate, the image's entrypoint starts the server, and the server reads a copy of the
// user's ConfigMap.
func TestCertificateOfAnOlderStack(t *testing.T) {
	built := build(t, marked(t, "overrideConfig: {configMapName: mine}\nnetworking: {tls: {enabled: true, secretName: c}}\n",
		map[string][]byte{"config.yaml": []byte("distro_name: a\nproviders: {}\n")}))
	if built.Config == nil || !built.ServesTLS || len(container(t, built).Command) != 0 {
		t.Errorf("config %q, TLS %v, command %q", built.Config, built.ServesTLS, container(t, built).Command)
	}
}

// A v1alpha1 stack with workers and without a base uses the image's configuration. A warning reports that the workers
// are ignored.
func TestWorkersOfAnOlderStack(t *testing.T) {
	in := marked(t, "distribution: {image: \"example.com/mine:1\"}\nworkload: {workers: 2}\n", nil)
	built := build(t, in)
	if built.Mode != plan.ModeImageDefault || len(built.Warnings) != 1 || !built.Warnings[0].Ignored {
		t.Errorf("mode %s, warnings %v", built.Mode, built.Warnings)
	}
	if !slices.Contains(environment(container(t, built)), "LLS_WORKERS=2") {
		t.Errorf("environment is %v", environment(container(t, built)))
	}
	delete(in.Object.Annotations, names.AnnotationCompat)
	if _, err := plan.Build(in); err == nil {
		t.Error("a stack without the annotation has a plan without a base")
	}
}

// If the user's ConfigMap is in another namespace, the pods mount a copy, because pods cannot mount a ConfigMap from
// another namespace.
func TestUserConfigOfAnotherNamespace(t *testing.T) {
	for _, older := range []bool{true, false} {
		files := map[string][]byte{"config.yaml": []byte("distro_name: a\nproviders: {}\n")}
		in := marked(t, "overrideConfig: {configMapName: mine}\n", files)
		in.Override.Namespace = "shared"
		if !older {
			in.Object.Annotations = nil
		}
		built := build(t, in)
		if string(built.Config) != "distro_name: a\nproviders: {}\n" || !strings.HasPrefix(built.ConfigMapName, "demo-config-") {
			t.Errorf("older %v: config %q in %s", older, built.Config, built.ConfigMapName)
		}
		if launched := len(container(t, built).Command) > 0; launched != older {
			t.Errorf("older %v: command %q", older, container(t, built).Command)
		}
	}
}
