package cli_test

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil/golden"
)

// whole lists cases in which almost all objects differ. The output with -o diff is then almost the same as that of
// render.
var whole = []string{"new", "from-default", "release", "waits"}

// Each case has two manifests, before.yaml and after.yaml. The golden files contain the output of diff with -o text and
// with -o diff.
func TestDiff(t *testing.T) {
	const folder = "testdata/diff"
	for _, name := range golden.Cases(t, folder) {
		t.Run(name, func(t *testing.T) {
			at := filepath.Join(folder, name)
			files := golden.Unpack(t, at)
			got := map[string][]byte{}
			for form, file := range map[string]string{"text": "text.txt", "diff": "objects.diff"} {
				result := run(t, "", "diff", "-f", filepath.Join(files, "after.yaml"),
					"--previous", filepath.Join(files, "before.yaml"), "-o", form)
				want := 1
				if name == "nothing" {
					want = 0
				}
				result.exits(t, want)
				if strings.Contains(result.out+result.err, "canary") {
					t.Errorf("-o %s shows a credential:\n%s%s", form, result.out, result.err)
				}
				if form == "diff" && slices.Contains(whole, name) {
					continue
				}
				got[file] = []byte(strings.ReplaceAll(result.out, files, at))
				if form == "text" {
					got["messages.txt"] = []byte(strings.ReplaceAll(result.err, files, at))
				}
			}
			golden.Dir(t, filepath.Join(at, "want"), got)
		})
	}
}

func TestDiffAsJSON(t *testing.T) {
	files := golden.Unpack(t, "testdata/diff/models")
	got := run(t, "", "diff", "-f", files+"/after.yaml", "--previous", files+"/before.yaml", "-o", "json")
	var changes []struct {
		Name          string
		Configuration []struct {
			Path, Origin string
			From, To     *string
		}
		Pods struct {
			Restart   string
			Preflight bool
		}
		Clients []struct{ What, To string }
	}
	if err := json.Unmarshal([]byte(got.out), &changes); err != nil || len(changes) != 1 || got.code != 1 {
		t.Fatalf("exit code %d, %v\n%s", got.code, err, got.out)
	}
	one := changes[0]
	if one.Pods.Restart != "restart" || !one.Pods.Preflight || len(one.Clients) != 1 || one.Clients[0].To != "vllm/fast" {
		t.Errorf("got %+v", one)
	}
	for _, key := range one.Configuration {
		if !strings.HasPrefix(key.Origin, "spec.") {
			t.Errorf("%s comes from %q", key.Path, key.Origin)
		}
	}
	files = golden.Unpack(t, "testdata/diff/secrets")
	shown := run(t, "", "diff", "-f", files+"/after.yaml", "--previous", files+"/before.yaml", "-o", "json")
	if strings.Contains(shown.out, "canary") {
		t.Errorf("a credential is shown:\n%s", shown.out)
	}
}

// An invalid manifest does not prevent the comparison of the other manifests.
func TestDiffOfSeveral(t *testing.T) {
	files := stack(`{distribution: {name: startr}}`) + "---\n" + strings.Replace(stack(simple), "name: demo", "name: other", 1)
	got := run(t, files, "diff", "-f", "-", "--previous", golden.Unpack(t, "testdata/diff/nothing")+"/before.yaml")
	got.exits(t, 2)
	contains(t, got.out, "default/other (standard input): new")
	contains(t, got.err, `unknown distribution "startr"`, "stacks that were not compared: 1 of 2")
}

// The exit code of an error differs from the exit code of a difference.
func TestDiffErrors(t *testing.T) {
	valid := filepath.Join(golden.Unpack(t, "testdata/diff/nothing"), "before.yaml")
	for name, tc := range map[string]struct {
		stdin string
		args  []string
		want  string
	}{
		"unknown field": {stack(`{distribution: {name: starter}, networkin: {}}`), []string{"-f", "-", "--previous", valid}, `did you mean "networking"?`},
		"no stack": {
			"kind: ConfigMap\napiVersion: v1\n",
			[]string{"-f", "-", "--previous", valid},
			"no LlamaStackDistribution",
		},
		"missing previous file": {"", []string{"-f", valid, "--previous", "nowhere.yaml"}, "nowhere.yaml"},
		"--previous together with a cluster": {
			"", []string{"-f", valid, "--previous", valid, "--context", "a"}, "none of the others can be",
		},
		"missing kubeconfig": {"", []string{"-f", valid, "--kubeconfig", "nowhere"}, "read the kubeconfig"},
	} {
		t.Run(name, func(t *testing.T) {
			got := run(t, tc.stdin, append([]string{"diff"}, tc.args...)...)
			got.refuses(t, 2, tc.want)
		})
	}
}
