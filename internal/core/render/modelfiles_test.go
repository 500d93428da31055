package render_test

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"
	"k8s.io/utils/ptr"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/render"
)

// hub is a cache in the layout of huggingface_hub: files, and links to them.
var hub = packaged{
	"hub": nil, "hub/models--a--b": nil, "hub/models--a--b/blobs": nil, "hub/models--a--b/blobs/0123": "weights",
	"hub/models--a--b/refs": nil, "hub/models--a--b/refs/main": "abcd", "hub/models--a--b/snapshots": nil,
	"hub/models--a--b/snapshots/abcd": nil, "hub/models--a--b/snapshots/abcd/model.safetensors": linkTo + "../../blobs/0123",
	"tiktoken": nil, "tiktoken/9b5a": "ranks", ".marker": "m",
}

// modelFilesScript returns the script of the init container that copies model files from an image.
func modelFilesScript(t *testing.T) string {
	t.Helper()
	stack := &v1alpha2.LlamaStackDistribution{}
	stack.Spec.ModelFiles = &v1alpha2.ModelFilesSpec{Image: &v1alpha2.ModelFilesImage{Reference: "a"}}
	return renderedTemplate(t, render.Input{Stack: stack}).Spec.InitContainers[0].Command[2]
}

func forEachModelImage(t *testing.T, files packaged, test func(t *testing.T, c *copying)) {
	t.Helper()
	script := modelFilesScript(t)
	forEachImage(t, files, func(t *testing.T, c *copying) {
		c.script = script
		test(t, c)
	})
}

// The copies of links are links. A second run removes the files of the first run, even where the image makes them
// read-only.
func TestCopyModelFiles(t *testing.T) {
	forEachModelImage(t, hub, func(t *testing.T, c *copying) {
		chmod(t, filepath.Join(c.source, "hub", "models--a--b", "blobs", "0123"), 0o444)
		chmod(t, filepath.Join(c.source, "hub", "models--a--b", "blobs"), 0o555)
		succeeds(t, c, hub)
		want := maps.Clone(hub)
		delete(want, ".marker")
		if err := os.Remove(filepath.Join(c.source, ".marker")); err != nil {
			t.Fatal(err)
		}
		succeeds(t, c, want)
	})
}

func TestCopyModelFilesFails(t *testing.T) {
	t.Run("no directory", func(t *testing.T) {
		forEachModelImage(t, nil, func(t *testing.T, c *copying) { fails(t, c, "The directory SOURCE does not exist in IMAGE\n") })
	})
	t.Run("unreadable", func(t *testing.T) {
		forEachModelImage(t, hub, func(t *testing.T, c *copying) {
			chmod(t, c.source, 0o700)
			if os.Getuid() != 0 {
				chmod(t, c.source, 0)
				t.Cleanup(func() { chmod(t, c.source, 0o700) })
			}
			fails(t, c, "Cannot read SOURCE in IMAGE: make it readable by every user\n")
		})
	})
	t.Run("no room", func(t *testing.T) {
		forEachModelImage(t, hub, func(t *testing.T, c *copying) {
			c.hasPrograms(t)
			c.replace(t, "cp", "echo 'cp: no space left on device' >&2; exit 1")
			fails(t, c, "Cannot copy SOURCE from IMAGE: cp: no space left on device\n")
		})
	})
	t.Run("no cp", func(t *testing.T) {
		forEachModelImage(t, hub, func(t *testing.T, c *copying) {
			c.hasPrograms(t)
			c.replace(t, "cp", "")
			fails(t, c, "Cannot copy SOURCE from IMAGE: ")
		})
	})
}

// Several pods can read the claim with model files at the same time, so the claim does not prevent a preflight. A claim
// that is mounted for writing can prevent a preflight.
func TestModelFilesAreShared(t *testing.T) {
	in := readInput(t, filepath.Join("testdata", "model-files-claim", "in.yaml"))
	if got := render.SharedVolumes(in, renderedTemplate(t, in)); len(got) > 0 {
		t.Errorf("shared volumes %q", got)
	}
	shared := renderedTemplate(t, in)
	for i := range shared.Spec.Volumes {
		if claim := shared.Spec.Volumes[i].PersistentVolumeClaim; claim != nil &&
			*shared.Spec.Volumes[i].Name == names.ModelFilesVolume {
			claim.WithReadOnly(false)
		}
	}
	if got := render.SharedVolumes(in, shared); !slices.Equal(got, []string{names.ModelFilesVolume}) {
		t.Errorf("shared volumes %q, want the volume of the model files", got)
	}
}

// The preflight pod has the model files, and the container that copies them has no settings for the server's registry.
func TestModelFilesInAPreflight(t *testing.T) {
	in := readInput(t, filepath.Join("testdata", "model-files-image", "in.yaml"))
	in.Registry = &render.Registry{Namespace: "a"}
	objects, err := render.PreflightObjects(in, render.Preflight{Template: renderedTemplate(t, in)})
	if err != nil {
		t.Fatal(err)
	}
	pod, ok := objects[len(objects)-1].Apply.(*corev1ac.PodApplyConfiguration)
	if !ok {
		t.Fatalf("the last object is %s", objects[len(objects)-1].GVK)
	}
	found := false
	for i := range pod.Spec.InitContainers {
		container := &pod.Spec.InitContainers[i]
		if ptr.Deref(container.Name, "") != names.ModelFilesContainer {
			continue
		}
		found = true
		if len(container.Env) > 0 {
			t.Errorf("the container that copies model files has variables: %+v", container.Env)
		}
	}
	if !found {
		t.Error("no container copies the model files")
	}
	for i := range pod.Spec.Volumes {
		if strings.HasPrefix(*pod.Spec.Volumes[i].Name, names.ModelFilesVolume) && pod.Spec.Volumes[i].EmptyDir == nil {
			t.Errorf("the files are copied to %+v", pod.Spec.Volumes[i])
		}
	}
}
