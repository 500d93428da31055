//go:build server

package boot

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/render"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/release"
	"github.com/llamastack/llama-stack-k8s-operator/test/server/realserver"
)

// input is everything that the pipeline returns for one start of a server. It is a part of the key of a test case. It
// is planned for a place without servers, so it does not differ from run to run.
type input struct {
	Spec    v1alpha2.LlamaStackDistributionSpec
	Secrets secrets
	Workers int32
	// Files contains the files of the pod's volumes, keyed by path.
	Files        map[string]string
	Config       string
	Env, Wrapper []string
}

// unused is the address of the servers of a planned place. No program listens there.
const unused = "127.0.0.1:1"

// planned returns a place for the sample on which no servers run. Its values have the same form as those of startPlace.
func (s *sample) planned() place {
	on := place{models: &upstream{url: "http://" + unused}, mcp: "http://" + unused + "/mcp", closed: 2}
	if _, ok := s.secrets["pg-creds"]; ok {
		on.db = &database{host: "127.0.0.1", port: 1, name: "stack", password: postgresPassword}
	}
	if _, ok := s.secrets["redis-creds"]; ok {
		on.redis = &redisServer{address: unused, password: redisPassword}
	}
	return on
}

// input returns the input of a server for a sample that fits a planned place.
func (s *sample) input(t *testing.T, rel *release.Release) input {
	t.Helper()
	if servesTLS(s.stack) {
		s.addKeyPair(keyPair{certificate: []byte("certificate"), key: []byte("key")})
	}
	return s.inputOf(t, generate(t, rel, *s, t.TempDir()))
}

// inputOf returns the input of a server for a pod. It does not contain the directory of the pod.
func (s *sample) inputOf(t *testing.T, p pod) input {
	t.Helper()
	replace := func(text string) string { return strings.ReplaceAll(text, p.root, "") }
	in := input{
		Spec: s.stack.Spec, Secrets: s.secrets, Workers: render.Workers(&s.stack.Spec), Files: map[string]string{},
		Config: replace(p.config),
	}
	for _, variable := range p.env {
		in.Env = append(in.Env, replace(variable))
	}
	for _, word := range p.wrapper {
		in.Wrapper = append(in.Wrapper, replace(word))
	}
	err := filepath.WalkDir(p.root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() {
			return err
		}
		content, err := os.ReadFile(path)
		in.Files[replace(path)] = replace(string(content))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return in
}

// once runs a test case with servers of a release, unless the case passed before with the same inputs.
func once(t *testing.T, rel *release.Release, run func(), inputs ...any) {
	t.Helper()
	realserver.Once(t, []string{rel.Version}, run, inputs...)
}

// namedTest is a step of a sequence.
type namedTest struct {
	name string
	run  func(t *testing.T)
}

// inSequence runs steps that share the state of a stack, unless all of them passed before with the same inputs. The
// function begin creates the stack. If the first step fails, the others do not run. The whole retention tests always
// run, because they measure the servers.
func inSequence(t *testing.T, releases []string, begin func(), steps []namedTest, inputs ...any) {
	t.Helper()
	c := realserver.NewCase(t, releases, inputs...)
	proven := !wholeRetention && c.Passed(t, &struct{}{})
	if !proven {
		begin()
	}
	ran := 0
	for i, step := range steps {
		ok := t.Run(step.name, func(t *testing.T) {
			if proven {
				c.Log(t)
				return
			}
			ran++
			step.run(t)
		})
		if !ok && i == 0 {
			return
		}
	}
	if ran == len(steps) { // a flag of the test run can omit steps
		c.Keep(t, &struct{}{})
	}
}
