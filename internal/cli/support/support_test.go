package support_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	"github.com/llamastack/llama-stack-k8s-operator/internal/cli/app/installation"
	"github.com/llamastack/llama-stack-k8s-operator/internal/cli/support"
	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil"
)

func parse(t *testing.T, text string) map[string]any {
	t.Helper()
	var object map[string]any
	if err := yaml.Unmarshal([]byte(text), &object); err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
	return object
}

// read returns the files in an archive.
func read(t *testing.T, archive []byte) map[string]string {
	t.Helper()
	compressed, err := gzip.NewReader(bytes.NewReader(archive))
	testutil.Must(t, err)
	files := map[string]string{}
	for reader := tar.NewReader(compressed); ; {
		header, err := reader.Next()
		if errors.Is(err, io.EOF) {
			return files
		}
		testutil.Must(t, err)
		if !header.ModTime.IsZero() && header.ModTime.Unix() != 0 || header.Uid != 0 || header.Mode != 0o600 {
			t.Errorf("%s: time %v, user %d, mode %o", header.Name, header.ModTime, header.Uid, header.Mode)
		}
		data, err := io.ReadAll(reader)
		testutil.Must(t, err)
		files[header.Name] = string(data)
	}
}

func archive(t *testing.T, m *support.Material) []byte {
	t.Helper()
	files, _, err := m.Files()
	testutil.Must(t, err)
	var out bytes.Buffer
	testutil.Must(t, support.Write(&out, files))
	return out.Bytes()
}

// canary returns a secret value. Each place has a different value, so that a test failure shows the place of the leak.
func canary(place string) string { return "cAnArY-" + place + "-7d1f" }

// withSecrets returns the objects in a cluster. Every place that the archive must hide contains a secret value.
func withSecrets(t *testing.T) *support.Material {
	t.Helper()
	const template = `metadata: {annotations: {mine: cAnArY-podannotation-7d1f}, name: my-1, namespace: a}
spec:
  initContainers: [{name: i, image: i, command: [sh, -c, "run cAnArY-command-7d1f"]}]
  containers:
  - name: c
    image: i
    args: [--api-key=cAnArY-argvalue-7d1f, --key, cAnArY-argtext-7d1f]
    env:
    - {name: PLAIN, value: cAnArY-env-7d1f}
    - {name: HF_HOME, value: "http://u:cAnArY-homeurl-7d1f@host"}
    - {name: MY_TOKEN, value: cAnArY-envtoken-7d1f}
    - {name: FROM, valueFrom: {secretKeyRef: {name: s, key: k}}}
  - {name: sidecar, image: i, env: [{name: X, value: cAnArY-sidecar-7d1f}]}
`
	within := "\n    " + strings.ReplaceAll(strings.TrimSpace(template), "\n", "\n    ")
	texts := []string{
		fmt.Sprintf(`{apiVersion: v1, kind: Secret, metadata: {name: s, namespace: a, annotations: {x: %s}}, data: {k: %s}, stringData: {l: %s}}`,
			canary("secretannotation"), base64.StdEncoding.EncodeToString([]byte(canary("secret"))), canary("stringdata")),
		`{apiVersion: v1, kind: ConfigMap, metadata: {name: user, namespace: a, managedFields: [{manager: cAnArY-managed-7d1f}],
		  annotations: {kubectl.kubernetes.io/last-applied-configuration: "{cAnArY-applied-7d1f}"}},
		  binaryData: {b: ` + base64.StdEncoding.EncodeToString([]byte("cAnArY-binary-7d1f")) + `},
		  data: {word: cAnArY-word-7d1f, text: "a b cAnArY-text-7d1f [", script.sh: "#!/bin/sh\nX=cAnArY-script-7d1f\n",
		    config.yaml: "providers:\n  inference:\n  - config:\n      api_token: cAnArY-config-7d1f # cAnArY-comment-7d1f\n      url: redis://:cAnArY-url-7d1f@host\n      headers: {X-A: cAnArY-header-7d1f}\n      password: '${env.P:=cAnArY-default-7d1f}'\n      access_keys: [cAnArY-list-7d1f]\n"}}`,
		`{apiVersion: llamastack.io/v1alpha2, kind: LlamaStackDistribution, metadata: {name: my, namespace: a, annotations: {note: cAnArY-stackannotation-7d1f, llamastack.io/conversion-data: cAnArY-conversion-7d1f}},
		  spec: {providers: {inference: [{provider: vllm, endpoint: "http://u:cAnArY-endpoint-7d1f@vllm",
		    settings: {client_secret: cAnArY-setting-7d1f, clientSecret: cAnArY-camel-7d1f,
		    default_headers: {X: cAnArY-settingheader-7d1f}}}]},
		    networking: {expose: {annotations: {x: cAnArY-exposeannotation-7d1f}}},
		    workload: {overrides: {env: [{name: A, value: cAnArY-override-7d1f}], args: [cAnArY-overrideargs-7d1f]}},
		    podTemplate: {spec: {containers: [{name: x, env: [{name: B, value: cAnArY-patch-7d1f}]}]}}},
		  status: {conditions: [{type: Ready, message: "the value cAnArY-env-7d1f, password=cAnArY-condition-7d1f"}]}}`,
		"apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: my, namespace: a, annotations: {x: cAnArY-deployment-7d1f}}\nspec:\n  template:" + within,
		"apiVersion: apps/v1\nkind: ReplicaSet\nmetadata: {name: my-1, namespace: a}\nspec:\n  template:" + within,
		"apiVersion: v1\nkind: Pod\n" + template,
	}
	for _, kind := range []string{
		"Service", "PersistentVolumeClaim", "HorizontalPodAutoscaler", "PodDisruptionBudget",
		"NetworkPolicy", "Ingress", "Route", "HTTPRoute",
	} {
		texts = append(texts, fmt.Sprintf(`{kind: %s, metadata: {name: my, namespace: a, annotations: {x: %s}}}`, kind, canary("annotation"+strings.ToLower(kind))))
	}
	m := &support.Material{
		Versions: map[string]string{"command": "1.2.3"},
		Findings: []installation.Finding{{Status: installation.Error, Message: "api_key=" + canary("finding")}},
		LeftOut:  []string{"password: " + canary("leftout")},
		Events: []map[string]any{
			parse(t, `{kind: Event, metadata: {name: e, namespace: a, annotations: {x: cAnArY-eventannotation-7d1f}}, reason: Failed, message: "cannot use cAnArY-secret-7d1f; token: cAnArY-event-7d1f"}`),
			parse(t, `{kind: Event, metadata: {name: f, namespace: a}, reason: Unhealthy, note: "cAnArY-eventnote-7d1f"}`),
			parse(t, `{kind: Event, metadata: {name: g, namespace: a}, reason: New, message: "own cAnArY-env-7d1f", reportingController: llamastack.io/llama-stack-operator}`),
		},
		Logs: []support.Log{
			{Namespace: "a", Pod: "my-1", Container: "c", Text: "INFO kept\nAuthorization: Bearer cAnArY-log-7d1f\nvalue cAnArY-stringdata-7d1f\nsk-cAnArY-form-7d1f\n"},
			{Namespace: "a", Pod: "my-1", Container: "c", Previous: true, Text: `{"password": "cAnArY-previous-7d1f"}` + "\nredis://:cAnArY-logurl-7d1f@r\ncAnArY-setting-7d1f"},
		},
	}
	for _, text := range texts {
		m.Objects = append(m.Objects, parse(t, text))
	}
	return m
}

// The archive contains no secret from the cluster, either in clear text or encoded.
func TestCanary(t *testing.T) {
	m := withSecrets(t)
	before := fmt.Sprint(m)
	if count := strings.Count(before, "cAnArY"); count < 60 {
		t.Fatalf("only %d secrets are planted", count)
	}
	files := read(t, archive(t, m))
	encoded := base64.StdEncoding.EncodeToString([]byte("cAnArY"))[:8]
	for name, text := range files {
		for line := range strings.Lines(text) {
			if strings.Contains(strings.ToLower(line), "canary") || strings.Contains(line, encoded) {
				t.Errorf("%s: %s", name, line)
			}
		}
	}
	for name, want := range map[string]string{
		"llamastack-support/namespaces/a/logs/my-1.c.log":                "INFO kept\n",
		"llamastack-support/namespaces/a/Secret/s.yaml":                  "keys:\n- k\n",
		"llamastack-support/namespaces/a/ConfigMap/user.yaml":            "api_token: <redacted>",
		"llamastack-support/namespaces/a/LlamaStackDistribution/my.yaml": "provider: vllm",
		"llamastack-support/namespaces/a/Deployment/my.yaml":             "name: PLAIN",
		"llamastack-support/namespaces/a/events.yaml":                    "cannot use <redacted>",
		"llamastack-support/versions.yaml":                               "command: 1.2.3",
		"llamastack-support/doctor.yaml":                                 "status: error",
		"llamastack-support/left-out.txt":                                "password: <redacted>",
	} {
		if !strings.Contains(files[name], want) {
			t.Errorf("%s has no %q:\n%s", name, want, files[name])
		}
	}
	if fmt.Sprint(m) != before {
		t.Error("Write changed the material")
	}
}

// The same material gives the same bytes, regardless of the order of the objects and the logs.
func TestDeterministic(t *testing.T) {
	m := withSecrets(t)
	first := archive(t, m)
	slices.Reverse(m.Objects)
	slices.Reverse(m.Logs)
	if !bytes.Equal(first, archive(t, m)) {
		t.Error("another order of the objects gives other bytes")
	}
}

func TestBounds(t *testing.T) {
	m := &support.Material{}
	for i := range support.MaxObjects + 2 {
		m.Objects = append(m.Objects, map[string]any{
			"kind":     "Service",
			"metadata": map[string]any{"name": fmt.Sprint(i), "namespace": "a"},
		})
	}
	for i := range support.MaxEvents + 3 {
		m.Events = append(m.Events, map[string]any{
			"kind": "Event", "metadata": map[string]any{"name": fmt.Sprint(i), "namespace": "a"},
			"lastTimestamp": fmt.Sprintf("2026-01-01T00:%05dZ", 9999-i),
		})
	}
	m.Logs = []support.Log{
		{Namespace: "a", Pod: "lines", Container: "c", Text: strings.Repeat("x\n", support.MaxLogLines) + "last\n"},
		{Namespace: "a", Pod: "bytes", Container: "c", Text: "password=" + strings.Repeat("y", support.MaxLogBytes)},
		{Namespace: "a", Pod: "both", Container: "c", Text: strings.Repeat("z", support.MaxLogBytes) + "\nlast\n"},
	}
	for i := range 70 {
		m.Logs = append(m.Logs, support.Log{
			Namespace: "b", Pod: fmt.Sprintf("big-%03d", i), Container: "c",
			Text: strings.Repeat(strings.Repeat("w", 1000)+"\n", 1040),
		})
	}
	if _, complete, err := m.Files(); complete || err != nil {
		t.Errorf("complete: %v, %v, want an incomplete archive", complete, err)
	}
	files := read(t, archive(t, m))
	const logs = "llamastack-support/namespaces/a/logs/"
	got := map[string]string{
		"lines": strings.TrimPrefix(files[logs+"lines.c.log"], strings.Repeat("x\n", support.MaxLogLines-1)),
		"bytes": files[logs+"bytes.c.log"], "both": files[logs+"both.c.log"],
	}
	if diff := cmp.Diff(map[string]string{"lines": "last\n", "bytes": "", "both": "last\n"}, got); diff != "" {
		t.Errorf("logs (-want +got):\n%s", diff)
	}
	left := files["llamastack-support/left-out.txt"]
	for _, want := range []string{"objects (2 of 5002): the archive can contain at most 5000 objects", `the oldest events in namespace "a" (3 of 1003): the archive can contain at most 1000 events for each namespace`, "big-069.c.log: with this file, the archive would have more than 67108864 bytes"} {
		if !strings.Contains(left, want) {
			t.Errorf("left-out.txt does not contain %q:\n%s", want, left)
		}
	}
	if strings.Contains(files["llamastack-support/namespaces/a/events.yaml"], `name: "1002"`) {
		t.Error("the archive does not contain the newest events")
	}
}

// TestManyValues checks that the author of a stack cannot make the command learn any number of values, and that no text
// is shown if some values are not known.
func TestManyValues(t *testing.T) {
	m := &support.Material{Logs: []support.Log{{Namespace: "a", Pod: "p", Container: "c", Text: "line 00299999\n"}}}
	for secret := range 4 {
		var lines strings.Builder
		for line := range 100_000 {
			fmt.Fprintf(&lines, "%08d\n", secret*100_000+line)
		}
		m.Objects = append(m.Objects, map[string]any{
			"kind": "Secret", "metadata": map[string]any{"name": fmt.Sprint(secret), "namespace": "a"},
			"data": map[string]any{"a": base64.StdEncoding.EncodeToString([]byte(lines.String()))},
		})
	}
	found, complete, err := m.Files()
	if complete || err != nil {
		t.Errorf("complete: %v, %v, want an incomplete archive", complete, err)
	}
	for _, file := range found {
		if strings.Contains(string(file.Data), "line 0") {
			t.Errorf("%s contains a line of a Secret: %s", file.Name, file.Data)
		}
		if file.Name == "llamastack-support/left-out.txt" && !strings.Contains(string(file.Data), "name fewer stacks") {
			t.Errorf("left-out.txt: %s", file.Data)
		}
	}
}
