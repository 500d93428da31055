package main

import (
	"bytes"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"

	"github.com/llamastack/llama-stack-k8s-operator/config"
	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil"
	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil/golden"
)

// made returns the bundle for a folder of config.
func made(t *testing.T, kustomization string) *bundle {
	t.Helper()
	manifest, err := testutil.Manifest(t.Context(), testutil.Root(), kustomization)
	testutil.Must(t, err)
	found, err := convert(manifest, &options{version: "0.10.0", replaces: "a.v0.9.0"})
	testutil.Must(t, err)
	return found
}

// The bundle and the manifest for OpenShift differ only in the certificates, which OLM makes and mounts for the
// webhooks. The operator signs its own certificate for metrics, because clusters other than OpenShift make none.
func TestSameAsOpenShift(t *testing.T) {
	bundle, openShift := made(t, "default"), made(t, "overlays/openshift")
	pod := openShift.csv.child("spec").child("install").child("spec").list("deployments")[0].child("spec").
		child("template").child("spec")
	delete(pod, "volumes")
	container := pod.list("containers")[0]
	delete(container, "volumeMounts")
	container["args"] = slices.DeleteFunc(container["args"].([]any), func(argument any) bool {
		name, path, _ := strings.Cut(argument.(string), "=")
		return strings.HasSuffix(name, "-cert-path") && path != certificates
	})
	for _, each := range openShift.objects() {
		annotations := each.child("metadata").child("annotations")
		for name := range annotations {
			if strings.HasPrefix(name, "service.beta.openshift.io/") {
				delete(annotations, name)
			}
		}
		if len(annotations) == 0 {
			delete(each.child("metadata"), "annotations")
		}
	}
	if diff := cmp.Diff(openShift.objects(), bundle.objects()); diff != "" {
		t.Errorf("differences (-OpenShift +bundle):\n%s", diff)
	}
}

// OLM registers both webhooks at the Service that it makes for the Deployment, and the definition names this Service.
func TestWebhooks(t *testing.T) {
	bundle := made(t, "default")
	const deployment = "llama-stack-k8s-operator-controller-manager"
	found := map[any]string{}
	for _, each := range bundle.csv.child("spec").list("webhookdefinitions") {
		if each["deploymentName"] != deployment || each["containerPort"] != 443.0 || each["targetPort"] != "webhook" {
			t.Errorf("webhook %v", each)
		}
		found[each["type"]], _ = each["webhookPath"].(string)
	}
	want := map[any]string{"ConversionWebhook": "/convert", "ValidatingAdmissionWebhook": "/validate"}
	if diff := cmp.Diff(want, found); diff != "" {
		t.Errorf("webhooks (-want +got):\n%s", diff)
	}
	conversion := bundle.definition.child("spec").child("conversion")
	name := conversion.child("webhook").child("clientConfig").child("service")["name"]
	if conversion["strategy"] != "Webhook" || name != deployment+"-service" {
		t.Errorf("the definition converts by %v with the Service %v", conversion["strategy"], name)
	}
}

// Each descriptor names a field of its version, and the CSV describes each version.
func TestDescriptors(t *testing.T) {
	var definition apiextensionsv1.CustomResourceDefinition
	testutil.Must(t, yaml.Unmarshal(config.Definition, &definition))
	owned := made(t, "default").csv.child("spec").child("customresourcedefinitions").list("owned")
	described := map[any]object{}
	for _, each := range owned {
		described[each["version"]] = each
	}
	for _, version := range definition.Spec.Versions {
		for _, root := range []string{"spec", "status"} {
			for _, descriptor := range described[version.Name].list(root + "Descriptors") {
				schema := version.Schema.OpenAPIV3Schema.Properties[root]
				for key := range strings.SplitSeq(descriptor["path"].(string), ".") {
					inner, ok := schema.Properties[key]
					if !ok {
						t.Errorf("%s has no field %s.%s", version.Name, root, descriptor["path"])
					}
					schema = inner
				}
			}
		}
		delete(described, version.Name)
	}
	if len(described) > 0 || len(owned) != len(definition.Spec.Versions) {
		t.Errorf("%d versions are described, and these do not exist: %v", len(owned), described)
	}
}

func TestMinKubeVersion(t *testing.T) {
	chart, err := os.ReadFile(filepath.Join(testutil.Root(), "charts/llama-stack-k8s-operator/Chart.yaml"))
	testutil.Must(t, err)
	version := made(t, "default").csv.child("spec")["minKubeVersion"].(string)
	if !strings.Contains(string(chart), "kubeVersion: \">="+version+"-0\"\n") {
		t.Errorf("the chart requires another version of Kubernetes than %s", version)
	}
}

func TestErrors(t *testing.T) {
	folder := t.TempDir()
	manifest := filepath.Join(folder, "manifest.yaml")
	testutil.Must(t, os.WriteFile(manifest, []byte("kind: Job\n"), 0o600))
	for _, tc := range []struct {
		args []string
		want string
	}{
		{[]string{"-version=v0.10.0"}, "specify one folder"},
		{[]string{"-version=1367fc45", folder}, "set a version such as v0.10.0"},
		{[]string{"-version=v0.9.0", folder}, "0.9.0 is not newer than 0.9.0"},
		{[]string{"-version=v0.10.0-rc.1", "-manifest=" + manifest, folder}, `the kind "Job"`},
	} {
		if err := run(tc.args, &bytes.Buffer{}); err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%q: error %v does not contain %q", tc.args, err, tc.want)
		}
	}
}

// The same manifest yields the same files, and no earlier file remains.
func TestRun(t *testing.T) {
	manifest, folder := testutil.ManifestFile(t, "default"), filepath.Join(t.TempDir(), "olm")
	var written []map[string][]byte
	for range 2 {
		testutil.Must(t, run([]string{"-version=v0.10.0", "-manifest=" + manifest, folder}, &bytes.Buffer{}))
		written = append(written, golden.Files(t, folder))
		testutil.Must(t, os.WriteFile(filepath.Join(folder, "bundle/manifests/old.yaml"), nil, 0o600))
	}
	if diff := cmp.Diff(written[0], written[1]); diff != "" {
		t.Errorf("the second run differs (-first +second):\n%s", diff)
	}
	for _, want := range []string{
		"bundle.Dockerfile", "bundle/metadata/annotations.yaml", "catalog.Dockerfile",
		"catalog/llama-stack-k8s-operator/catalog.yaml",
	} {
		if len(written[0][want]) == 0 {
			t.Errorf("there is no %s: %q", want, slices.Sorted(maps.Keys(written[0])))
		}
	}
}
