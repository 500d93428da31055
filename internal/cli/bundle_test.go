package cli_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/partial"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"

	"github.com/llamastack/llama-stack-k8s-operator/internal/cli/bundle"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/operatorconfig"
	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil"
)

// makeBundle writes a bundle that contains one image under several names. The first name is the name of the operator's
// image.
func makeBundle(t *testing.T, references ...string) (file, digest string) {
	t.Helper()
	folder := t.TempDir()
	image := empty.Image
	testutil.Must(t, layout.Path(folder).WriteImage(image))
	descriptor, err := partial.Descriptor(image)
	testutil.Must(t, err)
	var images []bundle.Image
	for i, reference := range references {
		images = append(images, bundle.Image{Reference: reference, Operator: i == 0, Descriptor: *descriptor})
	}
	var content bytes.Buffer
	testutil.Must(t, bundle.Write(t.Context(), &content, bundle.Layout(folder), images, nil))
	file = filepath.Join(t.TempDir(), "bundle.tar")
	testutil.Must(t, os.WriteFile(file, content.Bytes(), 0o600))
	return file, descriptor.Digest.String()
}

var bundled = []string{
	"llama-stack-k8s-operator:dev", "docker.io/ogxai/distribution-starter:0.7.1", "docker.io/ogxai/distribution-starter:0.7.3",
	"quay.io/team/provider:1.2",
}

// The command prints the settings in each output format. The operator can read the printed ConfigMap.
func TestBundleLoadOutput(t *testing.T) {
	file, digest := makeBundle(t, bundled...)
	load := func(t *testing.T, form string) string {
		t.Helper()
		got := run(t, "", "bundle", "load", file, "--registry", "registry.corp:5000/mirror", "--dry-run", "-o", form)
		got.exits(t, 0)
		contains(t, got.err, "nothing is written")
		return strings.ReplaceAll(got.out, digest, "DIGEST")
	}
	for form, want := range map[string]string{
		"values": `image:
  digest: DIGEST
  repository: registry.corp:5000/mirror/library/llama-stack-k8s-operator
operatorConfig:
  data:
    image-overrides:
      starter: registry.corp:5000/mirror/ogxai/distribution-starter:0.7.1@DIGEST
      starter@0.7: registry.corp:5000/mirror/ogxai/distribution-starter:0.7.1@DIGEST
      starter@0.7.1: registry.corp:5000/mirror/ogxai/distribution-starter:0.7.1@DIGEST
      starter@0.7.3: registry.corp:5000/mirror/ogxai/distribution-starter:0.7.3@DIGEST
    registries:
      rewrite:
        docker.io: registry.corp:5000/mirror
        quay.io: registry.corp:5000/mirror
`,
		"variables": `env:
- name: RELATED_IMAGE_STARTER
  value: registry.corp:5000/mirror/ogxai/distribution-starter:0.7.1@DIGEST
`,
		"images": `IMAGE                                       PLACE                                                           DIGEST
docker.io/ogxai/distribution-starter:0.7.1  registry.corp:5000/mirror/ogxai/distribution-starter:0.7.1      DIGEST
docker.io/ogxai/distribution-starter:0.7.3  registry.corp:5000/mirror/ogxai/distribution-starter:0.7.3      DIGEST
llama-stack-k8s-operator:dev                registry.corp:5000/mirror/library/llama-stack-k8s-operator:dev  DIGEST
quay.io/team/provider:1.2                   registry.corp:5000/mirror/team/provider:1.2                     DIGEST
`,
	} {
		if diff := cmp.Diff(want, load(t, form)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", form, diff)
		}
	}
	object := &corev1.ConfigMap{}
	testutil.Must(t, yaml.Unmarshal([]byte(load(t, "configmap")), object))
	for key, text := range object.Data {
		object.Data[key] = strings.ReplaceAll(text, "DIGEST", digest)
	}
	found, problems := operatorconfig.Read(object, operatorconfig.Config{})
	if len(problems) > 0 || len(found.Images) != 4 ||
		found.Registries.Rewrite["docker.io"] != "registry.corp:5000/mirror" {
		t.Errorf("the operator reads the configuration %+v with the errors %v", found, problems)
	}
}

// Each image is written once to a registry that requires a user name and a password.
func TestBundleLoad(t *testing.T) {
	server := serveImages(t)
	file, digest := makeBundle(t, bundled...)
	server.logIn(t, "wrong")
	load := func(code int, want string) {
		t.Helper()
		got := run(t, "", "bundle", "load", file, "--registry", server.host+"/mirror", "--insecure", "-o", "images")
		if got.code != code || !strings.Contains(got.err, want) ||
			(code == 0) != strings.Contains(got.out, "/mirror/team/provider:1.2") {
			t.Errorf("exit code %d, want %d and %q in:\n%s%s", got.code, code, want, got.out, got.err)
		}
		if strings.Contains(got.out+got.err, "s3cret") {
			t.Errorf("the password is shown:\n%s%s", got.out, got.err)
		}
	}
	load(1, "run docker login")
	server.logIn(t, "s3cret")
	load(0, "sent in")
	writes := server.writes.Load()
	load(0, "the registry already has the image: "+digest)
	if now := server.writes.Load(); now != writes {
		t.Errorf("the second load sent %d write requests", now-writes)
	}
	ref, err := name.ParseReference(server.host+"/mirror/ogxai/distribution-starter:0.7.3", name.Insecure)
	testutil.Must(t, err)
	found, err := remote.Head(ref, remote.WithAuthFromKeychain(authn.DefaultKeychain))
	if err != nil || found.Digest.String() != digest {
		t.Errorf("%v, %v, want %s", found, err, digest)
	}
}

func TestBundleLoadRefuses(t *testing.T) {
	file, _ := makeBundle(t, bundled...)
	folder := write(t, map[string]string{"empty.pem": "no certificate", "bundle.tar": "no archive"})
	server := serveImages(t)
	for _, tc := range []struct {
		name string
		args []string
		code int
		want string
	}{
		{"no registry", []string{file}, 2, `required flag(s) "registry"`},
		{"a registry with a scheme", []string{file, "--registry", "https://registry.corp"}, 2, "use host[:port]"},
		{
			"unknown output format",
			[]string{file, "--registry", "registry.corp", "-o", "json"},
			2,
			"values, configmap, variables, images",
		},
		{
			"certificate file without certificates",
			[]string{file, "--registry", "registry.corp", "--ca-file", folder + "/empty.pem"},
			2,
			"no certificates in PEM format",
		},
		{
			"missing certificate file",
			[]string{file, "--registry", "registry.corp", "--ca-file", folder + "/none.pem"},
			2,
			"--ca-file: open",
		},
		{
			"not an archive",
			[]string{folder + "/bundle.tar", "--registry", "registry.corp"},
			1, "the file is not a tar archive",
		},
		{"plain HTTP", []string{file, "--registry", server.host}, 1, "for this command, set --insecure"},
		{
			"an expired time limit",
			[]string{file, "--registry", server.host, "--insecure", "--timeout", "1ns"},
			1,
			"run the command again to continue",
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got := run(t, "", append([]string{"bundle", "load"}, tc.args...)...)
			got.refuses(t, tc.code, tc.want)
		})
	}
	got := run(t, "", "bundle", "load", file, "--registry", "registry.corp", "--dry-run", "-o", "variables")
	if got.code != 0 || strings.Contains(got.err, "default release") {
		t.Errorf("exit code %d: %s", got.code, got.err)
	}
	file, _ = makeBundle(t, bundled[0], bundled[2])
	got = run(t, "", "bundle", "load", file, "--registry", "registry.corp", "--dry-run", "-o", "variables")
	if got.code != 0 || got.out != "env: []\n" || !strings.Contains(got.err, `default release of "starter"`) || !strings.Contains(got.err, "can name only default releases; set --output to values or configmap") {
		t.Errorf("exit code %d: %s%s", got.code, got.out, got.err)
	}
}

// The image commands report an error if the file with the certificate authorities is invalid.
func TestAuthoritiesOfImages(t *testing.T) {
	folder := write(t, map[string]string{"empty.pem": "no certificate", "config.yaml": ownConfig})
	for _, args := range [][]string{
		{"image", "inspect", "registry.example.com/team/server:1"},
		{"image", "label", "registry.example.com/team/server:1", "--config", folder + "/config.yaml"},
	} {
		got := run(t, "", append(args, "--ca-file", folder+"/empty.pem")...)
		got.exits(t, 2)
		contains(t, got.err, "--ca-file: the file contains no certificates in PEM format")
	}
}
