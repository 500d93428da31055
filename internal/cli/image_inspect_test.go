package cli_test

import (
	"encoding/base64"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/mutate"

	reader "github.com/llamastack/llama-stack-k8s-operator/internal/cluster/resolve/registry"
	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil"
	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil/golden"
)

// The golden files contain the output for an image and an index in an OCI layout, before and after the labels are set.
func TestImageOutput(t *testing.T) {
	for _, tc := range []struct {
		name  string
		index bool
		more  int
		args  []string
	}{
		{name: "base64", args: []string{"--release", "0.7.3"}},
		{name: "layer", more: 60 << 10},
		{name: "index", index: true, more: 60 << 10, args: []string{"--release", "0.7.3", "--provider"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			folder := write(t, map[string]string{
				"config.yaml":   ownConfig + strings.Repeat("# more\n", tc.more/7),
				"provider.yaml": providerFile,
			})
			images, indexes := map[string]v1.Image{"0.7.3": serverImage(t, false, "amd64")}, map[string]v1.ImageIndex{}
			if tc.index {
				images, indexes = nil, map[string]v1.ImageIndex{"0.7.3": serverIndex(t, false)}
			}
			path := makeLayout(t, images, indexes)
			if len(tc.args) == 3 {
				tc.args = append(tc.args, folder+"/provider.yaml")
			}
			files := map[string][]byte{}
			show := func(file string, code int, args ...string) {
				t.Helper()
				got := run(t, "", append([]string{"image"}, args...)...)
				got.exits(t, code, args)
				files[file] = []byte(strings.ReplaceAll(got.out+"---\n"+got.err, path, "DIR"))
			}
			show("1-unlabeled.txt", 1, "inspect", "oci:"+path+":0.7.3")
			label := append([]string{"label", "oci:" + path, "--config", folder + "/config.yaml"}, tc.args...)
			show("2-dry.txt", 0, label...)
			show("3-label.txt", 0, append(label, "--push")...)
			show("4-again.txt", 0, append(label, "--push", "-o", "yaml")...)
			show("5-inspect.txt", 0, "inspect", "oci:"+path+":0.7.3")
			show("6-inspect.json", 0, "inspect", "oci:"+path, "-o", "json")
			golden.Dir(t, filepath.Join("testdata/image", tc.name), files)
			index, err := os.ReadFile(filepath.Join(path, "index.json"))
			if err != nil || strings.Count(string(index), `"org.example":"kept"`) != 1 {
				t.Errorf("the index of the layout has changed: %s, error %v", index, err)
			}
			temporary, err := filepath.Glob(filepath.Join(path, "*", "*", ".llamastack-*"))
			if err != nil || len(temporary) > 0 {
				t.Errorf("temporary files %q are left, %v", temporary, err)
			}
		})
	}
}

// withLabels returns an image with labels.
func withLabels(t *testing.T, labels map[string]string) v1.Image {
	t.Helper()
	image, err := mutate.Config(serverImage(t, false, "amd64"), v1.Config{Labels: labels})
	testutil.Must(t, err)
	return image
}

func encoded(text string) string { return base64.StdEncoding.EncodeToString([]byte(text)) }

// For an image that the operator would reject, the exit code is 1, and a message states the reason.
func TestImageInspectRefuses(t *testing.T) {
	server := serveImages(t)
	count := 0
	push := func(labels map[string]string) string {
		count++
		return server.push(t, fmt.Sprintf("team/own-%d:0.7.3", count), withLabels(t, labels))
	}
	fits := push(map[string]string{reader.LabelBase64: encoded(ownConfig)})
	index := server.push(t, "team/index:0.7.3", serverIndex(t, false))
	operator := func(registries string) string {
		return write(t, map[string]string{"operator.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: llama-stack-operator-config}\ndata:\n  registries: |\n    " + registries + "\n"}) + "/operator.yaml"
	}
	insecure := fmt.Sprintf("insecure: [%q]", server.host)
	for name, tc := range map[string]struct {
		image string
		args  []string
		code  int
		want  string
	}{
		"valid": {fits, []string{"--insecure"}, 0, "fits release 0.7"},
		"insecure in the operator's configuration": {fits, []string{"--operator-config", operator(insecure)}, 0, "fits release 0.7"},
		"mirror": {"docker.io/library/own:0.7.3", []string{"--operator-config", operator(fmt.Sprintf("{%s, rewrite: {docker.io/library/own: %s/team/own-1}}", insecure, server.host))}, 0, "fits release 0.7"},
		"registry is not insecure in the operator's configuration": {fits, []string{"--operator-config", operator("insecure: []")}, 1, "ask an administrator to list the registry under registries.insecure; for this command, set --insecure"},
		"registry not allowed": {fits, []string{
			"--operator-config",
			operator(fmt.Sprintf("{%s, allow: [quay.io]}", insecure)),
		}, 1, "is not in registries.allow"},
		"the operator does not read labels":    {fits, []string{"--operator-config", operator(fmt.Sprintf("{%s, readLabels: false}", insecure))}, 1, "the operator does not read images, because registries.readLabels"},
		"no flag":                              {fits, nil, 1, "; for this command, set --insecure"},
		"missing platform":                     {index, []string{"--insecure", "--platform", "linux/s390x"}, 1, "the image has no manifest for linux/s390x"},
		"invalid platform":                     {index, []string{"--insecure", "--platform", "linux"}, 2, `--platform: "linux" is not a valid platform`},
		"unknown format":                       {index, []string{"--insecure", "-o", "xml"}, 2, `--output: "xml" is not a valid value; use one of table, json, yaml`},
		"missing image":                        {server.host + "/team/none:1", []string{"--insecure"}, 1, "the registry responds with status 404 Not Found and code NAME_UNKNOWN"},
		"every platform":                       {index, []string{"--insecure"}, 1, "images that the operator would not accept: 2 of 2"},
		"one platform":                         {index, []string{"--insecure", "--platform", "linux/arm64"}, 1, "images that the operator would not accept: 1 of 1"},
		"not base64":                           {push(map[string]string{reader.LabelBase64: "***"}), []string{"--insecure"}, 1, `label "io.llamastack.config.base64": the value is not base64`},
		"label with an unsupported version":    {push(map[string]string{reader.LabelBase64: encoded(ownConfig), reader.LabelConfigVersion: "3"}), []string{"--insecure"}, 1, `label "io.llamastack.config.version": Unsupported config.yaml version 3`},
		"label with another version":           {push(map[string]string{reader.LabelBase64: encoded(ownConfig), reader.LabelConfigVersion: "1"}), []string{"--insecure"}, 0, `label "io.llamastack.config.version" contains version 1, but the configuration has version 2; the operator uses the version of the configuration`},
		"invalid configuration":                {push(map[string]string{reader.LabelBase64: encoded(strings.Replace(ownConfig, "config: {}", "config: {allowed_models: 7}", 1))}), []string{"--insecure"}, 1, "providers.inference[0].config.allowed_models: "},
		"invalid for the release of the label": {push(map[string]string{reader.LabelBase64: encoded(strings.Replace(ownConfig, "apis: [inference]", "apis: [inference, safety]", 1)), reader.LabelRelease: "1.5"}), []string{"--insecure"}, 1, `apis[1]: server release 1.5 has no API "safety"`},
		"unknown release":                      {push(map[string]string{reader.LabelBase64: encoded(ownConfig), reader.LabelRelease: "9.9"}), []string{"--insecure"}, 0, "the server release of image"},
		"missing layer":                        {push(map[string]string{reader.LabelLayer: "sha256:" + strings.Repeat("0", 64), reader.LabelPath: "a"}), []string{"--insecure"}, 1, "the image has no layer sha256:000"},
		"invalid provider":                     {push(map[string]string{reader.LabelProvider: encoded("kind: none\n")}), []string{"--insecure"}, 1, "label io.llamastack.provider: lls-provider-spec.yaml: line 1: apiVersion is missing"},
		"provider only":                        {push(map[string]string{reader.LabelProvider: encoded(providerFile)}), []string{"--insecure"}, 0, "the metadata is valid"},
	} {
		t.Run(name, func(t *testing.T) {
			got := run(t, "", append([]string{"image", "inspect", tc.image}, tc.args...)...)
			got.exits(t, tc.code)
			contains(t, got.out+got.err, tc.want)
		})
	}
}
