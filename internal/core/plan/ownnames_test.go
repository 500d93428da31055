package plan_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/intent"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/plan"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/render"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/release"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/validate"
)

// rendered are specs whose pods, over all releases, have every part that the operator renders.
var rendered = map[string]string{
	"every part": `
providers: {inference: {provider: vllm, endpoint: "http://vllm:8000", apiKey: {secretKeyRef: {name: vllm, key: token}}}}
storage: {sql: {type: postgres, connectionString: {secretKeyRef: {name: db, key: url}}}}
networking: {port: 9000, tls: {enabled: true, secretName: tls, caBundle: {configMapName: ca}}}
modelFiles: {persistentVolumeClaim: {claimName: models}, huggingFaceCache: hub, tiktokenCache: t}
workload: {workers: 2, storage: {}}`,
	"containers": `
storage: {kv: {type: redis, endpoint: "redis://redis:6379"}}
modelFiles: {image: {reference: example.com/a}, huggingFaceCache: hub}
externalProviders: {inference: [{providerId: mine, image: example.com/b}]}
offline: true
workload: {storage: {mountPath: /data}}`,
	"the image's configuration":       "workload: {replicas: 1}",
	"a configuration for the workers": "workload: {workers: 2}",
	"the user's configuration":        "overrideConfig: {configMapName: mine}\nworkload: {storage: {}}",
}

// Package validate reports a volume, a mount, a container, a port, a variable or an annotation of the user that has the
// name of one that the operator renders.
func TestValidateKnowsTheRenderedNames(t *testing.T) {
	seen := map[string]bool{}
	for name, spec := range rendered {
		for _, line := range release.Lines() {
			of := fmt.Sprintf("distribution: {name: starter, version: %q}\n", line)
			for _, compat := range []bool{false, true} {
				in := input(t, of+spec)
				if compat {
					in = marked(t, of+spec, map[string][]byte{"config.yaml": []byte("distro_name: a\nproviders: {}\n")})
				}
				if networking := in.Object.Spec.Networking; networking != nil {
					in.Trust.Own = [][]byte{}
				}
				built, err := plan.Build(in)
				if err != nil {
					continue // the release does not have a part of the spec
				}
				t.Run(fmt.Sprintf("%s/%s/%t", name, line, compat), func(t *testing.T) {
					checkNames(t, in, templateOf(t, built), seen)
				})
			}
		}
	}
	for _, want := range []string{
		names.DirectoryContainer, names.RegistryContainer, names.ExternalContainer, names.ExternalCopyContainer("mine"),
		names.ModelFilesContainer, names.EnvOperatorPrefix + "GENERATION", names.CADir, names.TLSDir, names.StartupDir,
	} {
		if !seen[want] {
			t.Errorf("no stack renders %s", want)
		}
	}
}

func templateOf(t *testing.T, built *plan.Plan) *corev1.PodTemplateSpec {
	t.Helper()
	data, err := json.Marshal(built.Rendered.Deployment.Spec.Template)
	template := &corev1.PodTemplateSpec{}
	if err == nil {
		err = json.Unmarshal(data, template)
	}
	if err != nil {
		t.Fatal(err)
	}
	return template
}

// checkNames checks each name in a rendered template.
func checkNames(t *testing.T, in plan.Input, template *corev1.PodTemplateSpec, seen map[string]bool) {
	t.Helper()
	check := func(name, path string, change func(*v1alpha2.WorkloadOverrides)) {
		t.Helper()
		seen[name] = true
		object := in.Object.DeepCopy()
		if object.Spec.Workload == nil {
			object.Spec.Workload = &v1alpha2.WorkloadSpec{}
		}
		object.Spec.Workload.Overrides = &v1alpha2.WorkloadOverrides{}
		change(object.Spec.Workload.Overrides)
		_, messages, errs := validate.Spec(object)
		for _, err := range errs {
			messages = append(messages, intent.Message(err))
		}
		path = "spec.workload.overrides." + path
		if !slices.ContainsFunc(messages, func(text string) bool { return strings.HasPrefix(text, path) }) {
			t.Errorf("nothing about %q at %s: %q", name, path, messages)
		}
	}
	server := &template.Spec.Containers[0]
	for i := range template.Spec.Volumes {
		volume := corev1.Volume{Name: template.Spec.Volumes[i].Name}
		check(volume.Name, "volumes[0].name", func(o *v1alpha2.WorkloadOverrides) { o.Volumes = []corev1.Volume{volume} })
	}
	for _, mount := range server.VolumeMounts {
		mine := corev1.VolumeMount{Name: "mine", MountPath: mount.MountPath}
		if replaceable(in, &mount) {
			continue
		}
		check(mount.MountPath, "volumeMounts[0].mountPath", func(o *v1alpha2.WorkloadOverrides) {
			o.Volumes, o.VolumeMounts = []corev1.Volume{{Name: "mine"}}, []corev1.VolumeMount{mine}
		})
	}
	for i := range template.Spec.InitContainers {
		container := template.Spec.InitContainers[i].Name
		check(container, "podTemplate.spec.initContainers[0].name", patchOf(`{"initContainers":[{"name":%q,"image":"a"}]}`, container))
	}
	for _, port := range server.Ports {
		check(port.Name, "podTemplate.spec.containers[0].ports[0].containerPort",
			patchOf(`{"containers":[{"name":"side","image":"a","ports":[{"containerPort":%d}]}]}`, port.ContainerPort))
		check(port.Name, "podTemplate.spec.containers[0].ports[0].name",
			patchOf(`{"containers":[{"name":%q,"ports":[{"name":%q,"containerPort":7}]}]}`, server.Name, port.Name))
	}
	for _, variable := range server.Env {
		mine := corev1.EnvVar{Name: variable.Name, Value: "/elsewhere"}
		if settable(in, &variable) {
			continue
		}
		check(variable.Name, "env[0].name", func(o *v1alpha2.WorkloadOverrides) { o.Env = []corev1.EnvVar{mine} })
	}
	for key := range template.Annotations {
		check(key, "podAnnotations["+key+"]", func(o *v1alpha2.WorkloadOverrides) { o.PodAnnotations = map[string]string{key: "a"} })
	}
}

// replaceable reports whether users may mount a volume in place of this mount: for the data, if the spec has no
// storage, and in a v1alpha1 stack, for a configuration that is generated only for the workers.
func replaceable(in plan.Input, mount *corev1.VolumeMount) bool {
	workload := in.Object.Spec.Workload
	switch mount.Name {
	case names.DataVolume:
		return workload == nil || workload.Storage == nil
	case names.ConfigVolume, names.StartupVolume:
		return plan.BaseOptional(in.Object)
	}
	return false
}

// settable reports whether users may set a variable: those of spec.offline, PYTHONPATH, to which the operator adds its
// own directory, and those for directories that depend on the configuration. This package warns if data is then not on
// the volume. In v1alpha1 stacks, users may also set the path of their own configuration.
func settable(in plan.Input, variable *corev1.EnvVar) bool {
	for _, offline := range in.Distribution.Release.Offline.Variables {
		if offline.Name == variable.Name {
			return true
		}
	}
	if variable.Name == names.EnvPythonPath {
		return true
	}
	if variable.Name == names.EnvConfig {
		return plan.ModeOf(&in.Object.Spec) == plan.ModeImageDefault
	}
	storage := in.Object.Spec.Workload != nil && in.Object.Spec.Workload.Storage != nil
	reported := storage && slices.Contains([]string{names.EnvHome, names.EnvModelCache, "OGX_CONFIG_DIR"}, variable.Name)
	return strings.HasPrefix(variable.Value, render.MountPath(&in.Object.Spec)) && !reported
}

func patchOf(format string, args ...any) func(*v1alpha2.WorkloadOverrides) {
	return func(o *v1alpha2.WorkloadOverrides) {
		o.PodTemplate = &apiextensionsv1.JSON{Raw: []byte(`{"spec":` + fmt.Sprintf(format, args...) + `}`)}
	}
}
