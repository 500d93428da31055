package cli_test

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	v1 "github.com/google/go-containerregistry/pkg/v1"
)

const (
	ownImage   = `distribution: {image: "example.com/stack:prod"}`
	unreadNote = `note: standard input: demo: spec.distribution.image: "example.com/stack:prod": this command does not read images, so it does not check the parts of the stack that depend on the configuration in this image; ` +
		`to check them, set --base to a file with the output of kubectl llamastack image inspect example.com/stack:prod -o config`
	releaseNote = `and the tag of this image is not the release of a server, so the command checks the stack for release 0.7; to check another release, set --release`
)

// TestUnreadImage checks that validate notes what it does not know about an image, checks the rest, and checks
// everything with --base and --release.
func TestUnreadImage(t *testing.T) {
	const vllm = `providers: {inference: {provider: vllm, endpoint: "http://vllm:8000"}}`
	folder := write(t, map[string]string{
		"config.yaml": ownConfig, "stack.yaml": stack(simple), "bad.yaml": "a: [", "empty.yaml": "",
	})
	file := func(name string) string { return filepath.Join(folder, name) }
	base, strict := []string{"--base", file("config.yaml")}, []string{"--strict"}
	both, missing := append(slices.Clone(base), "--release", "0.7"), []string{"--base", file("none")}
	noted := []string{unreadNote, "ok:"}
	for name, tc := range map[string]struct {
		spec string
		args []string
		code int
		want []string
		not  string
	}{
		"own image":                  {ownImage + ", " + vllm, nil, 0, noted, "warning:"},
		"own image, --strict":        {ownImage + ", " + vllm, strict, 0, noted, "warning:"},
		"model of the base":          {ownImage + ", resources: {models: [{name: m, provider: mine}]}", nil, 0, noted, "error:"},
		"several workers":            {ownImage + ", workload: {workers: 2}", nil, 0, []string{unreadNote}, "warning:"},
		"certificate":                {ownImage + ", networking: {tls: {enabled: true, secretName: cert}}", nil, 0, []string{unreadNote}, "warning:"},
		"no configuration in spec":   {ownImage, nil, 0, []string{"ok:"}, "note:"},
		"unknown type":               {ownImage + ", providers: {inference: {provider: vlm}}", nil, 1, []string{`spec.providers.inference.provider: "vlm" is not a type`, unreadNote}, "ok:"},
		"wrong type of a setting":    {ownImage + ", providers: {inference: {provider: vllm, settings: {max_tokens: many}}}", nil, 1, []string{`spec.providers.inference.settings.max_tokens: must be a whole number`}, "ok:"},
		"type of another release":    {ownImage + ", providers: {skills: {provider: inline::builtin}}", nil, 0, noted, "error:"},
		"--release only":             {ownImage + ", providers: {skills: {provider: inline::builtin}}", []string{"--release", "0.7"}, 1, []string{`release 0.7 has no configurable API "skills"`, unreadNote}, "ok:"},
		"pod template":               {ownImage + ", " + vllm + ", workload: {overrides: {podTemplate: {spec: {containres: []}}}}", nil, 1, []string{`spec.workload.overrides.podTemplate`}, "ok:"},
		"--base only":                {ownImage + ", " + vllm, base, 0, []string{releaseNote, "ok:"}, "warning:"},
		"--base and --release":       {ownImage + ", " + vllm, both, 0, []string{"ok:"}, "note:"},
		"model without its provider": {ownImage + ", resources: {models: [{name: m, provider: mine}]}", both, 1, []string{`spec.resources.models[0].provider`}, "ok:"},
		"--release of a name":        {`distribution: {name: starter}, providers: {skills: {provider: inline::builtin}}`, []string{"--release", "1.5"}, 0, []string{"ok:"}, "error:"},
		"unknown --release":          {ownImage, []string{"--release", "9.9"}, 2, []string{`error: --release: unknown server release "9.9"; known release lines: `}, "ok:"},
		"--base is missing":          {ownImage, missing, 2, []string{"error: --base: open "}, "ok:"},
		"--base is not YAML":         {ownImage, []string{"--base", file("bad.yaml")}, 2, []string{"is not YAML", "set --base to a file with the server's config.yaml"}, "ok:"},
		"--base is empty":            {ownImage, []string{"--base", file("empty.yaml")}, 2, []string{"is empty; set --base to a file with the server's config.yaml"}, "ok:"},
		"--base is a manifest":       {ownImage, []string{"--base", file("stack.yaml")}, 2, []string{"is not the configuration of a server; set --base to a file with"}, "ok:"},
	} {
		t.Run(name, func(t *testing.T) {
			got := run(t, stack("{"+tc.spec+"}"), append([]string{"validate", "-f", "-"}, tc.args...)...)
			got.exits(t, tc.code)
			contains(t, got.err, tc.want...)
			if strings.Contains(got.err, tc.not) {
				t.Errorf("unexpected %q in\n%s", tc.not, got.err)
			}
		})
	}
	two := stack("{"+ownImage+"}") + "---\n" + strings.ReplaceAll(stack("{"+ownImage+"}"), "demo", "other")
	same := run(t, two, "validate", "-f", "-", "--base", file("config.yaml"))
	two = strings.Replace(two, "stack:prod", "stack:next", 1)
	other := run(t, two, "validate", "-f", "-", "--base", file("config.yaml"))
	if same.code != 0 || other.code != 2 {
		t.Errorf("exit codes %d for one image, %d for two, want 0 and 2\n%s", same.code, other.code, same.err)
	}
	contains(t, other.err, "--base: the stacks use different images, example.com/stack:next, example.com/stack:prod, but ")
}

// TestBaseForOutput checks that commands with output take the same facts, and that their errors name the flags.
func TestBaseForOutput(t *testing.T) {
	manifest := stack("{" + ownImage + `, providers: {inference: {provider: vllm, endpoint: "http://vllm:8000"}}}`)
	before := strings.Replace(manifest, "vllm:8000", "vllm:9000", 1)
	folder := write(t, map[string]string{"config.yaml": ownConfig, "before.yaml": before})
	base := []string{"--base", folder + "/config.yaml", "--release", "0.7"}
	for name, args := range map[string][]string{
		"render": {"render", "-f", "-", "-o", "config"},
		"diff":   {"diff", "-f", "-", "--previous", folder + "/before.yaml"},
	} {
		without, with := run(t, manifest, args...), run(t, manifest, append(args, base...)...)
		contains(t, without.err, `error: standard input: demo: spec.distribution.image: "example.com/stack:prod": this command does not read the base `+
			`configuration of an image; set --base to a file with the configuration, set spec.baseConfig and add`)
		contains(t, with.out, "http://vllm:8000/v1")
		if without.code == 0 || without.out != "" || strings.Contains(with.err, "error:") {
			t.Errorf("%s: exit code %d, output %q, messages with --base: %s", name, without.code, without.out, with.err)
		}
	}
}

// TestInspectedBase checks that --base takes the output of image inspect.
func TestInspectedBase(t *testing.T) {
	config := write(t, map[string]string{"config.yaml": ownConfig}) + "/config.yaml"
	layout := makeLayout(t, map[string]v1.Image{"prod": serverImage(t, false, "amd64")}, nil)
	if none := run(t, "", "image", "inspect", "oci:"+layout+":prod", "-o", "config"); none.code != 1 || none.out != "" {
		t.Errorf("image without a configuration: exit code %d, output %q", none.code, none.out)
	}
	run(t, "", "image", "label", "oci:"+layout+":prod", "--config", config, "--push").mustExit(t, 0)
	got := run(t, "", "image", "inspect", "oci:"+layout+":prod", "-o", "config")
	if got.code != 0 || got.out != ownConfig {
		t.Errorf("exit code %d, output %q\n%s", got.code, got.out, got.err)
	}
	manifest := write(t, map[string]string{"stack.yaml": stack("{" + ownImage + `, resources: {models: [{name: m, provider: mine}]}}`)})
	checked := run(t, got.out, "validate", "-f", manifest+"/stack.yaml", "--base", "-", "--release", "0.7")
	contains(t, checked.err, "spec.resources.models[0].provider")
}

// TestUnreadReferences checks the notes about objects that are not in the files.
func TestUnreadReferences(t *testing.T) {
	got := run(t, stack(`{distribution: {name: starter}, networking: {tls: {caBundle: {configMapName: ca}}}, secretEnv: {B: {secretKeyRef: {name: s, key: b}},
	  A: {secretKeyRef: {name: s, key: a}}, C: {secretKeyRef: {name: r, key: c}},
	  D: {secretKeyRef: {name: known, key: d}}, E: {secretKeyRef: {name: twice, key: e}}}}`)+
		"---\n{apiVersion: v1, kind: Secret, metadata: {name: known}, stringData: {d: x}}\n"+
		strings.Repeat("---\n{apiVersion: v1, kind: Secret, metadata: {name: twice}, stringData: {e: x}}\n", 2), "validate", "--strict", "-f", "-")
	got.exits(t, 0)
	contains(t, got.err, `note: standard input: demo: spec.networking.tls.caBundle.configMapName: the files do not contain ConfigMap "ca", so this command does not check its certificates`,
		"note: standard input: demo: this command does not check these keys, because the files do not contain the Secret: r (c), s (a, b)\n",
		"note: standard input: demo: this command does not check these keys, because the files contain the Secret more than once: twice (e)\n")
}
