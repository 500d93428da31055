//go:build server

package boot

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/distribution"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/intent"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/plan"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/release"
	"github.com/llamastack/llama-stack-k8s-operator/test/server/realserver"
)

// volumeStack is a stack with a volume that runs the configuration of its image. In the spec, HOME is the home
// directory of the image, and IMAGE is the image.
type volumeStack struct {
	// spec is the spec, and mount is the mount path of the volume below the home directory.
	spec, mount string
	// compat reports whether the stack was created as v1alpha1.
	compat bool
}

// onVolume contains the stacks of TestRetentionOnVolume.
var onVolume = map[string]volumeStack{
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

// volumeRow is a stack whose image changes from an older to a newer release.
type volumeRow struct {
	stack, older, newer string
	// user is the user ID of the container.
	user int
	// layer reports whether the image contains the data directory of older releases.
	layer bool
}

func (r *volumeRow) String() string {
	return fmt.Sprintf("%s/%s to %s/user %d/layer %t", r.stack, r.older, r.newer, r.user, r.layer)
}

// volumeRows returns the rows of the test. In the gate, these are all stacks between the default release and the newest
// release. `make test-retention` also tests all pairs of releases with two stacks, and rows that RETENTION_SEED
// selects.
func volumeRows(t *testing.T) []volumeRow {
	t.Helper()
	var rows []volumeRow
	stacks, offered := slices.Sorted(maps.Keys(onVolume)), release.Offered()
	for i, stack := range stacks {
		rows = append(rows, volumeRow{stack, release.DefaultLine(), offered[len(offered)-1], i % 2 * 1001, i%3 > 0})
	}
	if !wholeRetention {
		return rows
	}
	older, newer := []string{"0.3", "0.5", "0.7"}, []string{"0.8", "1.0", "1.2", "1.5"}
	for _, stack := range []string{"v1alpha2", "v1alpha1 volume at the data directory"} {
		for _, from := range older {
			for _, to := range newer {
				rows = append(rows, volumeRow{stack, from, to, 0, false})
			}
		}
	}
	random := rand.New(rand.NewPCG(retentionSeed(t), 0))
	for range 40 {
		rows = append(rows, volumeRow{
			stacks[random.IntN(len(stacks))], []string{"0.3", "0.4", "0.5", "0.6", "0.7"}[random.IntN(5)],
			newer[random.IntN(len(newer))],
			random.IntN(2) * 1001, random.IntN(2) == 1,
		})
	}
	return rows
}

// retentionSeed returns the seed of random changes: RETENTION_SEED, or 1.
func retentionSeed(t *testing.T) uint64 {
	t.Helper()
	text := os.Getenv("RETENTION_SEED")
	if text == "" {
		return 1
	}
	seed, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return seed
}

// TestRetentionOnVolume starts a stack with a volume on an older release, uses it as clients do, and starts a newer
// release twice and then the older release again, each time in a new container on the same volume. Each server must
// find all data, unless the operator names the data before the change. If the operator delays the change, the newer
// release does not start, unless only vector stores and other resources would be lost. From 0.8 on, a server moves the
// data directory at its start unless the pod prevents it (server fact 77).
func TestRetentionOnVolume(t *testing.T) {
	t.Parallel()
	tested := map[string]bool{}
	for _, row := range volumeRows(t) {
		if name := row.String(); !tested[name] {
			tested[name] = true
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				older, newer := lineOf(t, row.older), lineOf(t, row.newer)
				stack, root := onVolume[row.stack], t.TempDir()
				inputs := []any{row, stack.planned(t, older, root), stack.planned(t, newer, root)}
				if run := func() { stack.keep(t, row, older, newer, root) }; wholeRetention {
					run()
				} else {
					realserver.Once(t, []string{older.Version, newer.Version}, run, inputs...)
				}
			})
		}
	}
}

// planned returns the variables of a pod, without the path of the home directory.
func (s *volumeStack) planned(t *testing.T, rel *release.Release, root string) []string {
	t.Helper()
	var env []string
	for _, variable := range podEnvironment(t, s.plan(t, rel, root, nil)) {
		env = append(env, strings.ReplaceAll(variable, root, ""))
	}
	return env
}

// keep starts the servers one after the other.
func (s *volumeStack) keep(t *testing.T, row volumeRow, older, newer *release.Release, root string) {
	t.Helper()
	var data volumeData
	named := map[string]bool{}
	previous := s.plan(t, older, root, nil)
	fill := func(ctx context.Context, server *llamaStack) error { return data.fill(ctx, older, server) }
	s.start(t, row, older, previous, root, fill)
	for _, rel := range []*release.Release{newer, newer, older} {
		next := s.plan(t, rel, root, previous)
		waiting, _ := next.Waiting()
		for _, loss := range waiting {
			t.Logf("%s waits: %s", rel.Version, loss)
			if !strings.Contains(loss.Message, "stores the keys of") { // the test accepts this loss, and no other
				return
			}
		}
		for _, loss := range next.Losses {
			for _, what := range loss.What {
				named[what] = named[what] || !strings.Contains(loss.Message, "is not known")
			}
		}
		check := func(ctx context.Context, server *llamaStack) error { return data.check(ctx, server, named) }
		s.start(t, row, rel, next, root, check)
		previous = next
	}
	maps.DeleteFunc(named, func(_ string, certain bool) bool { return !certain })
	t.Logf("the operator names %q", slices.Sorted(maps.Keys(named)))
}

// volumeData is what clients stored.
type volumeData struct {
	file, conversation, store string
	// model reports whether clients of the older release can register models.
	model bool
}

const keptText = "The volume keeps its bees in the attic."

// forbiddenModel is a model that an access rule forbids.
const forbiddenModel = "forbidden"

// fill stores one object of each kind.
func (d *volumeData) fill(ctx context.Context, rel *release.Release, server *llamaStack) (err error) {
	if d.file, err = server.upload(ctx, `"kept"`); err != nil {
		return err
	}
	var made struct {
		ID string `json:"id"`
	}
	body := fields{"metadata": fields{"of": "a client"}}
	if err := server.ask(ctx, http.MethodPost, "/v1/conversations", body, &made); err != nil {
		return err
	}
	d.conversation = made.ID
	if d.model, err = server.registerModel(ctx, rel, "client"); err != nil {
		return err
	}
	if d.store, err = server.vectorStoreWithFile(ctx, "of a client", "faiss", "vllm/emb", keptText); err != nil {
		return err
	}
	return d.check(ctx, server, nil)
}

// check returns an error for each kind of data that a server does not find, unless its name is in named.
func (d *volumeData) check(ctx context.Context, server *llamaStack, named map[string]bool) error {
	var lost []error
	find := func(err error, names ...string) {
		if err != nil && !slices.ContainsFunc(names, func(name string) bool { return named[name] }) {
			lost = append(lost, fmt.Errorf("%s: %w", names[0], err))
		}
	}
	var content string
	err := server.ask(ctx, http.MethodGet, "/v1/files/"+d.file+"/content", nil, &content)
	if err == nil && content != "kept" {
		err = fmt.Errorf("the file contains %q", content)
	}
	find(err, "files")
	find(server.ask(ctx, http.MethodGet, "/v1/conversations/"+d.conversation, nil, nil), "conversations")
	if d.model {
		find(server.wantModel(ctx, "vllm/client", ""), "registry")
	}
	find(server.search(ctx, d.store, keptText), "vector_io/faiss", "registry")
	find(chatForbidden("vllm/"+forbiddenModel)(ctx, nil, server), "access rule")
	return errors.Join(lost...)
}

// inContainer is a shell script that mounts the home directory of an image with a new writable layer, and the volume,
// in a private namespace. It then runs the program in the remaining arguments as the user.
const inContainer = `set -e
mount -t overlay overlay -o "lowerdir=$0,upperdir=$1/upper,workdir=$1/work" "$2"
mkdir -p "$4"
mount --bind "$3" "$4"
user=$5
shift 5
cd /
[ "$user" = 0 ] && exec "$@"
exec setpriv --reuid "$user" --regid "$user" --clear-groups --inh-caps +dac_read_search --ambient-caps +dac_read_search -- "$@"`

// start starts the server of a stack in a new container, and uses it. The paths in the environment are those in the
// container.
func (s *volumeStack) start(
	t *testing.T, row volumeRow, rel *release.Release, of *plan.Plan, root string,
	use func(ctx context.Context, server *llamaStack) error,
) {
	t.Helper()
	home, volume, image := filepath.Join(root, "home"), filepath.Join(root, "volume"), filepath.Join(root, "image")
	layer := t.TempDir()
	directories := []string{home, volume, image, layer + "/upper", layer + "/work"}
	if row.layer {
		directories = append(directories, image+"/.llama", image+"/.llama/distributions")
	}
	for _, directory := range directories {
		if err := os.MkdirAll(directory, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.Chown(directory, row.user, row.user); err != nil {
			t.Fatal(err)
		}
	}
	config := filepath.Join(root, "config-"+rel.Version+".yaml")
	writeFile(t, config, s.config(t, rel, startAuthService(t)))
	server, err := startServer(t, boot{
		release: rel, config: config, home: home, client: &http.Client{Transport: withToken{}}, scheme: "http",
		env: podEnvironment(t, of),
		wrapper: []string{
			"unshare", "-m", "/bin/sh", "-c", inContainer,
			image, layer, home, volume, home + s.mount, strconv.Itoa(row.user),
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer server.stop()
	if err := use(t.Context(), server); err != nil {
		t.Errorf("%s: %v", rel.Version, err)
	}
}

// config returns the configuration of the image: the release's starter with a few of its providers, a service that
// checks the tokens of clients, and a rule that forbids a model.
func (s *volumeStack) config(t *testing.T, rel *release.Release, service string) string {
	t.Helper()
	vllm, ok := rel.Provider("inference", "remote::vllm")
	if !ok {
		t.Fatal("the release has no remote::vllm")
	}
	config := map[string]any{}
	if err := yaml.Unmarshal(retentionBase(t, rel, []string{"faiss"}), &config); err != nil {
		t.Fatal(err)
	}
	mapping(config, "providers")["inference"] = []any{fields{
		"provider_id": "vllm", "provider_type": vllm.Type, "config": fields{vllm.EndpointKey: startUpstream(t).url + "/v1", "api_token": "fake"},
	}}
	mapping(config, "server")["insecure"] = true
	config["registered_resources"] = fields{"models": []any{fields{
		"model_id": "emb", "provider_id": "vllm", "model_type": "embedding",
		"metadata": fields{"embedding_dimension": dimension},
	}, fields{"model_id": forbiddenModel, "provider_id": "vllm", "model_type": "llm"}}}
	mapping(config, "server")["auth"] = fields{
		"provider_config": fields{"type": "custom", "endpoint": service + "/check"},
		"access_policy": []any{
			fields{"forbid": fields{"actions": []any{"read"}, "resource": "model::vllm/" + forbiddenModel}},
			fields{"permit": fields{"actions": []any{"create", "read", "update", "delete"}}},
		},
	}
	if store, ok := rel.Storage.Store("vector_stores"); ok && store.RequiredBy != "" { // access rules require this store
		stores := mapping(mapping(config, "storage"), "stores")
		stores["vector_stores"] = fields{"backend": "sql_default", "table_name": "vector_stores"}
	}
	for _, api := range []string{"scoring", "safety", "tool_runtime"} { // these APIs have no data, and need others
		delete(mapping(config, "providers"), api)
	}
	apis := slices.Sorted(maps.Keys(mapping(config, "providers")))
	if rel.Runtime.EmptyAPIsServeNone { // the list is then complete
		apis = append(apis, "conversations")
	}
	config["apis"] = apis
	data, err := yaml.Marshal(config)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// plan returns the plan of a stack. The parameter before is the plan of the running pods, or nil.
func (s *volumeStack) plan(t *testing.T, rel *release.Release, root string, before *plan.Plan) *plan.Plan {
	t.Helper()
	image := "docker.io/ogxai/distribution-starter:" + rel.Version
	home := filepath.Join(root, "home")
	spec := strings.NewReplacer("HOME/", home+"/", "HOME}", home+"}", "IMAGE", image).Replace(s.spec)
	object := &v1alpha2.LlamaStackDistribution{}
	object.Name, object.Namespace = "demo", "default"
	if s.compat {
		object.Annotations = map[string]string{names.AnnotationCompat: names.CompatV1Alpha1}
	}
	if err := yaml.UnmarshalStrict([]byte(spec), &object.Spec); err != nil {
		t.Fatal(err)
	}
	decoded, errs := intent.FromObject(object)
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	resolved, err := distribution.Resolve("", image, "", nil)
	if err != nil {
		t.Fatal(err)
	}
	in := plan.Input{Object: object, Intent: decoded, Distribution: resolved}
	if before != nil {
		in.Before = before.Places
	}
	built, err := plan.Build(in)
	if err != nil {
		t.Fatal(err)
	}
	return built
}

// podEnvironment returns the variables with values in the pod of a plan, as NAME=value.
func podEnvironment(t *testing.T, of *plan.Plan) []string {
	t.Helper()
	deployment, _ := workload(t, of.Objects)
	var env []string
	for _, variable := range deployment.Spec.Template.Spec.Containers[0].Env {
		if variable.ValueFrom == nil {
			env = append(env, variable.Name+"="+variable.Value)
		}
	}
	return env
}
