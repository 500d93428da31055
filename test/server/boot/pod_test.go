//go:build server

package boot

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/render"
)

// pod is the server's container in the operator's Deployment, adapted to this machine. Every volume is a directory
// below the path in the field root.
type pod struct {
	root   string
	mounts map[string]string // directories on this machine, keyed by their paths in the container
	env    []string          // NAME=value
	config string            // path of the configuration on this machine
	// wrapper is the part of the container's command before the server's own command.
	wrapper []string
}

// newPod builds the pod from the objects that the operator would apply. It does not remove an earlier pod's files below
// the given directory, because a persistent volume would also keep them.
func newPod(t *testing.T, objects []render.Object, values secrets, root string) pod {
	t.Helper()
	deployment, configMaps := workload(t, objects)
	template := deployment.Spec.Template.Spec
	container := template.Containers[0]
	p := pod{root: root, mounts: map[string]string{}}
	for _, mount := range container.VolumeMounts {
		p.mounts[mount.MountPath] = filepath.Join(p.root, "volumes", mount.Name, mount.SubPath)
	}
	for _, volume := range template.Volumes {
		p.fill(t, volume, configMaps, values)
	}
	for _, variable := range container.Env {
		if variable.ValueFrom != nil && variable.ValueFrom.FieldRef != nil {
			p.env = append(p.env, variable.Name+"="+annotation(t, variable, deployment.Spec.Template.Annotations))
			continue
		}
		p.env = append(p.env, variable.Name+"="+p.value(t, variable, values))
	}
	p.config = p.lookup(t, "RUN_CONFIG_PATH")
	p.wrapper = p.wrapperOf(template.InitContainers, container.Command)
	for _, container := range template.InitContainers {
		if p.program(container.Command) == nil {
			p.initialize(t, container.Command)
		}
	}
	return p
}

// initialize runs an init container of the pod.
func (p *pod) initialize(t *testing.T, command []string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), command[0], command[1:]...)
	cmd.Env = append([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + p.home(t)}, p.env...)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("run init container: %v\n%s", err, out)
	}
}

// workload returns the Deployment and the ConfigMaps among the objects.
func workload(
	t *testing.T, objects []render.Object,
) (deployment appsv1.Deployment, configMaps map[string]corev1.ConfigMap) {
	t.Helper()
	configMaps = map[string]corev1.ConfigMap{}
	for _, object := range objects {
		content, err := render.Unstructured(object)
		if err != nil {
			t.Fatal(err)
		}
		convert := func(into any) {
			if err := runtime.DefaultUnstructuredConverter.FromUnstructured(content.Object, into); err != nil {
				t.Fatalf("read %s %q: %v", object.GVK.Kind, object.Name, err)
			}
		}
		switch object.GVK.Kind {
		case "Deployment":
			convert(&deployment)
		case "ConfigMap":
			var configMap corev1.ConfigMap
			convert(&configMap)
			configMaps[configMap.Name] = configMap
		}
	}
	if len(deployment.Spec.Template.Spec.Containers) == 0 {
		t.Fatal("the operator does not render a Deployment with a container")
	}
	return deployment, configMaps
}

// fill creates the directory of a volume and writes the files of the volume.
func (p *pod) fill(t *testing.T, volume corev1.Volume, configMaps map[string]corev1.ConfigMap, values secrets) {
	t.Helper()
	files := map[string]string{}
	switch {
	case volume.ConfigMap != nil:
		files = configMaps[volume.ConfigMap.Name].Data
	case volume.Secret != nil:
		files = values[volume.Secret.SecretName]
	}
	dir := filepath.Join(p.root, "volumes", volume.Name)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for name, content := range files {
		writeFile(t, filepath.Join(dir, name), p.localTLS(content))
	}
}

// tlsPath matches a configuration line that contains the path of a file in a mounted Secret.
var tlsPath = regexp.MustCompile(`(?m)^(\s*tls_(?:certfile|keyfile|cafile): )(\S+)$`)

// localTLS replaces the paths of the certificates and the key in a configuration with paths on this machine.
func (p *pod) localTLS(config string) string {
	return tlsPath.ReplaceAllStringFunc(config, func(line string) string {
		parts := tlsPath.FindStringSubmatch(line)
		return parts[1] + p.local(parts[2])
	})
}

// local returns the path on this machine for a path in the container.
func (p *pod) local(path string) string {
	best := ""
	for mount := range p.mounts {
		below := path == mount || strings.HasPrefix(path, strings.TrimSuffix(mount, "/")+"/")
		if below && len(mount) > len(best) {
			best = mount
		}
	}
	if best == "" {
		return path
	}
	return filepath.Join(p.mounts[best], strings.TrimPrefix(path, best))
}

// value returns the value of a variable in the running container.
func (p *pod) value(t *testing.T, variable corev1.EnvVar, values secrets) string {
	t.Helper()
	if variable.ValueFrom == nil {
		return p.local(variable.Value)
	}
	ref := variable.ValueFrom.SecretKeyRef
	if ref == nil {
		t.Fatalf("variable %s does not refer to a Secret", variable.Name)
	}
	value, ok := values[ref.Name][ref.Key]
	if !ok {
		t.Fatalf("variable %s: Secret %q has no key %q", variable.Name, ref.Name, ref.Key)
	}
	return value
}

// lookup returns the value of a pod variable.
func (p *pod) lookup(t *testing.T, name string) string {
	t.Helper()
	for _, variable := range p.env {
		if value, ok := strings.CutPrefix(variable, name+"="); ok {
			return value
		}
	}
	t.Fatalf("the pod has no variable %s", name)
	return ""
}

func (p *pod) home(t *testing.T) string {
	t.Helper()
	home := filepath.Join(p.root, "home")
	if err := os.MkdirAll(home, 0o755); err != nil {
		t.Fatal(err)
	}
	return home
}

// servesTLS reports whether the server serves HTTPS according to the configuration.
func (p *pod) servesTLS(t *testing.T) bool {
	t.Helper()
	config, err := os.ReadFile(p.config)
	if err != nil {
		t.Fatal(err)
	}
	return tlsPath.Match(config)
}
