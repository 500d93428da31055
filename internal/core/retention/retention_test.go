package retention_test

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"
	corev1 "k8s.io/api/core/v1"
	kyaml "sigs.k8s.io/yaml"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/retention"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/release"
	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil/golden"
)

// situation is a configuration and the pod that runs it.
type situation struct {
	Release  string            `json:"release"`
	Override bool              `json:"override"`
	Env      map[string]string `json:"env"`
	// Volumes maps mount paths to sources.
	Volumes map[string]string `json:"volumes"`
	Config  string            `json:"config"`
}

func (s *situation) places(t testing.TB) *retention.Places {
	t.Helper()
	found, err := release.Lookup(s.Release)
	if err != nil {
		t.Fatal(err)
	}
	return retention.Of(s.input(t, found.Release))
}

func (s *situation) input(t testing.TB, of *release.Release) retention.Input {
	in := retention.Input{Release: of, Override: s.Override, Config: root(t, s.Config), Pod: retention.Pod{Env: s.Env}}
	for mount, source := range s.Volumes {
		in.Pod.Volumes = append(in.Pod.Volumes, retention.Volume{Mount: mount, Source: source})
	}
	return in
}

func root(t testing.TB, config string) *yaml.Node {
	t.Helper()
	var document yaml.Node
	if err := yaml.Unmarshal([]byte(config), &document); err != nil {
		t.Fatal(err)
	}
	if len(document.Content) == 0 {
		return nil
	}
	return document.Content[0]
}

func read(t *testing.T, path string) *situation {
	t.Helper()
	var s situation
	if err := kyaml.UnmarshalStrict(golden.Read(t, path), &s); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	return &s
}

// TestCases compares the Places of each case before and after a change, and the losses, with golden files.
func TestCases(t *testing.T) {
	for _, name := range golden.Cases(t, "testdata") {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join("testdata", name)
			before, after := read(t, filepath.Join(dir, "before.yaml")).places(t), read(t, filepath.Join(dir, "after.yaml")).places(t)
			want := map[string][]byte{
				"before.yaml": asYAML(t, before), "after.yaml": asYAML(t, after),
				"losses.txt": written(retention.Compare(before, after)),
			}
			if off := written(retention.OffVolume(after, "/.llama")); len(off) > 0 {
				want["off-volume.txt"] = off
			}
			golden.Dir(t, filepath.Join(dir, "want"), want)
			if losses := retention.Compare(after, after); losses != nil {
				t.Errorf("losses without a change: %v", losses)
			}
		})
	}
}

func written(losses []retention.Loss) []byte {
	var told strings.Builder
	for _, loss := range losses {
		fmt.Fprintf(&told, "%s (final: %t)\n  %s\n", strings.Join(loss.What, ", "), loss.Final, loss)
	}
	return []byte(told.String())
}

func asYAML(t *testing.T, places *retention.Places) []byte {
	t.Helper()
	data, err := kyaml.Marshal(places)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// TestPlacesHoldNoSecret checks that Places contain no password from a configuration or from a pod's variables.
func TestPlacesHoldNoSecret(t *testing.T) {
	const secret = "hunter2"
	s := situation{
		Release: "1.5", Env: map[string]string{
			"PG":       "postgresql://me:" + secret + "@pg:5432/data?password=" + secret,
			"KEYWORDS": "host=pg password=" + secret,
		},
		Config: `
storage:
  backends:
    kv_default: {type: kv_redis, host: ":` + secret + `@redis", port: 6379}
    kv_other: {type: kv_postgres, connection_string: "${env.PG}", password: ` + secret + `}
    sql_default: {type: sql_postgres, connection_string: "${env.KEYWORDS}"}
  stores:
    metadata: {namespace: registry, backend: kv_default}
    inference: {table_name: inference_store, backend: sql_default}
providers:
  vector_io:
  - {provider_id: qdrant, provider_type: "remote::qdrant", config: {url: "http://me:` + secret + `@qdrant:6333/?key=` + secret + `", api_key: ` + secret + `}}
  - {provider_id: pgvector, provider_type: "remote::pgvector",
     config: {host: "me:` + secret + `@pg", port: 5432, password: ` + secret + `}}
  - {provider_id: milvus, provider_type: "remote::milvus", config: {uri: "me:` + secret + `@milvus:19530", token: ` + secret + `, persistence: {namespace: m, backend: kv_other}}}
`,
	}
	places := s.places(t)
	if text := string(asYAML(t, places)); strings.Contains(text, secret) {
		t.Errorf("the secret is in %s", text)
	}
	for name, at := range map[string]string{
		"kv_default": "redis:6379", "kv_other": "pg:5432/data",
		"sql_default": retention.Hidden,
	} {
		if got := places.Stores[name].At; got != at {
			t.Errorf("%s is at %q, want %q", name, got, at)
		}
	}
}

// TestManyProviders checks that Places are small for any configuration.
func TestManyProviders(t *testing.T) {
	const many = 10_000
	config := func(first int) string {
		var b strings.Builder
		b.WriteString("storage: {backends: {kv_default: {type: kv_redis, host: redis}}}\nproviders:\n  vector_io:\n")
		for i := first; i < first+many; i++ {
			fmt.Fprintf(&b, "  - {provider_id: p%05d, provider_type: \"remote::chromadb\", config: {url: \"http://%s:%d\", persistence: {namespace: n, backend: kv_default}}}\n",
				i, strings.Repeat("x", 1000), i)
		}
		return b.String()
	}
	found, err := release.Lookup("0.7")
	if err != nil {
		t.Fatal(err)
	}
	before, after := (&situation{Config: config(0)}).input(t, found.Release),
		(&situation{Config: config(100)}).input(t, found.Release)
	was, is := retention.Of(before), retention.Of(after)
	losses := retention.Compare(was, is)
	if stored, err := json.Marshal(was); err != nil || len(stored) > 100<<10 {
		t.Errorf("the places have %d bytes, error %v", len(stored), err)
	}
	if len(was.Data) == 0 || was.More+len(was.Data) < many {
		t.Errorf("%d kinds of data, %d more, want at least %d together", len(was.Data), was.More, many)
	}
	if len(losses) != 0 {
		t.Errorf("%d losses of data that does not fit", len(losses))
	}
}

// TestOnTheMount checks that data is on a volume if its directory is the path of the mount itself.
func TestOnTheMount(t *testing.T) {
	places := (&situation{
		Release: "0.7", Volumes: map[string]string{"/d": "PersistentVolumeClaim demo-pvc"},
		Config: "providers: {files: [{provider_id: a, provider_type: 'inline::localfs', config: {storage_dir: /d}}]}",
	}).places(t)
	for _, loss := range retention.OffVolume(places, "/.llama") {
		if slices.Contains(loss.What, "files") {
			t.Errorf("the files are not on the volume: %s", loss)
		}
	}
}

// TestUnknown checks that unreadable Places count as unknown, and that no loss is reported for them.
func TestUnknown(t *testing.T) {
	known := (&situation{
		Release: "0.7", Volumes: map[string]string{"/d": "PersistentVolumeClaim demo-pvc"},
		Config: "providers: {}",
	}).places(t)
	for _, text := range []string{`{"v":1,"data":7}`, `{"v":2}`, `[]`, `"x"`, `{}`, `null`} {
		var places retention.Places
		if err := json.Unmarshal([]byte(text), &places); err != nil || places.Known() {
			t.Errorf("%s: error %v, known %t", text, err, places.Known())
		}
		if losses := append(retention.Compare(&places, known), retention.Compare(known, &places)...); losses != nil {
			t.Errorf("%s: %v", text, losses)
		}
	}
	if losses := append(retention.Compare(nil, known), retention.Compare(known, nil)...); losses != nil {
		t.Errorf("no places: %v", losses)
	}
	unread := (&situation{Release: "0.7", Config: "a text"}).places(t)
	if !unread.Unread {
		t.Errorf("places of a text: %+v", unread)
	}
	losses := retention.Compare(known, unread)
	if len(losses) != 1 || losses[0].Path != "spec.workload.storage" || losses[0].Final {
		t.Errorf("losses for a removed volume and an unknown configuration: %v", losses)
	}
}

func TestWaiting(t *testing.T) {
	losses := []retention.Loss{
		{What: []string{"registry"}},
		{What: []string{"vector_io/Faiss"}, Final: true},
		{What: []string{"a", "b"}, Final: true},
	}
	for accepted, want := range map[string]struct {
		waiting int
		unknown []string
	}{
		"":                              {2, nil},
		" , ":                           {2, nil},
		"vector_io/Faiss":               {1, nil},
		"vectorIo/Faiss, b,a":           {0, nil},
		"vector_io/faiss":               {2, []string{"vector_io/faiss"}},
		"a, everything, registry":       {2, []string{"everything", "registry"}},
		"a,b,vector_io/Faiss,long gone": {0, nil},
	} {
		waiting, unknown := retention.Waiting(losses, accepted)
		if len(waiting) != want.waiting {
			t.Errorf("%q: waits for %v", accepted, waiting)
		}
		if diff := cmp.Diff(want.unknown, unknown); diff != "" {
			t.Errorf("%q: unknown words (-want +got):\n%s", accepted, diff)
		}
	}
	if waiting, unknown := retention.Waiting(losses[:1], "vector_io/faiss"); waiting != nil || unknown != nil {
		t.Errorf("an annotation with data that is not lost: waits for %v, unknown words %q", waiting, unknown)
	}
}

func TestPodOf(t *testing.T) {
	const text = `
containers:
- name: other
- name: server
  env:
  - {name: A, value: plain}
  - {name: B, valueFrom: {secretKeyRef: {name: mine, key: key}}}
  - {name: C, valueFrom: {secretKeyRef: {name: derived, key: kv-host}}}
  - {name: D, valueFrom: {fieldRef: {fieldPath: metadata.name}}}
  volumeMounts:
  - {name: tmp, mountPath: /tmp}
  - {name: data, mountPath: /data, subPath: sub}
  - {name: tmp, mountPath: /data/cache}
  - {name: nfs, mountPath: /a}
volumes:
- {name: data, persistentVolumeClaim: {claimName: c}}
- {name: tmp, emptyDir: {}}
- {name: nfs, nfs: {server: nas, path: /x}}
`
	spec := &corev1.PodSpec{}
	if err := kyaml.UnmarshalStrict([]byte(text), spec); err != nil {
		t.Fatal(err)
	}
	got := retention.PodOf(spec, "server", func(secret, _ string) string {
		if secret == "derived" {
			return retention.Hidden
		}
		return ""
	})
	want := retention.Pod{
		Env: map[string]string{"A": "plain", "B": "{Secret mine, key key}", "C": retention.Hidden, "D": retention.Hidden},
		Volumes: []retention.Volume{
			{Mount: "/a", Source: "NFS nas:/x"},
			{Mount: "/data", Source: "PersistentVolumeClaim c", SubPath: "sub"},
			{Mount: "/data/cache"},
		},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("pod (-want +got):\n%s", diff)
	}
	if other := retention.PodOf(spec, "nobody", nil); len(other.Env)+len(other.Volumes) != 0 {
		t.Errorf("a missing container: %+v", other)
	}
}

// FuzzPlaces checks that a user's edits to the Places in an annotation never cause a panic in a comparison, and that
// encoding and decoding do not change whether Places are known.
func FuzzPlaces(f *testing.F) {
	known := (&situation{Release: "0.3", Config: "providers: {vector_io: [{provider_id: faiss, provider_type: \"inline::faiss\", config: {persistence: {namespace: n, backend: kv_default}}}]}"}).places(f)
	data, err := json.Marshal(known)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(string(data))
	f.Add(`{"v":1,"data":{"files":{"in":[{}]},"vector_io/a":{}},"stores":{"x":{"type":"kv"}}}`)
	f.Fuzz(func(t *testing.T, text string) {
		var places retention.Places
		if json.Unmarshal([]byte(text), &places) != nil {
			return // The text is not JSON.
		}
		for _, loss := range append(retention.Compare(&places, known), retention.Compare(known, &places)...) {
			if loss.Path == "" || loss.Message == "" || len(loss.What) == 0 {
				t.Errorf("a loss without a text: %+v", loss)
			}
		}
		written, err := json.Marshal(&places)
		if err != nil {
			t.Fatal(err)
		}
		var again retention.Places
		if err := json.Unmarshal(written, &again); err != nil || again.Known() != places.Known() {
			t.Errorf("the round trip changes places: %v, %s", err, written)
		}
	})
}
