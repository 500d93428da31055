package render_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"
	"k8s.io/pod-security-admission/api"
	"sigs.k8s.io/yaml"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/bounds"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/render"
)

// withExternal returns a stack with two external providers.
func withExternal(t *testing.T, workload string) render.Input {
	t.Helper()
	stack := &v1alpha2.LlamaStackDistribution{}
	stack.Name = "demo"
	if err := yaml.UnmarshalStrict([]byte(workload), &stack.Spec.Workload); err != nil {
		t.Fatal(err)
	}
	return render.Input{
		Stack: stack, Image: "server", Config: &render.Config{ConfigMapName: "demo-config-01234567"},
		Secrets: []render.EnvVar{{Name: "LLSD_A_API_KEY", SecretName: "keys", SecretKey: "a"}},
		External: []render.ExternalProvider{
			{API: "inference", ID: "a", Image: "one"},
			{API: "inference", ID: "b", Image: "two"},
		},
	}
}

// Pods with external providers are accepted in a namespace with the "restricted" Pod Security standard.
func TestExternalProvidersMeetRestricted(t *testing.T) {
	for _, name := range []string{"external", "external-openshift", "external-options"} {
		rule := &bounds.Rule{PodSecurity: api.LevelRestricted}
		errs, err := rule.Pod(bounds.Pod{
			Template: renderedTemplate(t, readInput(t, filepath.Join("testdata", name, "in.yaml"))), ServiceAccount: "demo-sa",
		})
		if err != nil || len(errs) > 0 {
			t.Errorf("%s: %v, error %v", name, errs, err)
		}
	}
}

// The containers that copy and install packages have limits, which a quota can require, and do not request more
// resources than the server.
func TestResourcesOfExternalProviders(t *testing.T) {
	for name, tc := range map[string]struct{ workload, copies, installs string }{
		"the defaults":                       {"{}", "1/1 256Mi/256Mi", "1/1 1Gi/1Gi"},
		"a large server":                     {"{workers: 8, resources: {requests: {cpu: 8, memory: 64Gi}, limits: {memory: 64Gi}}}", "1/1 256Mi/256Mi", "1/1 1Gi/1Gi"},
		"a small server":                     {"{resources: {requests: {cpu: 50m, memory: 32Mi}, limits: {cpu: 500m, memory: 512Mi}}}", "50m/500m 32Mi/256Mi", "50m/500m 32Mi/512Mi"},
		"a server with guaranteed resources": {"{resources: {limits: {cpu: 300m, memory: 200Mi}}}", "300m/300m 200Mi/200Mi", "300m/300m 200Mi/200Mi"},
		"only a device in the limits":        {"{resources: {limits: {example.com/gpu: 1}}}", "100m/1 64Mi/256Mi", "100m/1 64Mi/1Gi"},
		"limits of 0":                        {"{resources: {requests: {cpu: 1, memory: 1Gi}, limits: {cpu: 0, memory: 0}}}", "1/1 256Mi/256Mi", "1/1 1Gi/1Gi"},
		"no resources":                       {"{resources: {}}", "100m/1 64Mi/256Mi", "100m/1 64Mi/1Gi"},
	} {
		pod := renderedTemplate(t, withExternal(t, tc.workload)).Spec
		var got []string
		for i := range pod.InitContainers {
			resources := pod.InitContainers[i].Resources
			if len(*resources.Limits) != 2 || len(*resources.Requests) != 2 {
				t.Errorf("%s: requests %v, limits %v", name, *resources.Requests, *resources.Limits)
			}
			amount := func(list corev1.ResourceList, name corev1.ResourceName) string {
				quantity := list[name]
				return quantity.String()
			}
			var both []string
			for _, name := range []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory} {
				both = append(both, amount(*resources.Requests, name)+"/"+amount(*resources.Limits, name))
			}
			got = append(got, strings.Join(both, " "))
		}
		if diff := cmp.Diff([]string{tc.copies, tc.copies, tc.installs}, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// The containers with users' images, and the container that reads their packages, get only the configuration of the
// server, and no Secrets.
func TestExternalProvidersGetNoSecrets(t *testing.T) {
	in := withExternal(t, "{overrides: {env: [{name: A, value: b}], envFrom: [{secretRef: {name: all}}], volumes: [{name: keys, secret: {secretName: keys}}], volumeMounts: [{name: keys, mountPath: /keys}]}}")
	pod := renderedTemplate(t, in).Spec
	var got []string
	for i := range pod.InitContainers {
		container := &pod.InitContainers[i]
		if len(container.Env) > 0 || len(container.EnvFrom) > 0 {
			t.Errorf("container %q has environment variables", *container.Name)
		}
		for _, mount := range container.VolumeMounts {
			part := ""
			if mount.SubPath != nil {
				part = *mount.SubPath
			}
			got = append(got, fmt.Sprint(*container.Name, " ", *mount.Name, "/", part, " ", *mount.MountPath, " ",
				mount.ReadOnly != nil))
		}
	}
	const token = " external-providers/nothing /var/run/secrets/kubernetes.io/serviceaccount true"
	want := []string{
		"external-provider-a external-providers/images/0 /opt/llama-stack/external-provider false",
		"external-provider-a" + token,
		"external-provider-b external-providers/images/1 /opt/llama-stack/external-provider false",
		"external-provider-b" + token,
		"external-providers external-providers/ /opt/llama-stack/external-providers false",
		"external-providers user-config/ /etc/llama-stack true",
		"external-providers lls-startup/ /etc/llama-stack-startup true",
		"external-providers" + token,
		"external-providers lls-tmp/ /tmp false",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("mounts (-want +got):\n%s", diff)
	}
}

// Python searches the packages of external providers first, and then the user's path.
func TestPythonPath(t *testing.T) {
	const ours = names.ExternalDir + "/" + names.ExternalPackages
	patch := func(env string) string {
		return "{overrides: {podTemplate: {spec: {containers: [{name: llama-stack, env: [" + env + "]}, {name: side, image: side, env: [{name: PYTHONPATH, value: /side}]}]}}}}"
	}
	for name, tc := range map[string]struct {
		workload string
		want     []string
	}{
		"no variable of the user":         {"{}", []string{"PYTHONPATH=" + ours}},
		"a value":                         {"{overrides: {env: [{name: PYTHONPATH, value: '/a:/b'}, {name: Z, value: z}]}}", []string{"PYTHONPATH=" + ours + ":/a:/b", "Z=z"}},
		"an empty value":                  {"{overrides: {env: [{name: PYTHONPATH}]}}", []string{"PYTHONPATH=" + ours}},
		"a value from a field":            {"{overrides: {env: [{name: PYTHONPATH, valueFrom: {fieldRef: {fieldPath: metadata.name}}}, {name: Z, value: z}]}}", []string{"LLS_PYTHONPATH=", "PYTHONPATH=" + ours + ":$(LLS_PYTHONPATH)", "Z=z"}},
		"a value in a patch":              {patch("{name: PYTHONPATH, value: /a}"), []string{"PYTHONPATH=" + ours + ":/a"}},
		"a variable of another container": {patch(""), []string{"PYTHONPATH=" + ours}},
	} {
		in := withExternal(t, tc.workload)
		in.Registry = &render.Registry{}
		spec := renderedTemplate(t, in).Spec
		for _, container := range []corev1ac.ContainerApplyConfiguration{
			spec.Containers[0],
			spec.InitContainers[len(spec.InitContainers)-1],
		} {
			env := environmentOf(container)
			if *container.Name == names.RegistryContainer && strings.Contains(tc.workload, "podTemplate") {
				continue // the patch changes only the server's container
			}
			if diff := cmp.Diff(tc.want, env); diff != "" {
				t.Errorf("%s: container %s (-want +got):\n%s", name, *container.Name, diff)
			}
		}
		for _, container := range spec.Containers[1:] {
			if diff := cmp.Diff([]string{"PYTHONPATH=/side"}, environmentOf(container)); diff != "" {
				t.Errorf("%s: container %s (-want +got):\n%s", name, *container.Name, diff)
			}
		}
	}
}

// environmentOf returns a container's variables for Python's path, and the variable Z.
func environmentOf(container corev1ac.ContainerApplyConfiguration) []string {
	var env []string
	for _, variable := range container.Env {
		if !slices.Contains([]string{names.EnvPythonPath, names.EnvUserPythonPath, "Z"}, *variable.Name) {
			continue
		}
		value := ""
		if variable.Value != nil {
			value = *variable.Value
		}
		env = append(env, *variable.Name+"="+value)
	}
	return env
}

// External providers without a configuration cause an error, because the installation completes the configuration that
// the server reads.
func TestExternalProvidersNeedAConfiguration(t *testing.T) {
	in := withExternal(t, "{}")
	in.Config = nil
	if _, err := render.Objects(in); err == nil {
		t.Error("external providers without a configuration cause no error")
	}
}

// The install command receives the path of the configuration file with which the server starts.
func TestExternalProvidersInAMountedConfigMap(t *testing.T) {
	in := withExternal(t, "{}")
	in.Config.Whole, in.Config.Key = true, "run.yaml"
	install := renderedTemplate(t, in).Spec.InitContainers[2]
	if !slices.Contains(install.Command, "/etc/llama-stack/run.yaml") {
		t.Errorf("command %q", install.Command)
	}
}

func TestInstallScript(t *testing.T) {
	command := renderedTemplate(t, withExternal(t, "{}")).Spec.InitContainers[2].Command
	dir := t.TempDir()
	log := filepath.Join(dir, "log")
	script := strings.ReplaceAll(command[2], "/dev/termination-log", log)
	run := func() (string, error) {
		shell := exec.CommandContext(t.Context(), command[0], append([]string{command[1], script}, command[3:]...)...)
		shell.Env = []string{"PATH=" + dir}
		output, err := shell.CombinedOutput()
		return string(output), err
	}
	if output, err := run(); err == nil || output != "this image has no Python\n" {
		t.Errorf("without Python, the script prints %q, error %v", output, err)
	}
	message, err := os.ReadFile(log)
	if want := "{\"message\":\"The image of the server has no Python, which external providers need\"}\n"; err != nil || string(message) != want {
		t.Errorf("without Python, the termination message is %q, want %q; error %v", message, want, err)
	}
	for _, name := range []string{"python3", "python"} {
		program := "#!/bin/sh\necho " + name + " \"$@\"\nexit 3\n"
		if err := os.WriteFile(filepath.Join(dir, name), []byte(program), 0o755); err != nil {
			t.Fatal(err)
		}
		output, err := run()
		want := name + " " + strings.Join(command[3:], " ") + "\n"
		if output != want || err == nil || err.Error() != "exit status 3" {
			t.Errorf("the script runs %q, want %q; error %v", output, want, err)
		}
	}
}
