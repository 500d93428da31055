package render_test

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/render"
)

// fixtures are what the operator in use today makes of v1alpha1 objects; they are not part of this repository.
const fixtures = "../../../shared/fixtures/v1alpha1"

// The names, labels, selectors, volumes and ports of running stacks are a contract. Where the fixtures are missing, the
// same facts are held by the golden cases.
func TestContractWithRunningStacks(t *testing.T) {
	if _, err := os.Stat(fixtures); os.IsNotExist(err) {
		t.Logf("%s is not here; the golden cases hold the same facts", fixtures)
		return
	}
	for _, name := range []string{
		"minimal", "storage", "storage-defaults", "replicas-two", "replicas-zero", "workers", "workers-and-resources",
		"env-only", "pod-overrides", "command-and-args", "args-only", "resources", "port", "image",
	} {
		t.Run(name, func(t *testing.T) {
			ours := children(t, renderOlder(t, name))
			for kind, today := range children(t, documents(t, filepath.Join(fixtures, "today", name+".yaml"))) {
				got, ok := ours[kind]
				switch {
				case kind == "ServiceAccount" && name == "pod-overrides":
					continue // the user names another: nobody would use ours
				case strings.HasPrefix(name, "workers"):
					// Today a number of workers limits the pod to 1Gi of memory, whatever the number, and fills up what the
					// user left out; a default is a request here, and the user's resources are taken whole.
					today.Resources, got.Resources = corev1.ResourceRequirements{}, corev1.ResourceRequirements{}
				}
				if !ok {
					t.Errorf("no %s", kind)
					continue
				}
				if diff := cmp.Diff(today, got, cmpopts.EquateEmpty()); diff != "" {
					t.Errorf("%s (-today +ours):\n%s", kind, diff)
				}
			}
		})
	}
}

// promise is what has to stay of a child.
type promise struct {
	Name                string
	Labels              map[string]string
	Selector, PodLabels map[string]string
	Replicas            *int32
	Strategy            appsv1.DeploymentStrategyType
	Container           string
	Command, Args       []string
	Env                 []corev1.EnvVar
	Resources           corev1.ResourceRequirements
	ContainerPorts      []int32
	Ports               []corev1.ServicePort
	ServiceAccount      string
	Volumes             map[string]string
	Mounts              map[string]string
	Grace               int64
	AccessModes         []corev1.PersistentVolumeAccessMode
	Size                string
}

// children gives the promise of each child whose kind is rendered.
func children(t *testing.T, documents [][]byte) map[string]promise {
	t.Helper()
	result := make(map[string]promise)
	for _, document := range documents {
		var object struct {
			Kind     string `json:"kind"`
			Metadata struct {
				Name   string            `json:"name"`
				Labels map[string]string `json:"labels"`
			} `json:"metadata"`
		}
		decode(t, document, &object)
		// The instance label is new.
		delete(object.Metadata.Labels, "app.kubernetes.io/instance")
		p := promise{Name: object.Metadata.Name, Labels: object.Metadata.Labels}
		switch object.Kind {
		case "Deployment":
			var deployment appsv1.Deployment
			decode(t, document, &deployment)
			p.ofDeployment(&deployment)
		case "Service":
			var service corev1.Service
			decode(t, document, &service)
			p.Selector, p.Ports = service.Spec.Selector, service.Spec.Ports
		case "PersistentVolumeClaim":
			var claim corev1.PersistentVolumeClaim
			decode(t, document, &claim)
			p.AccessModes = claim.Spec.AccessModes
			p.Size = claim.Spec.Resources.Requests.Storage().String()
		case "ServiceAccount":
		default: // NetworkPolicy and PodDisruptionBudget
			continue
		}
		result[object.Kind] = p
	}
	return result
}

func (p *promise) ofDeployment(deployment *appsv1.Deployment) {
	pod := &deployment.Spec.Template.Spec
	container := &pod.Containers[0]
	p.Replicas, p.Selector = deployment.Spec.Replicas, deployment.Spec.Selector.MatchLabels
	p.PodLabels = deployment.Spec.Template.Labels
	p.Strategy = deployment.Spec.Strategy.Type
	p.Container, p.Command, p.Args = container.Name, container.Command, container.Args
	p.Resources = container.Resources
	for _, port := range container.Ports {
		p.ContainerPorts = append(p.ContainerPorts, port.ContainerPort)
	}
	p.ServiceAccount = pod.ServiceAccountName
	p.Grace = corev1.DefaultTerminationGracePeriodSeconds
	if pod.TerminationGracePeriodSeconds != nil {
		p.Grace = *pod.TerminationGracePeriodSeconds
	}
	// What is ours alone: a variable with the path of a configuration, where none is mounted, leads nowhere.
	own := map[string]bool{"LLAMA_STACK_CONFIG": true, "LLAMA_STACK_PORT": true, "HOME": true}
	for _, variable := range container.Env {
		if !own[variable.Name] {
			p.Env = append(p.Env, variable)
		}
	}
	slices.SortFunc(p.Env, func(a, b corev1.EnvVar) int { return strings.Compare(a.Name, b.Name) })
	p.Volumes, p.Mounts = make(map[string]string), make(map[string]string)
	for i := range pod.Volumes {
		volume := &pod.Volumes[i]
		source := "emptyDir"
		if claim := volume.PersistentVolumeClaim; claim != nil {
			source = "claim " + claim.ClaimName
		}
		p.Volumes[volume.Name] = source
	}
	for _, mount := range container.VolumeMounts {
		p.Mounts[mount.MountPath] = mount.Name
	}
	delete(p.Volumes, "lls-tmp")
	delete(p.Mounts, "/tmp")
}

// renderOlder renders what a v1alpha1 object says, as far as these cases go.
func renderOlder(t *testing.T, name string) [][]byte {
	t.Helper()
	var older struct {
		Metadata struct {
			Name string `json:"name"`
		} `json:"metadata"`
		Spec struct {
			Replicas *int32 `json:"replicas"`
			Server   struct {
				Workers       *int32                      `json:"workers"`
				Storage       *v1alpha2.VolumeSpec        `json:"storage"`
				PodOverrides  *v1alpha2.WorkloadOverrides `json:"podOverrides"`
				ContainerSpec struct {
					Port      int32                        `json:"port"`
					Resources *corev1.ResourceRequirements `json:"resources"`
					Env       []corev1.EnvVar              `json:"env"`
					Command   []string                     `json:"command"`
					Args      []string                     `json:"args"`
				} `json:"containerSpec"`
			} `json:"server"`
		} `json:"spec"`
	}
	decode(t, documents(t, filepath.Join(fixtures, "cases", name+".yaml"))[0], &older)
	server := older.Spec.Server
	overrides := server.PodOverrides
	if overrides == nil {
		overrides = &v1alpha2.WorkloadOverrides{}
	}
	overrides.Env, overrides.Command, overrides.Args = server.ContainerSpec.Env, server.ContainerSpec.Command, server.ContainerSpec.Args
	stack := &v1alpha2.LlamaStackDistribution{}
	stack.Name, stack.Namespace = older.Metadata.Name, "team-a"
	stack.Spec.Networking = &v1alpha2.NetworkingSpec{Port: server.ContainerSpec.Port}
	stack.Spec.Workload = &v1alpha2.WorkloadSpec{
		Replicas: older.Spec.Replicas, Workers: server.Workers, Storage: server.Storage,
		Resources: server.ContainerSpec.Resources, Overrides: overrides,
	}
	objects, err := render.Objects(render.Input{
		Stack: stack, Image: "server:1", Server: render.Server{PortVariables: []string{"LLAMA_STACK_PORT"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	var result [][]byte
	for _, file := range files(t, objects) {
		result = append(result, file)
	}
	return result
}

func documents(t *testing.T, path string) [][]byte {
	t.Helper()
	data, err := fs.ReadFile(os.DirFS(filepath.Dir(path)), filepath.Base(path))
	if err != nil {
		t.Fatal(err)
	}
	return bytes.Split(data, []byte("\n---\n"))
}

func decode(t *testing.T, data []byte, into any) {
	t.Helper()
	if err := yaml.Unmarshal(data, into); err != nil {
		t.Fatal(err)
	}
	if object, ok := into.(runtime.Object); ok && object.GetObjectKind().GroupVersionKind().Empty() {
		t.Fatalf("no object: %s", data)
	}
}
