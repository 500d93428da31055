//go:build server && retention

package boot

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"sigs.k8s.io/yaml"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/release"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/startup"
	"github.com/llamastack/llama-stack-k8s-operator/test/server/corpus"
	"github.com/llamastack/llama-stack-k8s-operator/test/server/realserver"
)

const (
	// randomPairs is the total number of random changes for all releases.
	randomPairs = 108
	// triesPerPair is the number of random changes that the test creates for each usable change that it needs. A change
	// is unusable if the pipeline rejects a stack, or if the server cannot start or serve the client even with an empty
	// state, for example because a package is missing.
	triesPerPair = 6
	// startSeconds is the time limit for a start of the server in the checker. A start usually takes less than a second.
	startSeconds = 300
)

// TestRetentionRandom makes random changes to stacks. For each change, a first server runs the original stack. A second
// server runs the changed stack with the state of the first server. The second server must serve the same resources as
// a server with the changed stack and an empty state. It must also serve the resources that the client of the first
// server created. The servers run in the process of a realserver.Checker.
func TestRetentionRandom(t *testing.T) {
	seed := retentionSeed(t)
	releases, _ := retentionScope(t)
	wanted := (randomPairs + len(releases) - 1) / len(releases)
	for _, rel := range releases {
		t.Run(rel.Version, func(t *testing.T) {
			t.Parallel()
			begin, p := time.Now(), newPairs(t, rel)
			edits := corpus.Edits(rel, seed, wanted*triesPerPair)
			for i := 0; i < len(edits) && p.tried < wanted; i++ {
				p.try(t, &edits[i])
			}
			t.Logf("omitted changes:\n%s", strings.Join(p.left, "\n"))
			if p.tried < wanted {
				t.Errorf("only %d of %d changes could be tried", p.tried, wanted)
			}
			t.Logf("retention of %s: %d changes were tried, %d lost data, %d were omitted, %.0f s with seed %d", rel.Version,
				p.tried, p.lost, len(p.left), time.Since(begin).Seconds(), seed)
		})
	}
}

// pairs tests changes with one release.
type pairs struct {
	rel     *release.Release
	bin     string
	checker *realserver.Checker
	models  *upstream
	scripts string // the directory that contains the program that runs before the server

	tried, lost int
	left        []string // the changes without a result, with the reasons
}

func newPairs(t *testing.T, rel *release.Release) *pairs {
	t.Helper()
	bin, err := realserver.Install(t.Context(), rel.Version)
	if err != nil {
		t.Fatal(err)
	}
	checker, err := realserver.NewChecker(t.Context(), rel.Version, support)
	if err != nil {
		t.Fatal(err)
	}
	p := &pairs{
		rel: rel, bin: bin, checker: checker, models: startUpstream(t),
		scripts: t.TempDir(),
	}
	p.models.listed = []string{corpus.EditListed}
	t.Cleanup(p.checker.Close)
	for name, content := range startup.Files() {
		writeFile(t, filepath.Join(p.scripts, name), content)
	}
	return p
}

// try tests one change. It starts the changed stack with an empty state, then the original stack with a client, and
// then the changed stack with the state of the original stack.
func (p *pairs) try(t *testing.T, edit *corpus.Edit) {
	t.Helper()
	before, reason := p.ready(t, &edit.Before)
	after, reasonAfter := p.ready(t, &edit.After)
	if reason+reasonAfter != "" {
		p.left = append(p.left, edit.Name+": "+reason+reasonAfter)
		return
	}
	fresh := p.start(t, after, t.TempDir(), p.look())
	home := t.TempDir()
	first := p.start(t, before, home, p.client())
	for _, verdict := range []realserver.Verdict{fresh, first} {
		if !verdict.OK {
			p.left = append(p.left, edit.Name+": "+firstLine(verdict.String()))
			return
		}
	}
	made, err := p.made(first.Answers)
	if err != nil {
		p.left = append(p.left, edit.Name+": "+err.Error())
		return
	}
	p.tried++
	second := p.start(t, after, home, append(p.look(), made.search()))
	t.Logf("%s: %s", edit.Name, strings.Join(edit.Changes, ", "))
	made.declared = p.declared(t, after)
	made.gone = slices.DeleteFunc(p.declared(t, before), func(id string) bool {
		// A model that the model server lists remains in the list when it is no longer declared.
		return slices.Contains(made.declared, id) || strings.HasSuffix(id, "/"+corpus.EditListed)
	})
	if err := made.compare(fresh, second); err != nil {
		p.lost++
		t.Errorf("%s: %v", edit.Name, err)
	}
}

// ready returns the outcome of the pipeline for a case. The string is the reason why the test cannot use the case, or
// is empty.
func (p *pairs) ready(t *testing.T, c *corpus.Case) (*corpus.Outcome, string) {
	t.Helper()
	light, reason := c.Light()
	if reason != "" {
		return nil, reason
	}
	outcome, err := light.Run()
	if err != nil {
		t.Fatal(err)
	}
	return outcome, firstLine(outcome.Refused)
}

// start runs the program that updates the registry, and then starts the server and sends the requests.
func (p *pairs) start(
	t *testing.T, outcome *corpus.Outcome, home string, requests []realserver.Call,
) realserver.Verdict {
	t.Helper()
	env := map[string]string{}
	for name, value := range outcome.Env {
		for _, volume := range []string{"/.llama", "/.ogx", "/data"} {
			if value == volume || strings.HasPrefix(value, volume+"/") {
				value = home + strings.TrimPrefix(value, volume)
				if strings.HasSuffix(name, "_DIR") {
					if err := os.MkdirAll(value, 0o755); err != nil {
						t.Fatal(err)
					}
				}
			}
		}
		env[name] = moveServices(value, p.models.url)
	}
	config := moveServices(string(outcome.Config), p.models.url)
	p.runScript(t, outcome, config, env, home)
	verdict, err := p.checker.Check(t.Context(), realserver.Request{
		Tier: realserver.Serve, Config: config, Env: env, Home: home, Requests: requests, Seconds: startSeconds,
	})
	if err != nil {
		t.Fatal(err)
	}
	return verdict
}

// runScript runs the part of the container's command before the server's own command.
func (p *pairs) runScript(t *testing.T, outcome *corpus.Outcome, config string, env map[string]string, home string) {
	t.Helper()
	file := filepath.Join(home, names.ConfigFile)
	writeFile(t, file, config)
	place := pod{root: home, mounts: map[string]string{
		names.ConfigDir: home, names.StartupDir: p.scripts,
	}}
	words := place.program(outcome.Command)
	if words == nil {
		t.Fatal("the pod does not run a program before its server")
	}
	words = append(words, "true")
	cmd := exec.CommandContext(t.Context(), words[0], words[1:]...)
	cmd.Dir = home
	cmd.Env = []string{"PATH=" + p.bin + ":/usr/local/bin:/usr/bin:/bin", "HOME=" + home}
	for _, name := range slices.Sorted(maps.Keys(env)) {
		cmd.Env = append(cmd.Env, name+"="+env[name])
	}
	output, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("run the script: %v\n%s", err, output)
	}
	if !strings.Contains(string(output), "registry: in line: ") {
		t.Errorf("the registry was not updated: %s", output)
	}
}

// These are the indexes of the requests that the method `look` returns, and of the search that the test appends to
// them.
const (
	askModels = iota
	askVectorStores
	askShields
	askSearch
)

// look returns the requests that list the models, the vector stores and the shields.
func (p *pairs) look() []realserver.Call {
	return []realserver.Call{
		askModels:       {Method: http.MethodGet, Path: "/v1/models"},
		askVectorStores: {Method: http.MethodGet, Path: vectorStoresPath},
		askShields:      {Method: http.MethodGet, Path: "/v1/shields"},
	}
}

// clientText is the text in the client's vector store.
const clientText = "The client keeps its bees in the attic."

// These are the indexes of the requests that the method `client` returns.
const (
	makeStore = iota
	makeFile
	attachFile
	makeModel
)

// client returns the requests that create a vector store with a file, and a model. Some releases reject the request for
// the model.
func (p *pairs) client() []realserver.Call {
	models, _ := p.rel.Resource("models")
	embedding := models.Public(corpus.EditEmbedding, corpus.EditInference, "")
	return []realserver.Call{
		makeStore: {Method: http.MethodPost, Path: "/v1/vector_stores", JSON: fields{
			"name": "of a client", "provider_id": corpus.EditVectors, "embedding_model": embedding,
			"embedding_dimension": corpus.EditDimension,
		}},
		makeFile:   {Method: http.MethodPost, Path: "/v1/files", File: clientText},
		attachFile: {Method: http.MethodPost, Path: "/v1/vector_stores/{0.id}/files", JSON: fields{"file_id": "{1.id}"}},
		makeModel: {Method: http.MethodPost, Path: "/v1/models", JSON: fields{
			"model_id": "client", "provider_id": corpus.EditInference, "provider_model_id": "client", "model_type": "llm",
			"metadata": fields{},
		}},
	}
}

// madeByClient contains the client's resources, which the second server must still have, and the declared models.
type madeByClient struct {
	store string
	model string // the client's model; empty if clients of the release cannot register models
	// declared contains the models that the second configuration declares. gone contains the models that only the first
	// configuration declares.
	declared, gone []string
}

func (p *pairs) made(answers []realserver.Answer) (madeByClient, error) {
	made := madeByClient{}
	for _, number := range []int{makeStore, makeFile, attachFile} {
		if answers[number].Status != http.StatusOK {
			return made, fmt.Errorf("the client's request %d: status %d: %s", number, answers[number].Status,
				firstLine(answers[number].Body))
		}
	}
	if !strings.Contains(answers[attachFile].Body, `"completed"`) {
		return made, fmt.Errorf("the client's file: %s", firstLine(answers[attachFile].Body))
	}
	if answers[makeModel].Status == http.StatusOK {
		models, _ := p.rel.Resource("models")
		made.model = models.Public("client", corpus.EditInference, "client")
	}
	var store struct {
		ID string `json:"id"`
	}
	if err := json.Unmarshal([]byte(answers[makeStore].Body), &store); err != nil {
		return made, fmt.Errorf("read the client's vector store: %w", err)
	}
	made.store = store.ID
	return made, nil
}

func (m *madeByClient) search() realserver.Call {
	return realserver.Call{
		Method: http.MethodPost, Path: "/v1/vector_stores/" + m.store + "/search",
		JSON: fields{"query": question(clientText)},
	}
}

// compare returns an error unless the second server has the declared models and the client's resources, and does not
// have the models in m.gone. Apart from the client's resources, the server must have the same vector stores and shields
// as a server with an empty state. compare ignores models that providers list, because a server lists them only some
// time after its start.
func (m *madeByClient) compare(fresh, second realserver.Verdict) error {
	if !second.OK {
		return fmt.Errorf("the server does not start: %s", second)
	}
	models := listedIn(second.Answers[askModels])
	for _, id := range m.declared {
		if !slices.Contains(models, id) {
			return fmt.Errorf("the server lists the models %q, but not %q", models, id)
		}
	}
	for _, id := range m.gone {
		if slices.Contains(models, id) {
			return fmt.Errorf("the server still lists the model %q", id)
		}
	}
	if m.model != "" && !slices.Contains(models, m.model) {
		return fmt.Errorf("the server lists the models %q, but not the client's model %q", models, m.model)
	}
	for number, own := range map[int][]string{askVectorStores: {m.store}, askShields: nil} {
		want, got := append(listedIn(fresh.Answers[number]), own...), listedIn(second.Answers[number])
		slices.Sort(want)
		if !slices.Equal(want, got) {
			return fmt.Errorf("the server lists %q, want %q", got, want)
		}
	}
	if found := second.Answers[askSearch]; !strings.Contains(found.Body, clientText) {
		return fmt.Errorf("the search: status %d: %s", found.Status, found.Body)
	}
	return nil
}

// declared returns the public IDs of the models that a configuration declares. It omits models whose names depend on a
// variable, and models for which the server chooses the provider.
func (p *pairs) declared(t *testing.T, outcome *corpus.Outcome) []string {
	t.Helper()
	var config struct {
		Registered struct {
			Models []struct {
				ID       string `json:"model_id"`
				Provider string `json:"provider_id"`
				Own      string `json:"provider_model_id"`
			} `json:"models"`
		} `json:"registered_resources"`
	}
	if err := yaml.Unmarshal(outcome.Config, &config); err != nil {
		t.Fatalf("read the configuration: %v", err)
	}
	models, _ := p.rel.Resource("models")
	var ids []string
	for _, m := range config.Registered.Models {
		if !strings.Contains(m.ID+m.Provider+m.Own, "${") && m.Provider != models.AnyProvider {
			ids = append(ids, models.Public(m.ID, m.Provider, m.Own))
		}
	}
	return ids
}

// listedIn returns the sorted IDs in a response with a list.
func listedIn(answer realserver.Answer) []string {
	entries, err := entriesOf([]byte(answer.Body))
	if err != nil {
		return nil
	}
	return keysOf(entries)
}

// services matches the addresses of services in the corpus. No server answers at these addresses.
var services = regexp.MustCompile(`https?://[a-z0-9.-]+\.example(:[0-9]+)?`)

// moveServices replaces the addresses of services in a text with the address of a server that answers.
func moveServices(text, server string) string { return services.ReplaceAllString(text, server) }

func firstLine(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	return line[:min(len(line), 300)]
}
