//go:build server

package boot

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/distribution"
	"github.com/llamastack/llama-stack-k8s-operator/internal/intent"
	"github.com/llamastack/llama-stack-k8s-operator/internal/names"
	"github.com/llamastack/llama-stack-k8s-operator/internal/plan"
	"github.com/llamastack/llama-stack-k8s-operator/internal/stackconfig/release"
)

// filesStack is a stack with a volume. In the spec, HOME is the home directory of the image, and IMAGE is the image.
type filesStack struct {
	// spec is the spec, and mount is the mount path of the volume below the home directory.
	spec, mount string
	// compat reports whether the stack was created as v1alpha1.
	compat bool
}

// keptFiles contains the stacks of TestRetentionOfFiles.
var keptFiles = map[string]filesStack{
	"v1alpha1 volume at the data directory": {
		"distribution: {image: IMAGE}\nworkload: {storage: {mountPath: HOME/.llama}}", "/.llama", true,
	},
	"v1alpha1 volume below the data directory": {
		"distribution: {image: IMAGE}\nworkload: {storage: {mountPath: HOME/.llama/distributions/starter}}",
		"/.llama/distributions/starter", true,
	},
	"v1alpha1 home directory on the volume": {
		"distribution: {image: IMAGE}\nworkload: {storage: {mountPath: HOME}, overrides: {env: [{name: HOME, value: HOME}]}}", "", true,
	},
	"v1alpha1 volume of the user": {
		"distribution: {image: IMAGE}\nworkload: {overrides: {volumes: [{name: a, hostPath: {path: /a}}], volumeMounts: [{name: a, mountPath: HOME/.llama}]}}",
		"/.llama", true,
	},
	"v1alpha2": {
		"distribution: {image: IMAGE}\nworkload: {storage: {mountPath: HOME/data}}", "/data", false,
	},
}

// filePairs returns the pairs of releases in TestRetentionOfFiles for a stack. Only `make test-retention` tests all
// pairs, with two stacks.
func filePairs(stack string) [][2]string {
	offered := release.Offered()
	pairs := [][2]string{{release.DefaultLine(), offered[len(offered)-1]}}
	if !wholeRetention || stack != "v1alpha2" && stack != "v1alpha1 volume at the data directory" {
		return pairs
	}
	for _, older := range []string{"0.3", "0.5", "0.7"} {
		for _, newer := range []string{"0.8", "1.0", "1.2", "1.5"} {
			pairs = append(pairs, [2]string{older, newer})
		}
	}
	return pairs[1:]
}

// TestRetentionOfFiles starts a stack with a volume on an older release, uploads a file, and starts a newer release
// twice and then the older release again, each time in a new container on the same volume. Each server must find the
// file. From 0.8 on, a server moves the data directory at its start unless the pod prevents it (server fact 77).
func TestRetentionOfFiles(t *testing.T) {
	for name, tc := range keptFiles {
		for _, pair := range filePairs(name) {
			t.Run(name+"/"+pair[0]+" to "+pair[1], func(t *testing.T) {
				t.Parallel()
				keepFile(t, tc, lineOf(t, pair[0]), lineOf(t, pair[1]))
			})
		}
	}
}

func keepFile(t *testing.T, stack filesStack, older, newer *release.Release) {
	t.Helper()
	root := t.TempDir()
	run := func(rel *release.Release, use func(server *llamaStack) error) {
		t.Helper()
		server := startContainer(t, rel, stack, root)
		defer server.stop()
		if err := use(server); err != nil {
			t.Errorf("%s: %v", rel.Version, err)
		}
	}
	var id string
	run(older, func(server *llamaStack) (err error) {
		id, err = server.upload(t.Context(), `"kept"`)
		return err
	})
	for _, rel := range []*release.Release{newer, newer, older} {
		run(rel, func(server *llamaStack) error {
			var content string
			err := server.ask(t.Context(), http.MethodGet, "/v1/files/"+id+"/content", nil, &content)
			if err == nil && content != "kept" {
				err = fmt.Errorf("the file contains %q", content)
			}
			return err
		})
	}
}

// inContainer is a shell script that mounts a new home directory, and the volume, in a private namespace, and then runs
// the program in the remaining arguments.
const inContainer = `mount --bind "$0" "$1" && mkdir -p "$3" && mount --bind "$2" "$3" && cd / && shift 3 && exec "$@"`

// startContainer starts the server of a stack with the environment of its pod. The paths in the environment are those
// in the container. The configuration is like that of the image.
func startContainer(t *testing.T, rel *release.Release, stack filesStack, root string) *llamaStack {
	t.Helper()
	vllm, ok := rel.Provider("inference", "remote::vllm")
	if !ok {
		t.Fatal("the release has no remote::vllm")
	}
	home, volume, layer := filepath.Join(root, "home"), filepath.Join(root, "volume"), t.TempDir()
	for _, directory := range []string{home, volume} {
		if err := os.MkdirAll(directory, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	config := filepath.Join(root, "config-"+rel.Version+".yaml")
	writeFile(t, config, strings.NewReplacer(
		"DATA_DIR", rel.Runtime.DataDir, "NAME_KEY", rel.Runtime.DistributionKey, "ENDPOINT_KEY", vllm.EndpointKey,
		"ENDPOINT", startUpstream(t).url+"/v1").Replace(keptConfig))
	spec := strings.NewReplacer("HOME/", home+"/", "HOME}", home+"}", "IMAGE", imageOf(rel)).Replace(stack.spec)
	server, err := startServer(t, boot{
		release: rel, config: config, home: home, client: http.DefaultClient, scheme: "http",
		env:     podEnvironment(t, spec, stack.compat),
		wrapper: []string{"unshare", "-rm", "/bin/sh", "-c", inContainer, layer, home, volume, home + stack.mount},
	})
	if err != nil {
		t.Fatal(err)
	}
	return server
}

func imageOf(rel *release.Release) string {
	return "docker.io/ogxai/distribution-starter:" + rel.Version
}

// podEnvironment returns the variables with values in the pod of a stack, as NAME=value.
func podEnvironment(t *testing.T, spec string, compat bool) []string {
	t.Helper()
	object := &v1alpha2.LlamaStackDistribution{}
	object.Name, object.Namespace = "demo", "default"
	if compat {
		object.Annotations = map[string]string{names.AnnotationCompat: names.CompatV1Alpha1}
	}
	if err := yaml.UnmarshalStrict([]byte(spec), &object.Spec); err != nil {
		t.Fatal(err)
	}
	decoded, errs := intent.FromObject(object)
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	resolved, err := distribution.Resolve("", object.Spec.Distribution.Image, "", nil)
	if err != nil {
		t.Fatal(err)
	}
	built, err := plan.Build(plan.Input{Object: object, Intent: decoded, Distribution: resolved})
	if err != nil {
		t.Fatal(err)
	}
	deployment, _ := workload(t, built.Objects)
	var env []string
	for _, variable := range deployment.Spec.Template.Spec.Containers[0].Env {
		if variable.ValueFrom == nil {
			env = append(env, variable.Name+"="+variable.Value)
		}
	}
	return env
}

// keptConfig stores data where the configurations in the images store it.
const keptConfig = `
version: 2
NAME_KEY: starter
apis: [inference, files]
providers:
  inference:
  - {provider_id: vllm, provider_type: "remote::vllm", config: {ENDPOINT_KEY: ENDPOINT}}
  files:
  - provider_id: localfs
    provider_type: inline::localfs
    config:
      storage_dir: ${env.FILES_STORAGE_DIR:=DATA_DIR/distributions/starter/files}
      metadata_store: {table_name: files_metadata, backend: sql_default}
storage:
  backends:
    kv_default: {type: kv_sqlite, db_path: "${env.SQLITE_STORE_DIR:=DATA_DIR/distributions/starter}/kvstore.db"}
    sql_default: {type: sql_sqlite, db_path: "${env.SQLITE_STORE_DIR:=DATA_DIR/distributions/starter}/sql_store.db"}
  stores:
    metadata: {namespace: registry, backend: kv_default}
    inference: {table_name: inference_store, backend: sql_default}
    conversations: {table_name: openai_conversations, backend: sql_default}
server: {port: 8321, insecure: true}
`
